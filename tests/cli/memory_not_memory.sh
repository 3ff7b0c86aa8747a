# A trace is no file about memory, nor is a snapshot a trace.
tscope memory data/two_steps.json
echo $?
tscope trace data/oom.pickle
echo $?
tscope memory data/run_sick/rank0/steps.jsonl
echo $?
tscope memory data/no_such_file.pickle
echo $?
printf '' | tscope memory -
echo $?
