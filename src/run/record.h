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
enum record_member {
	RECORD_STEP,
	RECORD_IDX,         /* what other writers call it; step goes first */
	RECORD_GLOBAL_STEP, /* likewise */
	RECORD_PHASES,      /* {name: seconds} */
	RECORD_SCALARS,     /* {name: number} */
	RECORD_MEMORY,      /* {name: bytes} */
	RECORD_MARK,        /* tscope_step_mark_name(); absent: counted */
	RECORD_TIMED,       /* false: only metrics are known, so that no phases are no time of 0 */
	RECORD_START_NS,
	RECORD_WALL_NS,
	RECORD_BUDGET_MARK,    /* where it is not the record's */
	RECORD_BUDGET_NS,      /* {tscope_budget_line_name(): ns} */
	RECORD_HOST_BUDGET_NS, /* {tsi_host_line_name(): ns} */
	RECORD_COMPUTE_PHASE_NS,
	RECORD_FLOPS, /* {"all", "repeated": FLOPs, "matrix_ns", "counted_ns": ns} */
	RECORD_ALLOC_PEAK_NS,
	RECORD_EXPOSED_NS, /* {"wait": ns, …} of exposed communication: enum exposed_part */
	RECORD_MEMBER_COUNT,
};

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
TSI_MUST_CHECK
enum tscope_status tsi_record_add(struct step_series *steps, const struct record_text *record,
				  struct store_log *log, struct tscope_error *err);

/* "alloc", "reserved" …: never NULL. */
const char *tsi_step_memory_name(enum step_memory memory);

#endif
