mkdir run && cp data/two_steps.json run/a.json && cp data/two_steps.json run/b.json && tscope report run
