tscope trace --quiet
