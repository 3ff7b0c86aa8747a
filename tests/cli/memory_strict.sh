# A row of two numbers is none of a timeline: counted, and with --strict an error.
printf '[[1000,2,4096,0],[2000,2],[3000,4,-4096,0]]' >timeline.raw.json
tscope memory --quiet timeline.raw.json
echo $?
tscope memory --quiet --strict timeline.raw.json
echo $?
tscope memory --quiet --strict data/oom.pickle
echo $?
