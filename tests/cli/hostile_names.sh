# Escapes, controls, an override of the direction and broken UTF-8 in a name and in a path.
name='\u001b[31mred\u0007\u009b2J\u202egnp.exe \ud800'
printf '[{"ph":"X","cat":"cpu_op","name":"%s","pid":1,"tid":1,"ts":1,"dur":2}]' "$name" \
	>"$(printf 'evil\033]0;title\007.json')"
tscope trace --full evil*
tscope trace --full --format json evil*
tscope trace --full "$(printf 'no\033[2Jsuch\nfile')"
