# SPDX-License-Identifier: MIT
# Out of memory: how much was missing, who holds it, what would have helped; then a leak.
. "$(dirname "$0")/answers.sh"

ask 0 'tscope memory data/oom.pickle'
fits 24 80
says 'CUDA OOM on device 0: tried to allocate 128 MiB, 40\.0 MiB free'
says 'train.py:44:gather'
says '-> set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True'
says 'LIVE AT THE PEAK +984 MiB'
says 'buffers.py:9:scratch +504 MiB'

ask 0 'tscope memory --show out-of-memory data/oom.pickle'
says 'would the allocation have succeeded with'
says 'yes +smaller_peak'

ask 0 'tscope memory data/leak_a.pickle data/leak_b.pickle'
says 'live memory grew by'
ask 1 'tscope memory --quiet --fail-on MEMORY.OOM data/oom.pickle'
says 'MEMORY.OOM .*TRIPPED'
leave
