# The same figures as those of the ranks' own files: only what says where they come from differs.
tscope report data/composer > own
tscope report data/composer_merged.json > merged
diff own merged | grep '^[<>]'
