# An input that needs more memory than there is. Sanitizers want terabytes for themselves: skip.
(ulimit -v 100000 && tscope --version) >/dev/null 2>&1 || exit 77
awk 'BEGIN {
	print "["
	for (i = 0; i < 600000; i++)
		printf "{\"ph\":\"X\",\"name\":\"%d\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":1},\n", i, i
}' >names.json
ulimit -v 60000
tscope trace names.json
