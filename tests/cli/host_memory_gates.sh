tscope memory --quiet --fail-on MEMORY.HOST_GROWTH data/host_memory/leak.bin
echo $?
tscope memory --quiet --fail-on 'host_memory.leaked_bytes>500e6' data/host_memory/leak.bin
echo $?
tscope memory --quiet --rule MEMORY.HOST_GROWTH.threshold=0.2 --fail-on MEMORY.HOST_GROWTH data/host_memory/leak.bin
echo $?
