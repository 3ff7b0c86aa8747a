# SPDX-License-Identifier: MIT
# bash: candidates come from the program; where it has none, files.
_tscope()
{
	local candidates
	mapfile -t candidates < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
	COMPREPLY=("${candidates[@]%%$'\t'*}")
}
complete -o default -F _tscope tscope
