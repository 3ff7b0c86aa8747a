# What is wrong with a change to a rule is said before anything is read.
for change in '' TIMING.DATALOADER_BOUND TIMING.DATALOADER_BUOND=off TIMING.DATALOADER_BOUND=hihg \
	TIMING.DATALOADER_BOUND.treshold=0.3 TIMING.DATALOADER_BOUND.threshold=much; do
	tscope report --rule "$change" no_such_folder
	echo "$change: $?"
done
