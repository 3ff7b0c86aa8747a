# While it reads, tscope has given up what it does not need; the report is the same without that.
mkfifo pipe
for option in --sandbox --no-sandbox; do
	tscope trace pipe --quiet $(echo $option | grep no-) >$option.txt &
	exec 9>pipe
	grep -E "NoNewPrivs|Seccomp:" /proc/$!/status | tr -d "\t\n" >>seen && echo >>seen
	cat data/two_steps.json >&9
	exec 9>&-
	wait $!
done
head -1 seen | grep -q 'Seccomp:2' || exit 77 # sanitizers, other systems, emulators
cat seen
cmp ./--sandbox.txt ./--no-sandbox.txt && head -1 ./--sandbox.txt
