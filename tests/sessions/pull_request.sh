# SPDX-License-Identifier: MIT
# Does this pull request make training slower? By how much, is it certain, and what explains it?
. "$(dirname "$0")/answers.sh"

ask 0 'tscope diff data/run_before data/run_after'
fits 24 80
says 'SLOWER +the mean step is .* \(40\.9 %\) slower'
says 'exposed communication'
says 'MEMORY +the peak \+200 MiB'

ask 1 "tscope diff --quiet --fail-on 'step_time.mean_ms>+5%' data/run_before data/run_after"
says 'step_time.mean_ms>\+5% .*TRIPPED'
ask 0 "tscope diff --quiet --fail-on 'step_time.mean_ms>+50%' data/run_before data/run_after"
ask 0 'tscope diff data/run_before data/run_before'
keeps_quiet_about 'SLOWER|FASTER'
# A saved report is as good as the run.
ask 0 'tscope report --format json --output before.json data/run_before'
ask 0 'tscope diff before.json data/run_after'
says 'SLOWER'
leave
