# Gates and findings for CI servers and code scanning, without the rules, of which there are ever more.
tscope report --format junit=a.xml --format sarif=a.sarif --format openmetrics=a.prom --format csv=a.csv \
	--fail-on 'step_time.p95_ms>0.5' --fail-on 'mfu<0.3' data/run_before >text
echo $?
grep -v 'tests=' a.xml | sed '/tscope.rule/,$d'
sed -n '/"results"/,$p' a.sarif | grep -v ruleIndex
grep -E 'gate_held|finding_gain|doubtful|overlap_comm|EOF' a.prom
grep -E '^input|,overlap,' a.csv
