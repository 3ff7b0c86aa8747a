# The readable one is reported all the same, as the only element of runs[].
tscope trace --format json --top 1 missing.json data/chrome_phases.json
