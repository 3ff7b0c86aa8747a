tscope export --out out data/oom.pickle
code=$?
ls
exit $code
