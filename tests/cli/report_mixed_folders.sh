# Traces of more than one job in one folder are separate runs, and why; two folders only look so.
for folder in data/mixed_*; do
	echo "== $folder"
	tscope report --quiet "$folder" | sed '/^found  /d'
done
