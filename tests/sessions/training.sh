# SPDX-License-Identifier: MIT
# Data-parallel training is slow: which rank, why, what would it win, and where is that rank's time?
. "$(dirname "$0")/answers.sh"
needs zlib

ask 0 'tscope report data/ranks_slow_loader'
fits 24 80
says 'rank 1 arrives .* late \(data loader'
says 'saves 450.9 µs per step'
says '-> look at what its data loader reads'
says 'where a rank.s time goes per step \(mean of 4 ranks\)'
says 'more: --full'

ask 0 'tscope report --rank 1 --show kernels,stragglers data/ranks_slow_loader'
says 'KERNELS of rank 1'
says 'STRAGGLERS'
keeps_quiet_about 'COMMUNICATION'

ask 0 'tscope rules DIST.STRAGGLER'
says 'DIST.STRAGGLER'

# The other folder has the same symptom and another cause.
ask 0 'tscope report data/ranks_slow_host'
says 'rank [0-9]+ .*(host|launch|Python)'
leave
