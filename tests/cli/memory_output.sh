tscope memory --output report.txt data/leak_a.pickle
cat report.txt | head -4
