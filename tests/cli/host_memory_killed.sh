# The process was killed after 40 s: no end, and zeros up to a whole page.
tscope memory --full --top 2 data/host_memory/killed.bin
tscope memory --quiet --strict data/host_memory/killed.bin
echo $?
