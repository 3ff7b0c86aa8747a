tscope --version | grep -q '^zlib [0-9]' || exit 77
# Compressed once more, from a pipe, in one thread.
gzip -c data/oom.pickle | tscope memory --quiet --threads 1 -
