# The results; the rules, which every report has, are left out.
tscope trace --format sarif data/slow_loader.json | sed -n '/"results"/,$p'
