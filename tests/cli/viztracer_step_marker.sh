# A function marks the steps, with its file and line or without.
tscope trace --full --step-marker step data/viztracer.json | grep -A 1 STEPS
tscope trace --full --step-marker 'step (/job/train.py:20)' data/viztracer.json | grep -A 1 STEPS
