tscope trace data/unescaped_quotes.json
