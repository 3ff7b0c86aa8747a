/* SPDX-License-Identifier: MIT */
/*
 * Contents of Composer's files besides spans: metadata events (the rank, the moment that all ranks
 * wrote down together), and numbers of batches in args.
 *
 * Its trace handler copies the events of torch.profiler into its own file, with the rank for
 * their pid. Since 2024 torch counts time from the begin of a period of 7889238 s (a quarter
 * of a year) and says so behind the events, where the copy loses it: what would lie half a
 * century before Composer's own events and belongs into their day is moved there.
 */
#include "model/trace/composer.h"

#include "base/ckd.h"
#include "decode/json.h"
#include "model/trace/build.h"

static const int64_t day_ns = INT64_C(86400000000000);
static const int64_t torch_period_ns = INT64_C(7889238000000000);

/* Composer's merger first gives every thread this index, to be displayed last. */
enum { MERGED_SORT_INDEX = 99999 };

/* More threads than these say nothing of their rank. */
enum { MAX_COMPOSER_RANKS = 1 << 16 };

bool tsi_callback_name(struct str text, struct callback_name *ret)
{
	static const struct str kinds[] = { { "callback", 8 }, { "algorithm", 9 } };
	static const struct str infix = { "/event/", 7 };

	for (size_t i = 0; i < TSI_COUNT_OF(kinds); i++) {
		size_t skipped = kinds[i].length + 1;
		if (!tsi_str_has_prefix(text, kinds[i]) || text.length <= skipped ||
		    text.data[kinds[i].length] != '/')
			continue;
		struct str rest = tsi_str_tail(text, skipped);
		ptrdiff_t at = tsi_str_find(rest, infix);
		if (at <= 0)
			return false;
		size_t behind = (size_t)at + infix.length;
		*ret = (struct callback_name){
			.kind = kinds[i],
			.name = { rest.data, (size_t)at },
			.event = { rest.data + behind, rest.length - behind },
		};
		return true;
	}
	return false;
}

bool tsi_is_profiler_callback(const struct callback_name *name)
{
	static const char *const classes[] = { "JSONTraceHandler", "TorchProfiler",
					       "SystemProfiler", "DataloaderProfiler" };

	for (size_t i = 0; i < TSI_COUNT_OF(classes); i++)
		if (tsi_str_is(name->kind, "callback") &&
		    tsi_str_equal(name->name, tsi_str_of(classes[i])))
			return true;
	return false;
}

bool tsi_is_composer_name(struct str name)
{
	return tsi_str_starts(name, "event/") || tsi_str_starts(name, "callback/") ||
	       tsi_str_starts(name, "algorithm/") || tsi_str_starts(name, "dataloader/");
}

bool tsi_is_evaluation(struct str name)
{
	return tsi_str_is(name, "event/eval") || tsi_str_starts(name, "event/eval_");
}

/* ---- metadata events ----------------------------------------------------------------- */

/* Rank data of this event's thread so far; NULL: too many threads, or a failure. */
static struct composer_rank *find_rank(struct builder *b, const struct raw_event *event)
{
	struct tscope_trace *trace = b->trace;
	struct str tid_text = event->tid.length ? event->tid : event->pid;

	if (trace->composer_rank_count == MAX_COMPOSER_RANKS)
		return NULL;
	uint32_t pid = tsi_builder_id(b, &trace->names, event->pid);
	uint32_t tid = tsi_builder_id(b, &trace->names, tid_text);
	uint64_t key = tsi_key_of_pair(pid, tid);
	uint32_t index = tsi_key_map_find(&b->composer_rank_of, key);
	if (index != NO_ROW)
		return &trace->composer_ranks[index];
	tsi_builder_put(b, &b->composer_rank_of, key, (uint32_t)trace->composer_rank_count);
	struct composer_rank *rank =
		tsi_builder_push(b, &trace->composer_ranks, &trace->composer_rank_count,
				 &trace->composer_rank_capacity, sizeof(*rank));
	if (rank)
		*rank = (struct composer_rank){
			.pid = pid,
			.tid = tid,
			.rank = -1,
			.sync_ns = NO_NUMBER,
			.sync_error_ns = NO_NUMBER,
		};
	return rank;
}

/* The first of several recordings in a file counts, as in Composer's own merger. */
static void put_microseconds(int64_t *ns, int64_t value)
{
	int64_t product;

	if (*ns == NO_NUMBER && value >= 0 && !tsi_ckd_mul(&product, value, INT64_C(1000)))
		*ns = product;
}

void tsi_take_composer_event(struct builder *b, const struct raw_event *event)
{
	bool is_rank = tsi_str_is(event->name, "global_rank");
	bool is_sync = tsi_str_is(event->name, "clock_sync_timestamp_us");
	int64_t value;

	if (!is_rank && !is_sync && !tsi_str_is(event->name, "clock_sync_error_bound"))
		return;
	if (!tsi_json_to_int64(tsi_json_object_get(event->args, TSI_STR("value")), &value))
		return;
	struct composer_rank *rank = find_rank(b, event);
	if (!rank)
		return;
	b->trace->is_composer = true;
	if (is_rank)
		rank->rank = value >= 0 ? value : rank->rank;
	else
		put_microseconds(is_sync ? &rank->sync_ns : &rank->sync_error_ns, value);
}

