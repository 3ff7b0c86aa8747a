# An input that cannot be read leaves the old report alone.
echo old >report.txt
tscope trace --output report.txt missing.json
status=$?
cat report.txt
exit $status
