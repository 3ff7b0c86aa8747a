# Cut within a record: what came before counts, and --strict fails.
head -c 3000 data/host_memory/leak.bin > cut.bin
tscope memory --full --top 2 cut.bin
echo $?
tscope memory --quiet --strict cut.bin
echo $?
tscope memory --format json --strict cut.bin | grep -A 3 '"damage"'
# Cut within the header there is nothing.
head -c 20 data/host_memory/leak.bin > cut.bin
tscope memory --full cut.bin
echo $?
# A version that does not exist yet.
printf 'memray\0\143\0\0\0' | tscope memory --full -
echo $?
