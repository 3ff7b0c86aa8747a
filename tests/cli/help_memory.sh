tscope help memory
