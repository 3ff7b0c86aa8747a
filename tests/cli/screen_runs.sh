# Three jobs in one folder that differ in what they say: each has a report.
tscope --version | grep -q '^libyaml [0-9]' || exit 77
tscope report data/three_jobs
