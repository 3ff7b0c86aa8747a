# No line is longer than the terminal is wide.
LC_ALL=C COLUMNS=50 tscope rules $(tscope rules | cut -d ' ' -f 1) | awk 'length($0) > 50 && !/^[A-Z]/ && !/--rule/ && NF > 2'
