# A rank whose file breaks off keeps nobody from seeing who is late, and the doubt it leaves is said.
tscope --version | grep -q '^zlib [0-9]' || exit 77
cp -r data/ranks_slow_host run && chmod -R u+w run
gzip -dc run/rank0.pt.trace.json.gz | head -c 9000 >run/rank0.pt.trace.json
rm run/rank0.pt.trace.json.gz
tscope report run
tscope report --full run | grep -A 7 'DIST.STRAGGLER'
# The gate knows who is late, and --strict that not all is there.
tscope report --quiet --fail-on straggler run
echo $?
tscope report --quiet --strict run
