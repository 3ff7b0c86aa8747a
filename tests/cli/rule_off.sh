tscope report --full --quiet --rule MEMORY.GROWTH=off --fail-on MEMORY.GROWTH data/run_sick
