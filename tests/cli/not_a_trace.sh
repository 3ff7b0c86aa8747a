printf 'hello\n' >notes.txt
tscope trace notes.txt
