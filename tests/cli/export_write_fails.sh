# A file that cannot be written whole: no file stays, and none that was there changes.
mkdir -p copy/rank0 && echo old >copy/rank0/run.json
trap '' XFSZ
(ulimit -f 1 && tscope export --force data/run_sick --out copy)
echo $?
cat copy/rank0/run.json
find copy -type f
# Nor does a folder that was made for it.
mkdir there
(ulimit -f 1 && tscope export data/run_sick --out new/folder && echo done) 2>/dev/null
(ulimit -f 1 && tscope export data/run_sick --out there && echo done) 2>/dev/null
find new there 2>/dev/null || true
