tscope help slice