void tsi_note_sort_index(struct builder *b, const struct raw_event *event)
{
	int64_t index;

	if (tsi_json_to_int64(tsi_json_object_get(event->args, TSI_STR("sort_index")), &index))
		b->trace->is_merged |= index == MERGED_SORT_INDEX;
}

/* ---- batches ------------------------------------------------------------------------- */

uint32_t tsi_add_batch(struct builder *b, const struct raw_event *event)
{
	struct tscope_trace *trace = b->trace;
	int64_t number;

	if (!tsi_json_to_int64(tsi_json_object_get(event->args, TSI_STR("batch")), &number))
		return NO_ROW;
	int64_t *batch = tsi_builder_push(b, &trace->batches, &trace->batch_count,
					  &trace->batch_capacity, sizeof(*batch));
	if (!batch)
		return NO_ROW;
	*batch = number;
	return (uint32_t)trace->batch_count - 1;
}

/* ---- one clock ----------------------------------------------------------------------- */

static int64_t first_sync(const struct tscope_trace *trace)
{
	for (size_t i = 0; i < trace->composer_rank_count; i++)
		if (trace->composer_ranks[i].sync_ns != NO_NUMBER)
			return trace->composer_ranks[i].sync_ns;
	return NO_NUMBER;
}

/* Where a time counts from the begin of the period that holds sync_ns: moves it. */
static bool move_time(int64_t *time_ns, int64_t sync_ns)
{
	int64_t moved_ns = *time_ns + (sync_ns - sync_ns % torch_period_ns);

	if (*time_ns < -day_ns || *time_ns > torch_period_ns + day_ns ||
	    moved_ns < sync_ns - day_ns || moved_ns > sync_ns + day_ns)
		return false;
	*time_ns = moved_ns;
	return true;
}

/* Sync_ns within the limits of times, and so late that no time could be meant both ways. */
static bool is_far(int64_t sync_ns)
{
	return sync_ns != NO_NUMBER && sync_ns >= 10 * torch_period_ns && sync_ns <= TIME_LIMIT_NS;
}

void tsi_join_composer_clocks(struct builder *b)
{
	struct tscope_trace *trace = b->trace;
	int64_t sync_ns = first_sync(trace);
	uint64_t moved_count = 0;

	if (!trace->is_kineto || !is_far(sync_ns))
		return;
	for (uint32_t row = 0; row < trace->spans.count; row++) {
		int64_t start_ns = tsi_start_ns(&trace->spans, row);
		if (!move_time(&start_ns, sync_ns))
			continue;
		tsi_time_put(&trace->spans.starts, row, start_ns);
		moved_count++;
	}
	for (size_t i = 0; i < trace->allocator_point_count; i++)
		moved_count += move_time(&trace->allocator_points[i].time_ns, sync_ns);
	for (size_t i = 0; i < trace->sync_record_count; i++)
		(void)move_time(&trace->sync_records[i].start_ns, sync_ns);
	if (trace->capture_start_ns != NO_NUMBER && move_time(&trace->capture_start_ns, sync_ns))
		(void)move_time(&trace->capture_end_ns, sync_ns);
	if (b->window_mark_ns != NO_NUMBER)
		(void)move_time(&b->window_mark_ns, sync_ns);
	b->sink.diagnostics[TSCOPE_DIAGNOSTIC_moved_clock] += moved_count;
}

/* ---- what the trace is --------------------------------------------------------------- */

static bool has_composer_names(const struct intern *names)
{
	struct callback_name name;

	for (uint32_t id = 0; id < names->count; id++) {
		struct str text = tsi_intern_text(names, id);
		if (tsi_str_is(text, "event/train_batch") || tsi_callback_name(text, &name))
			return true;
	}
	return false;
}

/* The only rank that is said, or -1. */
int64_t tsi_only_composer_rank(const struct tscope_trace *trace)
{
	int64_t rank = -1;

	for (size_t i = 0; i < trace->composer_rank_count; i++) {
		int64_t said = trace->composer_ranks[i].rank;

		if (said >= 0 && rank >= 0 && said != rank)
			return -1;
		rank = said >= 0 ? said : rank;
	}
	return rank;
}

void tsi_describe_composer(struct tscope_trace *trace)
{
	struct tscope_trace_info *info = &trace->info;
	int64_t sync_ns = first_sync(trace);

	if (!trace->is_kineto && !trace->is_viztracer && !trace->is_composer)
		trace->is_composer = has_composer_names(&trace->names);
	if (!trace->is_composer)
		return;
	info->format = "composer";
	if (info->rank < 0)
		info->rank = tsi_only_composer_rank(trace);
	/* Its times are Unix time: the sync, which says so, was between the events. */
	if (!info->has_base_time && is_far(sync_ns) && sync_ns > info->first_ns - day_ns &&
	    sync_ns < info->last_ns + day_ns)
		info->has_base_time = true;
}
