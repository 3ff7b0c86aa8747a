# A page is read as the file that it holds; its other words count for nothing.
tscope trace --full --format json data/viztracer.json | grep -v '"path"\|bytes' >file
tscope trace --full --format json data/viztracer.html | grep -v '"path"\|bytes' >page
cmp file page && tscope trace --full --top 1 data/viztracer.html
