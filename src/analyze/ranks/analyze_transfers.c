/* SPDX-License-Identifier: MIT */
/*
 * Duration of transfers without the wait for late ranks, and their bandwidth: by kind and process
 * group, by size, and link by link, so that a link slower than its peers shows.
 */
#include "analyze/facts.h"
#include "analyze/ranks/link_list.h"
#include "analyze/ranks/rank_steps.h"
#include "analyze/ranks/transfer_list.h"
#include "analyze/shared/quantile.h"

#include <math.h>

#include "base/sum.h"

#define FACTS(X)                                                                                   \
	X(COUNT, "count", COUNT, "matched synchronising collectives")                              \
	X(BYTES, "bytes", BYTES, "sum of their sizes, of those that are known")                    \
	X(WAIT_NS, "wait_ns", NS, "waiting in them, sum over ranks")                               \
	X(TRANSFER_NS, "transfer_ns", NS, "transfer in them, sum over ranks")                      \
	X(WAIT_RATIO, "wait_ratio", RATIO, "share of waiting in both")                             \
	X(MEAN_EXPOSED_WAIT_NS, "mean_exposed_wait_ns", NS,                                        \
	  "waiting that nothing hides, mean of the ranks, per step")                               \
	X(MEAN_EXPOSED_TRANSFER_NS, "mean_exposed_transfer_ns", NS,                                \
	  "transfer that nothing hides, mean of the ranks, per step")                              \
	X(NODE_COUNT, "node_count", COUNT, "nodes that the ranks are on")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define BY_KIND_COLUMNS(X)                                                                         \
	X(BY_KIND_KIND, "kind", TEXT, "kind of collective")                                        \
	X(BY_KIND_GROUP, "group", TEXT, "process group")                                           \
	X(BY_KIND_GROUP_SIZE, "group_size", COUNT, "its ranks")                                    \
	X(BY_KIND_SPAN, "span", TEXT, "intra_node or inter_node, where known")                     \
	X(BY_KIND_COUNT, "count", COUNT, "collectives")                                            \
	X(BY_KIND_BYTES, "bytes", BYTES, "sum of their sizes")                                     \
	X(BY_KIND_WAIT_NS, "wait_ns", NS, "waiting, mean of the ranks, sum; absent of sends")      \
	X(BY_KIND_TRANSFER_NS, "transfer_ns", NS, "transfer, sum")                                 \
	X(BY_KIND_ALGORITHM_BYTES_PER_SECOND, "algorithm_bytes_per_second", BYTES_PER_SECOND,      \
	  "size ÷ transfer")                                                                       \
	X(BY_KIND_BUS_BYTES_PER_SECOND, "bus_bytes_per_second", BYTES_PER_SECOND,                  \
	  "what a link carries: comparable between kinds")

TSI_FACT_LIST(enum by_kind_column, by_kind_columns, BY_KIND_COLUMNS);

#define BY_SIZE_COLUMNS(X)                                                                         \
	X(BY_SIZE_KIND, "kind", TEXT, "kind of collective")                                        \
	X(BY_SIZE_DTYPE, "dtype", TEXT, "type of the elements")                                    \
	X(BY_SIZE_GROUP_SIZE, "group_size", COUNT, "ranks of the groups")                          \
	X(BY_SIZE_SPAN, "span", TEXT, "intra_node or inter_node, where known")                     \
	X(BY_SIZE_ON_HOST, "on_host", FLAG, "no rank has a device: times are the host's")          \
	X(BY_SIZE_MESSAGE_BYTES, "message_bytes", BYTES, "size of each")                           \
	X(BY_SIZE_COUNT, "count", COUNT, "collectives")                                            \
	X(BY_SIZE_MEAN_WAIT_NS, "mean_wait_ns", NS, "waiting of a rank, mean; absent of sends")    \
	X(BY_SIZE_TRANSFER_NS, "transfer_ns", NS, "transfer, median")                              \
	X(BY_SIZE_MIN_TRANSFER_NS, "min_transfer_ns", NS, "shortest transfer")                     \
	X(BY_SIZE_ALGORITHM_BYTES_PER_SECOND, "algorithm_bytes_per_second", BYTES_PER_SECOND,      \
	  "size ÷ transfer")                                                                       \
	X(BY_SIZE_BUS_BYTES_PER_SECOND, "bus_bytes_per_second", BYTES_PER_SECOND, "as above")      \
	X(BY_SIZE_SLACK_NS, "slack_ns", NS,                                                        \
	  "local time from when a rank is ready to when it needs the result, median of those "     \
	  "that were waited for")                                                                  \
	X(BY_SIZE_REQUIRED_BYTES_PER_SECOND, "required_bytes_per_second", BYTES_PER_SECOND,        \
	  "size ÷ slack: what would hide it")

