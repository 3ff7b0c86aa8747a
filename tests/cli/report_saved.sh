# A saved report is shown and gated again; what it was saved of stays known, and it is no run's file.
tscope report --format json --output saved.json data/run_sick 2>/dev/null
tscope report --fail-on straggler --fail-on 'step_time.mean_ms<50' saved.json 2>&1; echo "exit $?"
tscope report --full --show input saved.json 2>/dev/null | tail -n 2
tscope report --quiet --strict data/two_steps_cut.json --format json=cut.json >/dev/null 2>&1
tscope report --quiet --strict --fail-on 'step_time.mean_ms>50' cut.json 2>&1; echo "exit $?"
tscope report --quiet saved.json cut.json 2>/dev/null
tscope report --quiet saved.json data/two_steps.json 2>&1; echo "exit $?"
tscope export --out export saved.json 2>&1; echo "exit $?"
tscope map --out mapped saved.json 2>&1; echo "exit $?"
head -c 3000 saved.json > short.json
tscope report short.json 2>&1; echo "exit $?"
