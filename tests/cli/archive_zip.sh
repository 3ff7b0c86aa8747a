# A zip is read as the folder that it is of, but not through a pipe: its list of members stands at its end.
tscope --version | grep -q '^libarchive [0-9]' || exit 77
tscope --version | grep -q '^zlib [0-9]' || exit 77
tscope report --format json data/archive.zip | grep '"path"'
cat data/archive.zip | tscope report -
echo "pipe: $?"
printf 'PK\3\4' > last.ckpt
tscope memory last.ckpt
echo "checkpoint: $?"
