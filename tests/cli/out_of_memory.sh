# An input that needs more memory than there is: read up to where its share ends, and with a larger
# share refused. Sanitizers want terabytes for themselves: skip.
(ulimit -v 100000 && tscope --version) >/dev/null 2>&1 || exit 77
awk 'BEGIN {
	print "["
	for (i = 0; i < 300000; i++)
		printf "{\"ph\":\"X\",\"name\":\"%d\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":1},\n", i, i
}' >names.json
(ulimit -v 100000; tscope trace --threads 1 --quiet names.json >/dev/null; echo $?)
tscope trace --threads 1 --quiet --strict --max-memory 96M names.json >/dev/null; echo $?
tscope trace --threads 1 --quiet --max-memory 48M --memory-limit 1G names.json; echo $?
python3 - <<'END'
import resource, subprocess
subprocess.run("tscope trace --threads 1 --max-memory 64M names.json".split(), capture_output=True)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
print("peak within the limit" if peak <= 64 * 1.1 else f"peak: {peak} MiB")
END
