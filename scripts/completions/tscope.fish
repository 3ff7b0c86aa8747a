# SPDX-License-Identifier: MIT
# fish: candidates come from the program; where it has none, files.
function __tscope_candidates
    set -l words (commandline -opc) (commandline -ct)
    set -l candidates ($words[1] __complete $words[2..-1] 2>/dev/null)
    if test (count $candidates) -gt 0
        printf '%s\n' $candidates
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c tscope -f -a '(__tscope_candidates)'