TSI_FACT_LIST(enum by_size_column, by_size_columns, BY_SIZE_COLUMNS);

#define LINKS_COLUMNS(X)                                                                           \
	X(LINKS_GROUP, "group", TEXT, "process group")                                             \
	X(LINKS_RANKS, "ranks", TEXT, "its ranks, as \"0-3, 8\" or \"2, 6, ..., 254\"")            \
	X(LINKS_NODES, "nodes", TEXT, "hosts of its ranks, where known and at most 4")             \
	X(LINKS_KIND, "kind", TEXT, "kind of collective")                                          \
	X(LINKS_SPAN, "span", TEXT, "intra_node or inter_node, where known")                       \
	X(LINKS_MESSAGE_BYTES, "message_bytes", BYTES, "size of each")                             \
	X(LINKS_COUNT, "count", COUNT, "collectives")                                              \
	X(LINKS_TRANSFER_NS, "transfer_ns", NS, "transfer, median")                                \
	X(LINKS_BUS_BYTES_PER_SECOND, "bus_bytes_per_second", BYTES_PER_SECOND, "as above")        \
	X(LINKS_SLOWDOWN_RATIO, "slowdown_ratio", NUMBER,                                          \
	  "transfer by the median of its likes (kind, size, group size, span) - 1; absent "        \
	  "without two others")                                                                    \
	X(LINKS_P_VALUE, "p_value", RATIO,                                                         \
	  "chance that a link like its likes is so slow, corrected for their number")

TSI_FACT_LIST(enum links_column, links_columns, LINKS_COLUMNS);

/* Up to LINKS_MESSAGE_BYTES as in links. */
enum slow_links_column {
	SLOW_LINKS_BUS_BYTES_PER_SECOND = LINKS_MESSAGE_BYTES + 1,
	SLOW_LINKS_SLOWDOWN_RATIO,
	SLOW_LINKS_P_VALUE,
	SLOW_LINKS_EXCESS_NS_PER_STEP,
};

static const struct tscope_fact_def slow_links_columns[] = {
	[LINKS_GROUP] = { "group", TSCOPE_UNIT_TEXT, "process group" },
	[LINKS_RANKS] = { "ranks", TSCOPE_UNIT_TEXT, "its ranks" },
	[LINKS_NODES] = { "nodes", TSCOPE_UNIT_TEXT, "as in links" },
	[LINKS_KIND] = { "kind", TSCOPE_UNIT_TEXT, "kind of collective" },
	[LINKS_SPAN] = { "span", TSCOPE_UNIT_TEXT, "as in links" },
	[LINKS_MESSAGE_BYTES] = { "message_bytes", TSCOPE_UNIT_BYTES, "size of each" },
	[SLOW_LINKS_BUS_BYTES_PER_SECOND] = { "bus_bytes_per_second", TSCOPE_UNIT_BYTES_PER_SECOND,
					      "as in links" },
	[SLOW_LINKS_SLOWDOWN_RATIO] = { "slowdown_ratio", TSCOPE_UNIT_NUMBER, "as in links" },
	[SLOW_LINKS_P_VALUE] = { "p_value", TSCOPE_UNIT_RATIO, "as in links" },
	[SLOW_LINKS_EXCESS_NS_PER_STEP] = { "excess_ns_per_step", TSCOPE_UNIT_NS,
					    "transfer beyond that of comparable links, per step" },
};

