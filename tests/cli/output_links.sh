# Of a link the file behind it is replaced; /dev/stdout is what standard output is.
echo old >real && ln -s real link && ln -s nowhere dangling
tscope trace --quiet data/two_steps.json --output link && readlink link && head -1 real
tscope trace --quiet data/two_steps.json --output dangling; echo $?
echo kept >log && tscope trace --quiet data/two_steps.json --output /dev/stdout >>log && head -2 log
tscope trace --quiet data/two_steps.json --output . ; echo $?
