# Callers beside the sites, and those sites only that a text leads to.
tscope memory --full --top 3 --stack-depth 3 --stack-filter metrics.py data/host_memory/leak.bin
