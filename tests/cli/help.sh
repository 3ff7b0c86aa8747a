tscope --help
