tscope diff data/leak_a.pickle data/leak_b.pickle
