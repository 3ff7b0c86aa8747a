tscope report nowhere
