tscope help trend
