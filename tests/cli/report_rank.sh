tscope --version | grep -q '^zlib [0-9]' || exit 77
tscope report --full --rank 2 data/ranks_slow_host | grep ' of rank'
tscope report --full --rank 9 data/ranks_slow_host
echo $?
