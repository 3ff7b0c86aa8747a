# The .html form of a memory timeline holds a picture only.
printf '<html><head><title>GPU Memory Timeline</title></head><body>
<img src="data:image/png;base64,iVBORw0KGgo="></body></html>' >timeline.html
tscope memory timeline.html
