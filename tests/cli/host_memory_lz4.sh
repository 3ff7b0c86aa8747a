# As memray leaves it: the whole capture in one frame.
tscope --version | grep -q '^lz4 [0-9]' || exit 77
tscope memory data/host_memory/leak.bin | sed 1,2d > plain.txt
tscope memory data/host_memory/leak_lz4.bin | tee lz4.txt | head -2
sed 1,2d lz4.txt | cmp plain.txt - && echo same
