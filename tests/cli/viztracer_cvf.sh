# VizTracer's compressed form is told from other bytes, with the command that undoes it.
printf '\1\0\0\0\0\0\0\0\2\100\17\0\0\0\0\0\0' >result.cvf
tscope trace result.cvf
tscope memory result.cvf
tscope report result.cvf
