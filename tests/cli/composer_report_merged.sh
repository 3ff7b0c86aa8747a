# The same figures as those of the ranks' own files: only what says where they come from differs.
tscope report --full data/composer > own
tscope report --full data/composer_merged.json > merged
diff own merged | grep '^[<>]'
