tscope help diff
