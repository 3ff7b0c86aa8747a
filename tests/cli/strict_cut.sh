# What was lost is an error with --strict; the report is made all the same.
tscope trace --strict --quiet data/two_steps_cut.json
