# Options may stand anywhere; -- ends them.
cp data/two_steps.json ./--quiet
tscope trace data/two_steps.json --quiet -- --quiet
