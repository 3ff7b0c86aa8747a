tscope memory --stack-depth 0 data/oom.pickle
echo $?
tscope memory --stack-depth deep data/oom.pickle
echo $?
tscope memory --stack-filter '' data/oom.pickle
echo $?
tscope memory --flamegraph-at start data/oom.pickle
echo $?
tscope memory --warmup 1 data/oom.pickle
echo $?
tscope report --flamegraph stacks.txt data/two_steps.json
echo $?
tscope memory
echo $?
