tscope trace data/composer_merged.json