#define TABLES(X)                                                                                  \
	X(TABLE_BY_KIND, "by_kind", by_kind_columns,                                               \
	  "matched collectives and sends by kind and process group, the 1024 with most transfer")  \
	X(TABLE_BY_SIZE, "by_size", by_size_columns, "the same, each size for itself")             \
	X(TABLE_LINKS, "links", links_columns,                                                     \
	  "process groups and pairs at each size, the 1024 with most transfer")                    \
	X(TABLE_SLOW_LINKS, "slow_links", slow_links_columns,                                      \
	  "links persistently slower than their likes: p_value 0.001 or less, slowdown_ratio 0.1 " \
	  "or more, as that of the fastest of each step, and beyond what links vary by from step " \
	  "to step")

TSI_TABLE_LIST(enum table, tables, TABLES);

enum { MAX_ROWS = 1024 }; /* of a table: sizes that never recur are as many as transfers */

static const char unread_doubt[] =
	"groups may have ranks that were not read: waiting for these counts as transfer";

/* Source of the tables. */
struct survey {
	const struct analysis_scope *scope;
	struct fact_sheet *out;
	struct transfer_list list;
	struct transfer_rows rows;
	struct link_list links;
	int64_t **slacks_ns;
	int64_t *numbers; /* room for a time of each transfer, or of each of their members */
};

/* False without memory. */
static bool find_survey(struct survey *survey, struct arena *scratch)
{
	const struct world *world = survey->scope->world;
	size_t most =
		world->member_count > world->match_count ? world->member_count : world->match_count;

	tsi_transfer_list_fill(&survey->list, world, scratch);
	tsi_transfer_rows_init(&survey->rows, &survey->list, scratch);
	tsi_link_list_fill(&survey->links, &survey->list, world, scratch);
	survey->slacks_ns = tsi_find_slacks(world, scratch);
	survey->numbers = tsi_arena_new(scratch, most, sizeof(*survey->numbers));
	return survey->numbers;
}

/* ---- rows of transfers ---- */

static struct tscope_value name_value(const struct survey *survey, uint32_t id)
{
	struct str name = tsi_intern_text(&survey->list.names, id);

	return tsi_text_if(id ? tsi_sheet_copy(survey->out, name) : NULL);
}

/* That many times the mean wait of a member, in ns. */
static struct tscope_value wait_value(const struct transfer_sums *sums, size_t times)
{
	double mean_ns = (double)sums->wait_ns / (double)sums->wait_count;
	double wait_ns = mean_ns * (double)times;

	if (sums->wait_count == 0)
		return (struct tscope_value){ 0 };
	return tsi_int(wait_ns < 0x1p63 ? (int64_t)round(wait_ns) : INT64_MAX);
}

static void put_kind(const struct survey *survey, const struct transfer_row *row)
{
	const struct transfer *first = tsi_row_transfer(&survey->rows, row, 0);
	struct transfer_sums sums = tsi_transfer_sums(&survey->rows, row);

	struct tscope_value *cells = tsi_table_row(survey->out, TABLE_BY_KIND);
	cells[BY_KIND_KIND] = tsi_text(tsi_collective_kind_name(first->kind));
	cells[BY_KIND_GROUP] = name_value(survey, first->group_name);
	cells[BY_KIND_GROUP_SIZE] = tsi_int(first->group_size);
	cells[BY_KIND_SPAN] = tsi_span_value(first->span);
	cells[BY_KIND_COUNT] = tsi_int((int64_t)row->count);
	cells[BY_KIND_WAIT_NS] = wait_value(&sums, row->count);
	cells[BY_KIND_TRANSFER_NS] = tsi_int(row->transfer_ns);
	if (sums.sized_ns == 0)
		return;
	cells[BY_KIND_BYTES] = tsi_int(sums.bytes);
	cells[BY_KIND_ALGORITHM_BYTES_PER_SECOND] =
		tsi_real((double)sums.bytes * 1e9 / (double)sums.sized_ns);
	cells[BY_KIND_BUS_BYTES_PER_SECOND] = tsi_real(sums.bus_bytes * 1e9 / sums.bus_ns);
}

