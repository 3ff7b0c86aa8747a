# The report appears under its name, and no temporary file stays.
tscope trace --quiet --output report.txt data/two_steps.json && cat report.txt && ls
