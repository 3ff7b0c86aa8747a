# Each of several files has a screen of its own.
tscope trace data/slow_loader.json data/two_steps.json
