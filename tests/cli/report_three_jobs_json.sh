# The same for programs, with gates that hold for some of the runs only.
tscope --version | grep -q '^libyaml [0-9]' || exit 77
tscope report --format json --top 3 --fail-on CONVERGENCE.DIVERGED data/three_jobs
