# A copy of a rank's trace beside it is no other trace of that rank.
mkdir run && cp data/two_steps.json run/a.json && cp data/two_steps.json run/b.json
tscope report run | head -4
tscope report --verbose run | grep "a copy of"
