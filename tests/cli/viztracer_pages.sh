# In a folder, of all the pages only that with a trace is read; named, each is called what it is.
mkdir run
cp data/viztracer.html run/train.html
printf '<!DOCTYPE html>\n<html>\n<head>\n<title>memray - flamegraph</title>\n' >run/memray.html
printf '<head>\n<link href="https://cdn/d3-flamegraph.css">\n' >run/flamegraph.html
printf '<html>\n<script>window.PlotlyConfig = {};</script>\n' >run/chart.html
printf '<html>\n<p>Notes on the run\n' >run/notes.html
tscope report --full run | head -8
for page in memray flamegraph chart notes train; do
	tscope memory run/$page.html
done
for page in memray flamegraph chart notes; do
	tscope trace run/$page.html
done
