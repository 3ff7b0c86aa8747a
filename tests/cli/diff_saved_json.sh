tscope report --format json --full --output before.json data/run_before
tscope diff --format json before.json before.json | sed -n '/"sides"/,/^      }/p'
