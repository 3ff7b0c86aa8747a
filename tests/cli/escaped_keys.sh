# A trace whose keys are all written with escapes gives the report of the same trace without them.
mkdir plain escaped && cp data/two_steps.json plain
python3 - <<'END'
import re
text = open("plain/two_steps.json").read()
escape = lambda m: '"' + "".join("\\u%04x" % ord(c) if i % 2 else c for i, c in enumerate(m[1])) + '"' + m[2]
open("escaped/two_steps.json", "w").write(re.sub(r'"([A-Za-z ]+)"(\s*:)', escape, text))
END
for folder in plain escaped; do
	(cd $folder && tscope trace two_steps.json --format json | grep -v '"bytes"\|source_bytes' >../$folder.json)
done
cmp plain.json escaped.json && grep -c '"correlation"' plain/*.json
tscope report escaped --quiet | sed -n 2,3p
