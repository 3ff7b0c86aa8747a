tscope help report
