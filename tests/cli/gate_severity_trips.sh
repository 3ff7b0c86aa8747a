tscope report --full --quiet --fail-on 'severity>=high' data/run_sick
