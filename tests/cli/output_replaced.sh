# A file that is there keeps its mode; FORCE_COLOR is for terminals.
umask 077
echo old >report.txt
chmod 640 report.txt
FORCE_COLOR=1 tscope trace --quiet --output=report.txt data/two_steps.json
cat report.txt
stat -c %a report.txt
