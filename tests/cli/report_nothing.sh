mkdir empty && echo hello >empty/notes.txt && tscope report empty
