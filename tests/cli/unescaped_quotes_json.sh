tscope trace --format json data/unescaped_quotes.json
