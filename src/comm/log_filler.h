/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_COMM_LOG_FILLER_H
#define TSCOPE_COMM_LOG_FILLER_H

#include "base/pair_set.h"
#include "comm/collective_list.h"
#include "comm/rank_log.h"

/*
 * What fills a log from a trace, part by part; only rank_log_fill.c and the parts include this.
 * Times are those of the trace until all parts are done.
 */
struct log_filler {
	struct rank_log *log;
	const struct tscope_trace *trace;
	const struct tscope_timeline *timeline;
	uint32_t device; /* index; of a trace with devices */
	struct tscope_error *err;
};

/* The id in the log of a text of the trace. */
TSI_MUST_CHECK
enum tscope_status tsi_log_name(const struct log_filler *filler, uint32_t name, uint32_t *id);

/* rank_groups.c: process groups, each once, and which one a collective is of. */
struct group_finder {
	const struct log_filler *filler;
	struct intern keys;
	struct arena memory;                 /* of the sets */
	struct pair_set names, ranks, sizes; /* what records say, number by number */
	uint32_t *groups;                    /* by number in sizes: index of the log's group + 1 */
	size_t group_capacity;
};

void tsi_group_finder_init(struct group_finder *finder, const struct log_filler *filler);
void tsi_group_finder_deinit(struct group_finder *finder);

/* The group of a record; NULL: one of which nothing is said. */
TSI_MUST_CHECK
enum tscope_status tsi_find_log_group(struct group_finder *finder, const struct collective *record,
				      uint32_t *group);

/* Adds the listed groups that the rank is in: some have ops that do not say their group. */
TSI_MUST_CHECK
enum tscope_status tsi_add_listed_groups(struct group_finder *finder);

/* rank_ops.c */
TSI_MUST_CHECK
enum tscope_status tsi_log_add_ops(const struct log_filler *filler);

/* rank_ready.c: the steps of the ops, and when they were ready; launches are known. */
TSI_MUST_CHECK
enum tscope_status tsi_log_find_ready(const struct log_filler *filler);

/* rank_host_ops.c: what a backend's span on the host (tsi_backend_prefix) says of size and type. */
TSI_MUST_CHECK
enum tscope_status tsi_log_describe_op(const struct log_filler *filler, struct rank_op *op,
				       uint32_t row);

/* The calls that launched them; rows are those of the spans of all ops. */
TSI_MUST_CHECK
enum tscope_status tsi_log_find_host_launches(const struct log_filler *filler,
					      const uint32_t *rows);

#endif
