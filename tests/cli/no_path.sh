tscope report
tscope report --fail-on straggler
tscope export --out there
