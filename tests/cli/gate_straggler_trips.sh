tscope report --quiet --fail-on straggler data/run_sick
