/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RUN_RECORD_H
#define TSCOPE_RUN_RECORD_H

#include "run/store.h"

/*
 * One step record as JSON text: pytscope's members, and ours, which `tscope
 * export` adds (write_steps.h).
 *
 *	{"step":7,"phases":{"data":0.012},"scalars":{"loss":2.5},"memory":{"alloc":4096},
 *	 "mark":"first","start_ns":100,"wall_ns":90,"budget_ns":{"compute":90},
 *	 "compute_phase_ns":{"forward":90},"flops":{"all":2e9,"repeated":0.0}}
 */
#define RECORD_MEMBERS(X)                                                                          \
	X(RECORD_STEP, "step")                                                                     \
	X(RECORD_IDX, "idx")                 /* what other writers call it; step goes first */     \
	X(RECORD_GLOBAL_STEP, "global_step") /* likewise */                                        \
	X(RECORD_PHASES, "phases")           /* {name: seconds} */                                 \
	X(RECORD_SCALARS, "scalars")         /* {name: number} */                                  \
	X(RECORD_MEMORY, "memory")           /* {name: bytes} */                                   \
	X(RECORD_MARK, "mark")               /* tscope_step_mark_name(); absent: counted */        \
	X(RECORD_TIMED, "timed")             /* false: the record has metrics only */              \
	X(RECORD_START_NS, "start_ns")                                                             \
	X(RECORD_WALL_NS, "wall_ns")                                                               \
	X(RECORD_BUDGET_MARK, "budget_mark")       /* where it is not the record's */              \
	X(RECORD_BUDGET_NS, "budget_ns")           /* {tscope_budget_line_name(): ns} */           \
	X(RECORD_HOST_BUDGET_NS, "host_budget_ns") /* {tsi_host_line_name(): ns} */                \
	X(RECORD_COMPUTE_PHASE_NS, "compute_phase_ns")                                             \
	X(RECORD_FLOPS, "flops") /* {"all", "repeated": FLOPs, "matrix_ns", "counted_ns": ns} */   \
	X(RECORD_ALLOC_PEAK_NS, "alloc_peak_ns")                                                   \
	X(RECORD_EXPOSED_NS, "exposed_ns") /* {"wait": ns, …}: enum exposed_part */

enum record_member { RECORD_MEMBERS(TSI_NAMED_ID) RECORD_MEMBER_COUNT };

struct record_text {
	struct str members[RECORD_MEMBER_COUNT]; /* their values as text; empty: not there */
	bool has_others;                         /* members of other names */
	int64_t number;                          /* of the step */
};

/*
 * Takes a line apart, as far as it is JSON. False: it is no object with an
 * integral step number. O(length).
 */
bool tsi_record_split(struct record_text *record, struct str line);

/* Is it a step of a trace, which only `tscope export` writes? */
bool tsi_record_has_budget(const struct record_text *text);

/* Appends the record to steps; values that are none are left out and counted in log. */
void tsi_record_add(struct step_series *steps, const struct record_text *record,
		    struct store_log *log);

/* "alloc", "reserved" …: never NULL. */
const char *tsi_step_memory_name(enum step_memory memory);

#endif
