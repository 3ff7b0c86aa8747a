tscope trace - </dev/null
