tscope trace --full data/unescaped_quotes.json
