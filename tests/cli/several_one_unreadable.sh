# The readable one is reported all the same, and stays an element of traces[].
tscope trace --format json --top 1 missing.json data/chrome_phases.json
