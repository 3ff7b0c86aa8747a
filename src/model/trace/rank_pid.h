/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_TRACE_RANK_PID_H
#define TSCOPE_MODEL_TRACE_RANK_PID_H

#include "base/str.h"

/*
 * Ranks in pids and names, as mergers of traces write them; -1 where there is none. Who asks has
 * every pid of a file read in the same way.
 */

/*
 * SGLang: "[TP03] 4242", "[TP01-DP00-PP02] Spans". The places in the parallel groups, PP above TP
 * and DP above both, make a number that is no rank yet: tsi_sglang_rank() needs all of the file.
 */
int64_t tsi_sglang_place(struct str pid);

/* tensor_size: the greatest place of the file in a tensor-parallel group, + 1. */
int64_t tsi_sglang_tensor_place(int64_t place);
int64_t tsi_sglang_rank(int64_t place, int64_t tensor_size);

/* "4242_3", "Spans_3": behind a number or another pid that torch's profiler writes. */
int64_t tsi_rank_behind_pid(struct str pid);

/* "rank3_4242" as a pid; "Rank 3", "rank 3 - GPU" as the name of a process */
int64_t tsi_rank_at_begin(struct str text);

/* "[R3] aten::mm": before the name of an event, which is *rest then. */
int64_t tsi_rank_before_name(struct str name, struct str *rest);

#endif
