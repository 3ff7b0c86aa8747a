# LC_ALL, then LC_CTYPE, then LANG; an empty one counts as not set.
LC_ALL= LC_CTYPE= LANG=en_US.utf8 tscope trace data/two_steps.json >unicode
LC_ALL= LC_CTYPE=C LANG=en_US.utf8 tscope trace data/two_steps.json >ascii
LC_ALL=C tscope trace data/two_steps.json >c
tscope trace data/two_steps.json | cmp - unicode && cmp ascii c
