/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_COMM_LOG_FILLER_H
#define TSCOPE_COMM_LOG_FILLER_H

#include "base/pair_set.h"
#include "comm/collective_list.h"
#include "comm/rank_log.h"

/*
 * Fills a log from a trace, part by part; only rank_log_fill.c and the parts include this. Times
 * are those of the trace until all parts are done. log->arena remembers if memory ends.
 */
struct log_filler {
	struct rank_log *log;
	const struct tscope_trace *trace;
	const struct tscope_timeline *timeline;
	uint32_t device; /* index; of a trace with devices */
};

/* The id in the log of a text of the trace. */
uint32_t tsi_log_name(const struct log_filler *filler, uint32_t name);

/* rank_groups.c: process groups, each once, and which one a collective is of. */
struct group_finder {
	const struct log_filler *filler;
	struct arena arena;
	struct intern keys;
	struct pair_set names, ranks, sizes; /* what records say, number by number */
	uint32_t *groups;                    /* by number in sizes: index of the log's group + 1 */
	size_t group_count, group_capacity;
};

void tsi_group_finder_init(struct group_finder *finder, const struct log_filler *filler);
void tsi_group_finder_deinit(struct group_finder *finder);

/* The group of a record; NULL: one of which nothing is said. */
uint32_t tsi_find_log_group(struct group_finder *finder, const struct collective *record);

/* Adds the listed groups that the rank is in: some have ops that do not say their group. */
void tsi_add_listed_groups(struct group_finder *finder);

/* rank_ops.c */
void tsi_log_add_ops(const struct log_filler *filler);

/* rank_ready.c: the steps of the ops, and when they were ready; launches are known. */
void tsi_log_find_ready(const struct log_filler *filler);

/* rank_places.c: what the main thread was in; the log has steps, and when the rank stood still. */
void tsi_log_add_places(const struct log_filler *filler);

/* rank_host_ops.c: the calls that launched ops of the host; rows are the spans of all ops. */
void tsi_log_find_host_launches(const struct log_filler *filler, const uint32_t *rows);

#endif
