# Format 12 says the same in other words; the version of Python is in none before.
for capture in leak leak_v12; do
	tscope memory --format json data/host_memory/$capture.bin |
		grep -v -e '"path"' -e '"records"' -e '"python_version"' > $capture.json
done
cmp leak.json leak_v12.json && echo same
tscope memory --format json data/host_memory/leak_v12.bin | grep python_version
