# What speaks against one run is overruled for a report, and refused or overruled for a comparison;
# what is taken for one run though it is not certain.
notes() {
	tscope report --format json "$@" | sed -n '/"notes": \[/,/\]/p'
}
notes --one-run data/mixed_rerun
notes data/mixed_restart
notes data/mixed_repeat
tscope diff data/mixed_rerun data/mixed_restart
echo $?
tscope diff --one-run --quiet data/mixed_rerun data/mixed_restart
tscope report --one-run data/mixed_worlds
