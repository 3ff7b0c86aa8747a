tscope memory --full --stack-filter buffers.py data/oom.pickle | sed -n "/^  site/,/^$/p"
