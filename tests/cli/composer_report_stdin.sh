# A merged file is read once for each rank.
tscope report - < data/composer_merged.json
