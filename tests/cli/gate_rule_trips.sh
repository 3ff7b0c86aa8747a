tscope report --full --quiet --fail-on MEMORY.GROWTH data/run_sick