/* The slacks of a row's members that were waited for, sorted, in survey->numbers; how many. */
static size_t gather_slacks(const struct survey *survey, const struct transfer_row *row)
{
	const struct world *world = survey->scope->world;
	size_t count = 0;

	for (size_t i = 0; i < row->count; i++) {
		const struct match *match =
			&world->matches[tsi_row_transfer(&survey->rows, row, i)->match];

		for (uint32_t k = 0; k < match->member_count; k++) {
			const struct match_member *member =
				&world->members[match->first_member + k];
			int64_t slack_ns = survey->slacks_ns[member->rank][member->op];

			if (slack_ns >= 0)
				survey->numbers[count++] = slack_ns;
		}
	}
	tsi_latch_sort_numbers(tsi_sheet_scratch(survey->out), survey->numbers, count);
	return count;
}

static void put_slack(const struct survey *survey, const struct transfer_row *row,
		      struct tscope_value *cells)
{
	const struct transfer *first = tsi_row_transfer(&survey->rows, row, 0);
	size_t count = gather_slacks(survey, row);

	if (count == 0)
		return;
	int64_t slack_ns = tsi_quantile_ns(survey->numbers, count, 50);
	cells[BY_SIZE_SLACK_NS] = tsi_int(slack_ns);
	if (first->bytes != NO_NUMBER)
		cells[BY_SIZE_REQUIRED_BYTES_PER_SECOND] =
			tsi_real((double)first->bytes * 1e9 / (double)slack_ns);
}

static void put_times(const struct survey *survey, const struct transfer_row *row,
		      struct tscope_value *cells)
{
	const struct transfer *first = tsi_row_transfer(&survey->rows, row, 0);

	for (size_t i = 0; i < row->count; i++)
		survey->numbers[i] = tsi_row_transfer(&survey->rows, row, i)->transfer_ns;
	tsi_latch_sort_numbers(tsi_sheet_scratch(survey->out), survey->numbers, row->count);
	int64_t median_ns = tsi_quantile_ns(survey->numbers, row->count, 50);
	cells[BY_SIZE_TRANSFER_NS] = tsi_int(median_ns);
	cells[BY_SIZE_MIN_TRANSFER_NS] = tsi_int(survey->numbers[0]);
	if (first->bytes == NO_NUMBER)
		return;
	cells[BY_SIZE_MESSAGE_BYTES] = tsi_int(first->bytes);
	cells[BY_SIZE_ALGORITHM_BYTES_PER_SECOND] =
		tsi_real((double)first->bytes * 1e9 / (double)median_ns);
	cells[BY_SIZE_BUS_BYTES_PER_SECOND] = tsi_real(first->bus_bytes * 1e9 / (double)median_ns);
}

static void put_size(const struct survey *survey, const struct transfer_row *row)
{
	const struct transfer *first = tsi_row_transfer(&survey->rows, row, 0);
	struct transfer_sums sums = tsi_transfer_sums(&survey->rows, row);

	struct tscope_value *cells = tsi_table_row(survey->out, TABLE_BY_SIZE);
	cells[BY_SIZE_KIND] = tsi_text(tsi_collective_kind_name(first->kind));
	cells[BY_SIZE_DTYPE] = name_value(survey, first->dtype);
	cells[BY_SIZE_GROUP_SIZE] = tsi_int(first->group_size);
	cells[BY_SIZE_SPAN] = tsi_span_value(first->span);
	cells[BY_SIZE_ON_HOST] = tsi_flag(first->is_on_host);
	cells[BY_SIZE_COUNT] = tsi_int((int64_t)row->count);
	cells[BY_SIZE_MEAN_WAIT_NS] = wait_value(&sums, 1);
	put_times(survey, row, cells);
	put_slack(survey, row, cells);
}

static void put_rows(struct survey *survey)
{
	struct transfer_rows *rows = &survey->rows;

	tsi_transfer_rows_by_kind(rows);
	for (size_t i = 0; i < rows->count && i < MAX_ROWS; i++)
		put_kind(survey, &rows->items[i]);
	tsi_transfer_rows_by_size(rows);
	for (size_t i = 0; i < rows->count && i < MAX_ROWS; i++)
		put_size(survey, &rows->items[i]);
}

