tscope memory --full data/snapshot.html
