# No output replaces an input: not under another name, as a hard or symbolic link, from a folder.
cp data/two_steps.json a.json && ln a.json hard && ln -s a.json soft && cp data/oom.pickle oom
for name in a.json ./a.json hard soft; do tscope trace a.json --force --output $name; echo $?; done
tscope trace - --output hard <a.json; echo $?
tscope trace a.json >>hard; echo $?
for option in --output --flamegraph; do tscope memory oom --quiet $option oom; echo $?; done
mkdir run && cp -r data/run_healthy/rank* run
tscope report run --output run/rank0/steps.jsonl; echo $?
tscope report run --output run/rank1/run.json; echo $?
tscope diff run data/run_sick --output run/rank0/steps.jsonl; echo $?
tscope export run --force --out run; echo $?
tscope memory oom --quiet --output stacks --flamegraph ./stacks >/dev/null; echo $?
cmp a.json data/two_steps.json && cmp oom data/oom.pickle && diff -r run data/run_healthy
find . -name '.*.??????'
