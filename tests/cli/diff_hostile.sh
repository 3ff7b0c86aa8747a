# Names that would move the cursor are shown escaped.
for side in a b; do
	printf '[{"name": "ProfilerStep#1", "ph": "X", "cat": "user_annotation", "pid": 1, "tid": 1, "ts": 1, "dur": 90},
	{"name": "\\u001b[2J%s", "ph": "X", "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 2, "dur": 50},
	{"name": "\\u202e%s", "ph": "X", "cat": "kernel", "pid": 0, "tid": 7, "ts": 3, "dur": 40}]' \
		$side $side >$(printf 'side\033%s.json' $side)
done
tscope diff "$(printf 'side\033a.json')" "$(printf 'side\033b.json')"