/* ---- links ---- */

/* "node3 and node7": hosts of a group's ranks; absent where one is not known, or they are many. */
static struct tscope_value nodes_value(const struct survey *survey,
				       const struct process_group *group)
{
	enum { MAX_NODES = 4 };
	const struct world *world = survey->scope->world;
	struct str names[MAX_NODES];
	const char *text = "";
	size_t count = 0, at;

	for (uint32_t i = 0; i < group->rank_count; i++) {
		const struct rank_log *log = &world->logs[group->ranks[i]];
		struct str name = tsi_intern_text(&log->names, log->host_name);

		for (at = 0; at < count && !tsi_str_equal(names[at], name);)
			at++;
		if (name.length == 0 || at == MAX_NODES)
			return (struct tscope_value){ 0 };
		names[at] = name;
		count += at == count;
	}
	for (at = 0; at < count; at++)
		text = tsi_sheet_print(survey->out, "%s%s%.*s", text,
				       at == 0           ? ""
				       : at + 1 == count ? " and "
							 : ", ",
				       TSI_QUOTE(names[at]));
	return tsi_text(text);
}

/* The columns that links and slow links begin with. */
static void put_what(const struct survey *survey, const struct link *link,
		     struct tscope_value *cells)
{
	const struct world *world = survey->scope->world;
	const struct transfer *first = link->first;
	const struct process_group *group = &world->groups[first->group];

	cells[LINKS_GROUP] = name_value(survey, first->group_name);
	cells[LINKS_RANKS] = tsi_text(tsi_make_group_ranks(survey->out, world, group));
	cells[LINKS_NODES] = nodes_value(survey, group);
	cells[LINKS_KIND] = tsi_text(tsi_collective_kind_name(first->kind));
	cells[LINKS_SPAN] = tsi_span_value(first->span);
	cells[LINKS_MESSAGE_BYTES] = tsi_int(first->bytes);
}

static struct tscope_value bus_value(const struct link *link)
{
	return tsi_real(link->first->bus_bytes * 1e9 / (double)link->median_ns);
}

static void put_link(const struct survey *survey, const struct link *link)
{
	struct tscope_value *cells = tsi_table_row(survey->out, TABLE_LINKS);

	put_what(survey, link, cells);
	cells[LINKS_COUNT] = tsi_int((int64_t)link->count);
	cells[LINKS_TRANSFER_NS] = tsi_int(link->median_ns);
	cells[LINKS_BUS_BYTES_PER_SECOND] = bus_value(link);
	cells[LINKS_SLOWDOWN_RATIO] = tsi_real(link->slowdown);
	cells[LINKS_P_VALUE] = tsi_real(link->p_value);
}

static void put_slow_link(const struct survey *survey, const struct link *link)
{
	double excess_ns = link->excess_ns_per_step;
	struct tscope_value *cells = tsi_table_row(survey->out, TABLE_SLOW_LINKS);

	put_what(survey, link, cells);
	cells[SLOW_LINKS_BUS_BYTES_PER_SECOND] = bus_value(link);
	cells[SLOW_LINKS_SLOWDOWN_RATIO] = tsi_real(link->slowdown);
	cells[SLOW_LINKS_P_VALUE] = tsi_real(link->p_value);
	if (isfinite(excess_ns))
		cells[SLOW_LINKS_EXCESS_NS_PER_STEP] =
			tsi_int(excess_ns < 0x1p63 ? (int64_t)round(excess_ns) : INT64_MAX);
}

static void put_links(const struct survey *survey)
{
	const struct link_list *links = &survey->links;
	size_t slow_count = 0;

	for (size_t i = 0; i < links->count && i < MAX_ROWS; i++)
		put_link(survey, &links->items[i]);
	for (size_t i = 0; i < links->count && slow_count < MAX_ROWS; i++) {
		if (!tsi_is_slow_link(&links->items[i]))
			continue;
		put_slow_link(survey, &links->items[i]);
		slow_count++;
	}
}

/* ---- facts ---- */

