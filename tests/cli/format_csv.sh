# One value a row: facts, then tables; doubts are said in the last column.
tscope trace --format csv data/slow_loader.json | sed -n '1p; /,,,step_time\./p; /efficiency\./p'
