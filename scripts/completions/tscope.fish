# SPDX-License-Identifier: MIT
# fish: candidates come from the program; where it has none, files.
function __tscope_candidates
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l option ''
    if string match -q -- '--*=*' $word
        set option (string split -m 1 = -- $word)[1]
        set word (string split -m 1 = -- $word)[2]
        set words $words $option
        set option $option=
    end
    set -l candidates ($words[1] __complete $words[2..-1] "$word" 2>/dev/null)
    if test (count $candidates) -eq 0
        set candidates (__fish_complete_path "$word")
    end
    if test (count $candidates) -gt 0
        printf '%s\n' $option$candidates
    end
end
complete -c tscope -f -a '(__tscope_candidates)'
