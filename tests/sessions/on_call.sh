# SPDX-License-Identifier: MIT
# On call over ssh: 60 columns, no UTF-8, and a file that was cut when the job was killed.
. "$(dirname "$0")/answers.sh"
export LC_ALL=C COLUMNS=60

ask 0 'tscope report data/run_sick 2>/dev/null'
fits 24 60
says 'waiting for data takes 33\.0 % of the step'
ask 0 "tscope report data/run_sick 2>/dev/null | LC_ALL=C grep -c '[^ -~]' || true"
says '^0$'
ask 0 'tscope trace data/two_steps_cut.json'
fits 26 120
says 'DAMAGED'
ask 3 'tscope trace --strict --quiet data/two_steps_cut.json'
# The nearest words for what was mistyped.
ask 2 'tscope reprot data/run_sick'
says 'did you mean report\?'
ask 2 'tscope report --fulll data/run_sick'
says 'did you mean --full\?'
ask 3 'tscope trace data/run_sick'
says 'is a directory; tscope report reads directories'
ask 2 'tscope data/run_sick'
says 'did you mean: tscope report'
leave