/* Sums of synchronising collectives: of the others nobody knows who waited. */
static void put_sums(const struct survey *survey, struct fact_sheet *out)
{
	int64_t count = 0, sized_count = 0, bytes = 0, wait_ns = 0, transfer_ns = 0;

	for (size_t i = 0; i < survey->list.count; i++) {
		const struct transfer *transfer = &survey->list.items[i];
		int64_t all_ns;

		if (!transfer->is_synchronising)
			continue;
		if (tsi_ckd_mul(&all_ns, transfer->transfer_ns, transfer->member_count))
			all_ns = INT64_MAX;
		count++;
		sized_count += transfer->bytes != NO_NUMBER;
		tsi_sum(&bytes, transfer->bytes != NO_NUMBER ? transfer->bytes : 0);
		tsi_sum(&wait_ns, transfer->wait_ns);
		tsi_sum(&transfer_ns, all_ns);
	}
	tsi_fact_int(out, COUNT, count);
	if (sized_count > 0)
		tsi_fact_int(out, BYTES, bytes);
	tsi_fact_int(out, WAIT_NS, wait_ns);
	tsi_fact_int(out, TRANSFER_NS, transfer_ns);
	tsi_sum(&transfer_ns, wait_ns);
	tsi_fact_ratio(out, WAIT_RATIO, wait_ns, transfer_ns);
}

/* Exposed time of the counted steps, all ranks together. */
static void put_exposed(const struct world *world, struct fact_sheet *out)
{
	int64_t wait_ns = 0, transfer_ns = 0, step_count = 0;

	for (size_t rank = 0; world->splits && rank < world->rank_count; rank++) {
		const struct rank_log *log = &world->logs[rank];

		for (size_t i = 0; i < log->step_count; i++) {
			if (log->steps[i].mark != TSCOPE_STEP_COUNTED)
				continue;
			tsi_sum(&wait_ns, world->splits[rank][i].wait_ns);
			tsi_sum(&transfer_ns, world->splits[rank][i].transfer_ns);
			step_count++;
		}
	}
	tsi_fact_mean(out, MEAN_EXPOSED_WAIT_NS, wait_ns, step_count);
	tsi_fact_mean(out, MEAN_EXPOSED_TRANSFER_NS, transfer_ns, step_count);
}

/* A rank that was not read may have been the last one to come. */
static void put_doubts(const struct survey *survey, struct fact_sheet *out)
{
	static const enum fact doubtful[] = { WAIT_NS, TRANSFER_NS, WAIT_RATIO,
					      MEAN_EXPOSED_WAIT_NS, MEAN_EXPOSED_TRANSFER_NS };
	const struct world *world = survey->scope->world;
	bool are_whole = true;

	for (size_t i = 0; are_whole && i < survey->list.count; i++)
		are_whole = tsi_group_is_whole(world, &world->groups[survey->list.items[i].group]);
	for (size_t i = 0; !are_whole && i < TSI_COUNT_OF(doubtful); i++)
		tsi_fact_doubt(out, doubtful[i], unread_doubt);
}

static void put_all(struct survey *survey)
{
	const struct analysis_scope *scope = survey->scope;

	tsi_put_ranks_doubt(scope, survey->out);
	put_sums(survey, survey->out);
	put_exposed(scope->world, survey->out);
	put_doubts(survey, survey->out);
	put_rows(survey);
	put_links(survey);
}

static void fill_transfers(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct survey survey = { .scope = scope, .out = out };

	if (!scope->world)
		return;
	if (scope->world->node_count > 0)
		tsi_fact_int(out, NODE_COUNT, (int64_t)scope->world->node_count);
	if (find_survey(&survey, tsi_sheet_scratch(out)) && survey.list.count > 0)
		put_all(&survey);
	tsi_intern_deinit(&survey.list.names);
}

const struct analyzer tsi_analyzer_transfers = {
	.def = {
		.id = "transfers",
		.summary = "what collectives that match take without waiting, the bandwidth that "
			   "this is, and links slower than their likes",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "traces of two or more ranks with collectives that match",
		.total = TSCOPE_TOTAL_CAPTURE,
	},
	.levels = LEVEL_RUN,
	.fill = fill_transfers,
};
