# SPDX-License-Identifier: MIT
# bash: candidates come from the program; where it has none, files.
_tscope()
{
	local candidates words=() i
	# --format=json comes as three words.
	for ((i = 1; i <= COMP_CWORD; i++)); do
		if [ "${COMP_WORDS[i]}" != = ]; then
			words+=("${COMP_WORDS[i]}")
		elif [ "$i" -eq "$COMP_CWORD" ]; then
			words+=("")
		fi
	done
	mapfile -t candidates < <("${COMP_WORDS[0]}" __complete "${words[@]}" 2>/dev/null)
	COMPREPLY=("${candidates[@]%%$'\t'*}")
}
complete -o default -F _tscope tscope
