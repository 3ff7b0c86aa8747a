# A record whose checksum does not fit is left out; a length ends the file; a killed job cuts it.
log=data/run_metrics/lightning_logs/version_0
show() { tscope report --full "$@" | sed -n '/● METRICS/,/^$/p; /● INPUT/,/^$/p'; }
mkdir cut
for place in 990 1000; do
	cp $log/events.* events.out.tfevents.1.host
	printf X | dd of=events.out.tfevents.1.host bs=1 seek=$place conv=notrunc 2>/dev/null
	show events.out.tfevents.1.host
done
head -c 4000 $log/events.* >cut/events.out.tfevents.1.host
head -c 700 $log/metrics.csv >cut/metrics.csv
show cut
: >cut/events.out.tfevents.2.host
printf 'no records at all' >cut/events.out.tfevents.3.host
tscope report --full --strict --quiet cut
