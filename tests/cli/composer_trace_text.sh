tscope trace --full data/composer/ep1-ba8-rank0.json
