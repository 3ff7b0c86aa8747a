tscope help export
