tscope memory --full --stack-depth 2 --top 3 data/oom.pickle | sed -n "/LIVE AT/,/^$/p;/^  site/,/^$/p"
