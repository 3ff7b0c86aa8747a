tscope trace --output missing/report.txt data/two_steps.json
