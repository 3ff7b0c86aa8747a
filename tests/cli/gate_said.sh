# Where the table of gates is not seen, each gate that trips is named on standard error.
tscope report --output report.txt --fail-on 'mfu<0.35' --fail-on straggler --fail-on 'mfu>0.9' data/run_sick
echo $?
tscope report --format json --fail-on 'mfu<0.35' data/run_sick >report.json
