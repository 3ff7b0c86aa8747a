tscope memory --format json data/snapshot.html
