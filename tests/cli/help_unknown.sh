tscope help trcae
