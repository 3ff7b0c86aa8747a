tscope memory data/snapshot.html
