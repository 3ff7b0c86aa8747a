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
# A long report is paged on a terminal, what is wrong stands last as well, and the gate decides.
if command -v python3 >/dev/null; then
	terminal="TERM=xterm python3 -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)'"
	export TSCOPE_PAGER="sed 's/^/page: /'"
	ask 0 "$terminal tscope report --full --color never data/run_sick"
	says '^page: .*TIMING'
	ask 0 "$terminal tscope report --full --color never data/run_sick | tail -n 3"
	says '^page:   MED   waiting for data takes 33\.0 % of the step'
	ask 1 "$terminal tscope report --full --fail-on 'step_time.mean_ms>1' data/run_sick"
	ask 0 "$terminal tscope report --no-pager --full data/run_sick"
	keeps_quiet_about '^page:'
	ask 0 'tscope report --full data/run_sick'
	keeps_quiet_about '^page:'
fi
leave
