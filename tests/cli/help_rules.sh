tscope help rules
