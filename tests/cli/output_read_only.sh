# What somebody made read-only is replaced with --force only.
echo old >report && chmod 400 report
tscope trace --quiet data/two_steps.json --output report; echo $?; cat report
tscope trace --quiet data/two_steps.json --output report --force && head -1 report && stat -c %a report
