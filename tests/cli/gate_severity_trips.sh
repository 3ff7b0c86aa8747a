tscope report --quiet --fail-on 'severity>=high' data/run_sick
