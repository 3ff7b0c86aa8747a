# A tar is read as the folder that it is of; what its names and links would reach is left out, and said.
tscope --version | grep -q '^libarchive [0-9]' || exit 77
tscope --version | grep -q '^zlib [0-9]' || exit 77
tscope report --verbose data/archive.tar | sed -n '1,/^found/p; /^  ignored/,/^$/p; /^  problem/,/^$/p'
tscope report --strict data/archive.tar > /dev/null
echo "strict: $?"
tscope report data/archive.tar/job | sed -n '1,2p'
tscope report - < data/archive.tar | sed -n '1,2p'
tscope trace data/archive.tar
echo "trace: $?"
tscope trace data/archive.tar/job/rank2.pt.trace.json.gz | sed -n '1,3p'
