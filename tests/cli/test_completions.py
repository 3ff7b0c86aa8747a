#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Completion in each shell that is there, over the program itself: test_completions.py TSCOPE FOLDER

FOLDER holds the completions of bash, zsh and fish. A shell that is missing is named; where none
is there the test is skipped.
"""
import os
import shutil
import subprocess
import sys
import tempfile

PROGRAM, FOLDER = map(os.path.abspath, sys.argv[1:3])

# The words so far, the last one unfinished, and what must be among the candidates.
CASES = [
    (["tr"], {"trace"}),
    (["trace", "--fo"], {"--format", "--force"}),
    (["trace", "--format", ""], {"text", "json"}),
    (["report", "--fail-on", "efficiency.mf"], {"efficiency.mfu"}),
    (["report", "--fail-on", "DIST.STRAG"], {"DIST.STRAGGLER"}),
    (["report", "run", "--rank", ""], {"0", "11"}),
    (["rules", "GC"], {"GC.PAUSE"}),
    (["config", "rep"], {"report"}),
    (["config", "report", "--fo"], {"--format", "--force"}),
    (["trace", "a_t"], {"a_trace.json"}),
    (["report", "--format=js"], {"--format=json"}),
    (["report", "--fail-on=efficiency.mf"], {"--fail-on=efficiency.mfu"}),
    (["report", "run", "--rank=", ], {"--rank=11"}),
    (["report", "--config=a_t"], {"--config=a_trace.json"}),
]

# Readline makes words of what is before an "=", of itself, and of what is behind it, if anything.
BASH = """
. "$1/tscope.bash"
shift
COMP_WORDS=(tscope "$@")
case ${@: -1} in
--*=) COMP_WORDS[$#]=${COMP_WORDS[$#]%=} COMP_WORDS+=(=) ;;
--*=*) COMP_WORDS+=(= "${COMP_WORDS[$#]#*=}") COMP_WORDS[$#]=${COMP_WORDS[$#]%%=*} ;;
esac
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_tscope
[ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"))
[ "$COMP_CWORD" -eq $# ] || COMPREPLY=("${COMPREPLY[@]/#/${COMP_WORDS[$#]}=}")
printf '%s\\n' "${COMPREPLY[@]}"
"""
# The widgets of zsh's completion system, as far as ours uses them.
ZSH = """
folder=$1
shift
compset() { prefix=${words[CURRENT]%%=*}= }
_describe() { print -l -- $prefix${^candidates%%:*} }
_files() { print -l -- $prefix${^$(print -l -- ${words[CURRENT]#$prefix}*(N))} }
run() { . $folder/_tscope }
words=(tscope "$@")
CURRENT=$#words
run
"""
FISH = """
source $argv[1]/tscope.fish
complete -C (string join ' ' -- tscope $argv[2..-1]) | string replace -r '\\t.*' ''
"""


def candidates(shell, words, folder):
    scripts = {"bash": BASH, "zsh": ZSH, "fish": FISH}
    script = os.path.join(folder, "script." + shell)
    with open(script, "w") as file:
        file.write(scripts[shell])
    options = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    path = os.path.dirname(PROGRAM) + os.pathsep + os.environ["PATH"]
    run = subprocess.run([shell, *options, script, FOLDER, *words], cwd=folder, text=True,
                         env={**os.environ, "PATH": path, "HOME": folder}, timeout=60,
                         stdin=subprocess.DEVNULL, capture_output=True)
    if run.stderr:
        print(run.stderr)
    return set(run.stdout.split("\n")) - {""}


def main():
    shells = [shell for shell in ("bash", "zsh", "fish") if shutil.which(shell)]
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="tscope-test-") as folder:
        os.mkdir(os.path.join(folder, "run"))
        for name in ("a_trace.json", "run/rank0.json", "run/rank_11.json"):
            open(os.path.join(folder, name), "w").close()
        for shell in shells:
            for words, expected in CASES:
                found = candidates(shell, words, folder)
                if not expected <= found or len(found) > 20:
                    print(f"{shell}: {words}: {sorted(found)[:20]}, not {sorted(expected)}")
                    wrong += 1
    missing = {"bash", "zsh", "fish"} - set(shells)
    print(f"{len(shells) * len(CASES)} completions, {wrong} wrong; missing: {sorted(missing)}")
    return 77 if not shells else wrong > 0


sys.exit(main())
