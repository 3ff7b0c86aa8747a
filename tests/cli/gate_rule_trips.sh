tscope report --quiet --fail-on MEMORY.GROWTH data/run_sick
