mkdir empty
tscope report empty
