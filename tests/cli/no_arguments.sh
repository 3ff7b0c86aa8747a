tscope
