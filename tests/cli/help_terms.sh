tscope help terms
