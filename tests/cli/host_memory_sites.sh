# Callers beside the sites, and those sites only that a text leads to.
tscope memory --top 3 --stack-depth 3 --stack-filter metrics.py data/host_memory/leak.bin
