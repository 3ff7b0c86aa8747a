/* SPDX-License-Identifier: MIT */
/*
 * When a rank was ready for each of its collectives: once it was launched, and the kernels that
 * were launched before it, whose results it moves, were through. The last of these stands for all.
 */
#include "comm/log_filler.h"

#include "comm/latch.h"

struct last_kernel {
	int64_t launch_ns, end_ns; /* INT64_MIN: none */
};

struct ready_finder {
	const struct log_filler *filler;
	struct sort_pair *launches; /* of ops by launch; value: index of the op */
	size_t count;
	/* By place in launches: of the kernels launched since the launch before. */
	struct last_kernel *last;
};

static void list_launches(struct ready_finder *finder, struct arena *scratch)
{
	const struct rank_log *log = finder->filler->log;

	finder->launches = tsi_arena_new(scratch, log->op_count, sizeof(*finder->launches));
	finder->last = tsi_arena_new(scratch, log->op_count, sizeof(*finder->last));
	for (size_t i = 0; finder->last && i < log->op_count; i++) {
		finder->last[i] = (struct last_kernel){ INT64_MIN, INT64_MIN };
		if (log->ops[i].launch_ns != NO_NUMBER)
			finder->launches[finder->count++] =
				(struct sort_pair){ tsi_sort_key_of_int64(log->ops[i].launch_ns),
						    i };
	}
	tsi_latch_sort(scratch, finder->launches, finder->count);
}

static bool is_between(const struct ready_finder *finder, size_t at, uint64_t key)
{
	return (at == finder->count || finder->launches[at].key > key) &&
	       (at == 0 || finder->launches[at - 1].key <= key);
}

static void note_kernels(struct ready_finder *finder)
{
	const struct tscope_trace *trace = finder->filler->trace;
	const struct device *device = &trace->devices[finder->filler->device];
	size_t at = 0; /* kernels come nearly in the order of launches */

	for (uint32_t i = 0; i < device->row_count; i++) {
		uint32_t row = device->rows[i];
		if (tsi_span_class(&trace->spans, row) != TSCOPE_SPAN_KERNEL ||
		    tsi_device_event(trace, row)->call == NO_ROW)
			continue;
		int64_t launch_ns = tsi_timeline_launch_time(trace, row);
		uint64_t key = tsi_sort_key_of_int64(launch_ns);
		if (!is_between(finder, at, key))
			at = tsi_count_up_to(finder->launches, finder->count, key);
		if (at == finder->count || launch_ns < finder->last[at].launch_ns)
			continue;
		finder->last[at] = (struct last_kernel){ launch_ns, tsi_span_end(trace, row) };
	}
}

static void set_ready(struct ready_finder *finder)
{
	struct rank_log *log = finder->filler->log;
	struct last_kernel last = { INT64_MIN, INT64_MIN };

	for (size_t i = 0; i < finder->count; i++) {
		struct rank_op *op = &log->ops[finder->launches[i].value];
		int64_t ready_ns = op->launch_ns;

		if (finder->last[i].launch_ns != INT64_MIN)
			last = finder->last[i];
		if (ready_ns < last.end_ns)
			ready_ns = last.end_ns;
		op->ready_ns = ready_ns < op->start_ns ? ready_ns : op->start_ns;
	}
}

static void set_steps(const struct log_filler *filler)
{
	struct rank_log *log = filler->log;

	for (size_t i = 0; i < log->op_count; i++) {
		struct rank_op *op = &log->ops[i];
		uint32_t step = tsi_timeline_step_at(filler->timeline, op->launch_ns != NO_NUMBER
									       ? op->launch_ns
									       : op->start_ns);
		if (step != NO_ROW)
			op->step = filler->timeline->steps[step].number;
	}
}

void tsi_log_find_ready(const struct log_filler *filler)
{
	struct ready_finder finder = { .filler = filler };
	struct arena scratch = { 0 };

	list_launches(&finder, &scratch);
	set_steps(filler);
	if (filler->trace->device_count > 0)
		note_kernels(&finder);
	set_ready(&finder);
	tsi_latch_deinit(&filler->log->arena, &scratch);
}
