# A dump that was killed is a loss; what only looks like a snapshot is none.
mkdir -p run/rank0
cp data/run_memory/rank0/trace.json run/rank0/
printf '{"text": "", "segments": [{"start": 0.0, "end": 1.0}]}' >run/speech.json
printf '\200\002}q\000X\010\000\000\000segmentsq\001]q\002}q\003X\005\000\000\000startq\004K\000sas.' >run/speech.pkl
tscope report --quiet --strict run >/dev/null
echo $?
: >run/rank0_snapshot.pickle
tscope report --quiet --strict run >/dev/null
echo $?
