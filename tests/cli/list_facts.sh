tscope report --list-facts >facts.txt
grep -E '^(overlap\.comm_ns|integrity\.verdict|kernels\.by_kind\[\]\.count|efficiency\.mfu) ' facts.txt | tr -s ' '
# One line for each fact and column, none twice.
cut -d ' ' -f 1 facts.txt | grep . | sort | uniq -d
