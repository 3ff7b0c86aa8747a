mkdir run && cp data/two_steps.json run/rank0.json && tar -cf bundle.tar run && tscope report bundle.tar
