tscope report --list-facts data/two_steps.json
