tscope trace --format json data/composer/ep1-ba8-rank1.json
