# Sites that hold as much at the end, and more or less at the peak.
tscope diff --full data/oom.pickle data/leak_a.pickle
