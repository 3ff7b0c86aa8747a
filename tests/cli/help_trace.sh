tscope help trace
tscope trace --help >help.txt
tscope help trace | cmp - help.txt
