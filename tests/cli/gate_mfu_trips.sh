tscope report --full --quiet --fail-on 'mfu<0.35' data/run_sick
