# A zip is read as the folder that it is of, but not through a pipe: its list of members stands at its end.
tscope --version | grep -q '^libarchive [0-9]' || exit 77
tscope --version | grep -q '^zlib [0-9]' || exit 77
tscope report --format json data/archive.zip | grep '"path"'
cat data/archive.zip | tscope report -
echo "pipe: $?"
printf 'PK\3\4' > last.ckpt
tscope memory last.ckpt
echo "checkpoint: $?"
# Documents that are zips hold nothing of ours.
python3 - <<'END'
import zipfile
for name, *files in (("table.xlsx", "[Content_Types].xml", "xl/workbook.xml"), ("model.ckpt", "model/data.pkl", "model/data/0", "model/version"),
                     ("several.zip", "a.json", "b.json")):
    with zipfile.ZipFile(name, "w") as archive:
        for file in files:
            archive.writestr(file, "{}")
END
for file in table.xlsx model.ckpt several.zip; do
	tscope trace $file
done
