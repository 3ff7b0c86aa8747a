# The others are reported all the same.
tscope memory --format json data/no_such_file.pickle data/leak_a.pickle | grep path
tscope memory --quiet data/hostile_reduce.pickle data/leak_a.pickle
