tscope trace --full data/composer_merged.json
