/* SPDX-License-Identifier: MIT */
/*
 * The budgets and what is in their lines: by hand, then random traces against a
 * second implementation that looks at every single nanosecond.
 */
#include "timeline/timeline.h"

#include <stdio.h>

#include "check.h"
#include "memory_sweep.h"
#include "piece_check.h"
#include "random_numbers.h"
#include "test_kept.h"
#include "trace_builder.h"

enum { MAIN = 1, BACKWARD = 2 }; /* thread ids */
enum { US = 1000 };

#define NCCL "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
#define LOADER "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
#define ENGINE "autograd::engine::evaluate_function: MmBackward0"

static struct tscope_timeline *build(struct test_trace *t)
{
	return test_timeline(test_trace_finish(t), NULL);
}

/* Lines in the order of enum tscope_budget_line. */
static void assert_budget(const struct tscope_timeline *timeline, uint32_t step,
			  const int64_t expected[TSCOPE_BUDGET_LINE_COUNT])
{
	int64_t sum_ns = 0;

	for (int line = 0; line < TSCOPE_BUDGET_LINE_COUNT; line++) {
		int64_t line_ns =
			tscope_timeline_budget(timeline, step, 0, (enum tscope_budget_line)line);
		assert_int_equal(line_ns, expected[line]);
		sum_ns += line_ns;
	}
	assert_int_equal(sum_ns, timeline->steps[step].wall_ns);
}

TEST(work_that_runs_has_its_line)
{
	struct test_trace *t = test_trace_new();

	/*
	 * compute  [100,300)      200
	 * comm     [250,400)      exposed [300,400)  100
	 * copy     [390,450)      exposed [400,450)   50
	 * fill     [440,460)      exposed [450,460)   10, in all 60
	 * before 100 and after 460: nothing is launched, so unattributed 100 + 540
	 */
	test_annotation(t, "ProfilerStep#1", MAIN, 0, 1000);
	test_kernel(t, "gemm", 0, 7, 100, 200, 0);
	test_kernel(t, NCCL, 0, 8, 250, 150, 0);
	test_memcpy(t, "Memcpy DtoD (Device -> Device)", 0, 7, 390, 60, 0, 8);
	test_memset(t, 0, 9, 440, 20, 0, 8);
	assert_budget(build(t), 0, (int64_t[]){ 200, 100, 60, 0, 0, 0, 0, 640 });
}

TEST(idle_time_follows_the_next_launch)
{
	struct test_trace *t = test_trace_new();

	/*
	 * Main thread: loader [0,100) and [290,410), within it a synchronisation
	 * [300,400); launches at 150 and 420. Device: [200,250) and [500,550).
	 *
	 *   [0,100)   data 100           [290,410) data 120, whatever the loader does
	 *   [100,160) launch 60          [410,430) launch 20
	 *   [160,200) gap 40             [430,500) gap 70
	 *   [200,250) compute 50         [500,550) compute 50
	 *   [250,290) launch 40          [550,1000) unattributed 450
	 */
	test_annotation(t, "ProfilerStep#1", MAIN, 0, 1000);
	test_annotation(t, LOADER, MAIN, 0, 100);
	test_call(t, "cudaLaunchKernel", MAIN, 150, 10, 1);
	test_kernel(t, "gemm", 0, 7, 200, 50, 1);
	test_annotation(t, LOADER, MAIN, 290, 120);
	test_call(t, "cudaStreamSynchronize", MAIN, 300, 100, 0);
	test_call(t, "cudaLaunchKernel", MAIN, 420, 10, 2);
	test_kernel(t, "gemm", 0, 7, 500, 50, 2);
	assert_budget(build(t), 0, (int64_t[]){ 100, 0, 0, 220, 0, 120, 110, 450 });
}

TEST(what_the_launching_thread_waits_for_comes_before_the_main_thread)
{
	struct test_trace *t = test_trace_new();

	/*
	 * The backward thread launches at 400; it synchronises in [100,200).
	 * The main thread waits for data in [150,300): counts where the other is inside nothing.
	 *   [0,100) launch   [100,200) sync   [200,300) data   [300,410) launch   [410,500) gap
	 */
	test_annotation(t, "ProfilerStep#1", MAIN, 0, 600);
	test_annotation(t, LOADER, MAIN, 150, 150);
	test_op(t, ENGINE, BACKWARD, 100, 100);
	test_call(t, "cudaDeviceSynchronize", BACKWARD, 100, 100, 0);
	test_call(t, "cudaLaunchKernel", BACKWARD, 400, 10, 1);
	test_kernel(t, "gemm", 0, 7, 500, 100, 1);
	assert_budget(build(t), 0, (int64_t[]){ 100, 0, 0, 100, 100, 210, 90, 0 });
}

TEST(a_copy_that_blocks_is_a_synchronisation)
{
	static const struct {
		const char *call, *copy;
		int64_t call_dur_us;
		bool blocks;
	} cases[] = {
		{ "cudaMemcpy", "Memcpy HtoD (Pinned -> Device)", 50, true },
		{ "cudaMemcpyAsync", "Memcpy DtoH (Device -> Pageable)", 300, true },
		/* Whatever it copies: a call that takes so long waits for something. */
		{ "cudaMemcpyAsync", "Memcpy DtoH (Device -> Pinned)", 300, true },
		{ "cudaMemcpyAsync", "Memcpy HtoD (Pageable -> Device)", 49, false },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		/*
		 * In us: the call starts at 100, its copy runs in [110,140); a kernel is launched
		 * and runs at 500. Idle in [100,110) and [140,500) is sync while the call lasts,
		 * and for the 40 that the host could have launched earlier.
		 */
		int64_t rest_us = cases[i].call_dur_us - 40;
		struct test_trace *t = test_trace_new();
		test_annotation(t, "ProfilerStep#1", MAIN, 100 * US, 500 * US);
		test_call(t, cases[i].call, MAIN, 100 * US, cases[i].call_dur_us * US, 1);
		test_memcpy(t, cases[i].copy, 0, 7, 110 * US, 30 * US, 1, 8);
		test_call(t, "cudaLaunchKernel", MAIN, 500 * US, 5 * US, 2);
		test_kernel(t, "gemm", 0, 7, 500 * US, 100 * US, 2);
		int64_t sync_us = cases[i].blocks ? 10 + (rest_us > 40 ? rest_us : 40) : 0;
		assert_budget(build(t), 0,
			      (int64_t[]){ 100 * US, 0, 30 * US, 0, sync_us * US,
					   (370 - sync_us) * US, 0, 0 });
	}
}

TEST(a_gap_across_steps_is_judged_by_the_later_event)
{
	struct test_trace *t = test_trace_new();

	/* Idle [60,260), launched in [150,155): step 1 has launch 40, step 2 launch 55, gap 105. */
	test_annotation(t, "ProfilerStep#1", MAIN, 0, 100);
	test_annotation(t, "ProfilerStep#2", MAIN, 100, 200);
	test_call(t, "cudaLaunchKernel", MAIN, 0, 5, 1);
	test_kernel(t, "gemm", 0, 7, 10, 50, 1);
	test_call(t, "cudaLaunchKernel", MAIN, 150, 5, 2);
	test_kernel(t, "gemm", 0, 7, 260, 40, 2);

	struct tscope_timeline *timeline = build(t);
	assert_budget(timeline, 0, (int64_t[]){ 50, 0, 0, 0, 0, 45, 5, 0 });
	assert_budget(timeline, 1, (int64_t[]){ 40, 0, 0, 0, 0, 55, 105, 0 });
}

TEST(compute_divides_over_the_phases_of_its_launches)
{
	struct test_trace *t = test_trace_new();
	const struct budget *budget;

	/*
	 * forward  [100,200)   launched under aten::mm
	 * backward [150,300)   launched by the backward thread: has [200,300)
	 * optimizer [400,450)
	 */
	test_annotation(t, "ProfilerStep#1", MAIN, 0, 500);
	test_op(t, "aten::mm", MAIN, 10, 20);
	test_call(t, "cudaLaunchKernel", MAIN, 15, 5, 1);
	test_op(t, ENGINE, BACKWARD, 40, 20);
	test_call(t, "cudaLaunchKernel", BACKWARD, 45, 5, 2);
	test_annotation(t, "Optimizer.step#SGD.step", MAIN, 80, 20);
	test_op(t, "aten::add_", MAIN, 85, 10);
	test_call(t, "cudaLaunchKernel", MAIN, 86, 5, 3);
	test_kernel(t, "gemm", 0, 7, 100, 100, 1);
	test_kernel(t, "gemm", 0, 8, 150, 150, 2);
	test_kernel(t, "gemm", 0, 7, 400, 50, 3);

	budget = tsi_timeline_budget(build(t), 0, 0);
	assert_int_equal(budget->line_ns[TSCOPE_BUDGET_COMPUTE], 250);
	assert_int_equal(budget->compute_phase_ns[PHASE_FORWARD], 100);
	assert_int_equal(budget->compute_phase_ns[PHASE_BACKWARD], 100);
	assert_int_equal(budget->compute_phase_ns[PHASE_OPTIMIZER], 50);
}

/* The second implementation: definitions only, one instant after the other. */

static bool covers(const struct tscope_trace *trace, uint32_t row, int64_t t_ns)
{
	return tsi_start_ns(&trace->spans, row) <= t_ns && t_ns < tsi_span_end(trace, row);
}

/* Of a launch that has not begun: any line of the host. test_timeline_idle.c looks closer. */
enum { LATE_HOST = TSCOPE_BUDGET_DATA_STALL };

static unsigned merged_line(unsigned line)
{
	bool is_host = line == TSCOPE_BUDGET_DATA_STALL || line == TSCOPE_BUDGET_SYNC_STALL ||
		       line == TSCOPE_BUDGET_LAUNCH_STALL;

	return is_host ? (unsigned)LATE_HOST : line;
}

/* An instant: its line, and the row because of which it is that line's (NO_ROW: none). */
struct instant {
	unsigned line;
	uint32_t row;
};

/* The first to start of those that run, device->rows being in order; NO_ROW: none. */
static uint32_t running(const struct tscope_trace *trace, const struct device *device,
			uint8_t first_class, uint8_t last_class, int64_t t_ns)
{
	for (uint32_t i = 0; i < device->row_count; i++) {
		uint8_t span_class = tsi_span_class(&trace->spans, device->rows[i]);
		if (span_class >= first_class && span_class <= last_class &&
		    covers(trace, device->rows[i], t_ns))
			return device->rows[i];
	}
	return NO_ROW;
}

static struct instant idle_at(const struct tscope_timeline *timeline, const struct device *device,
			      int64_t t_ns)
{
	const struct tscope_trace *trace = timeline->trace;
	uint32_t next = 0; /* device->rows are in order */

	while (next < device->row_count && tsi_start_ns(&trace->spans, device->rows[next]) <= t_ns)
		next++;
	if (next == device->row_count)
		return (struct instant){ TSCOPE_BUDGET_UNATTRIBUTED, NO_ROW };
	uint32_t call = tsi_device_event(trace, device->rows[next])->call;
	if (call == NO_ROW)
		return (struct instant){ TSCOPE_BUDGET_UNATTRIBUTED, NO_ROW };
	if (t_ns >= tsi_span_end(trace, call))
		return (struct instant){ TSCOPE_BUDGET_DEVICE_GAP, device->rows[next] };
	if (t_ns >= tsi_start_ns(&trace->spans, call))
		return (struct instant){ TSCOPE_BUDGET_LAUNCH_STALL, call };
	return (struct instant){ LATE_HOST, NO_ROW };
}

static struct instant instant_at(const struct tscope_timeline *timeline,
				 const struct device *device, int64_t t_ns)
{
	static const struct {
		uint8_t first_class, last_class;
		enum tscope_budget_line line;
	} work[] = {
		{ TSCOPE_SPAN_KERNEL, TSCOPE_SPAN_KERNEL, TSCOPE_BUDGET_COMPUTE },
		{ TSCOPE_SPAN_COMM, TSCOPE_SPAN_COMM, TSCOPE_BUDGET_EXPOSED_COMM },
		{ TSCOPE_SPAN_MEMCPY, TSCOPE_SPAN_MEMSET, TSCOPE_BUDGET_EXPOSED_COPY },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(work); i++) {
		uint32_t row = running(timeline->trace, device, work[i].first_class,
				       work[i].last_class, t_ns);
		if (row != NO_ROW)
			return (struct instant){ work[i].line, row };
	}
	return idle_at(timeline, device, t_ns);
}

/* What the names have of the lines, in the steps that count; by the name's id, "" is nobody. */
enum { NAMES = 64 };

struct shares {
	int64_t ns[TSCOPE_BUDGET_LINE_COUNT][NAMES];
};

static void add_share(struct shares *shares, const struct tscope_trace *trace, unsigned line,
		      uint32_t row, int64_t ns)
{
	uint32_t name = row == NO_ROW ? 0 : tsi_name_id(&trace->spans, row);

	assert_true(name < NAMES);
	line = merged_line(line);
	shares->ns[line][line == LATE_HOST ? 0 : name] += ns;
}

static void assert_parts(const struct tscope_timeline *timeline, const struct shares *expected)
{
	struct shares found = { 0 };

	for (unsigned slot = 0; slot < TSI_PART_SLOTS; slot++) {
		const struct line_parts *parts = &timeline->parts[slot];
		for (size_t i = 0; i < parts->count; i++) {
			assert_true(parts->items[i].ns > 0 && parts->items[i].count > 0);
			add_share(&found, timeline->trace, tsi_line_of_slot(slot),
				  parts->items[i].row, parts->items[i].ns);
		}
	}
	assert_memory_equal(&found, expected, sizeof(found));
}

/* Where there is communication, the instant is in a piece of its line and phase. */
static void assert_piece(const struct tscope_timeline *timeline, uint32_t device, int64_t t_ns,
			 struct instant now)
{
	uint8_t phase = now.line == TSCOPE_BUDGET_COMPUTE
				? tsi_device_event(timeline->trace, now.row)->phase
				: 0;
	const struct line_piece *piece;

	if (!timeline->pieces)
		return;
	piece = piece_at(&timeline->pieces[device], t_ns);
	assert_non_null(piece);
	assert_int_equal(merged_line(piece->line), merged_line(now.line));
	assert_int_equal(piece->phase, phase);
}

/* The pieces hold the steps and nothing else; without communication there are none. */
static void assert_pieces(const struct tscope_timeline *timeline)
{
	const struct tscope_trace *trace = timeline->trace;
	bool has_comm = false;
	int64_t wall_ns = 0;

	for (uint32_t i = 0; i < timeline->step_count; i++)
		wall_ns += timeline->steps[i].wall_ns;
	for (uint32_t row = 0; row < trace->spans.count; row++)
		has_comm |= tsi_span_class(&trace->spans, row) == TSCOPE_SPAN_COMM;
	assert_int_equal(timeline->pieces != NULL, has_comm);
	for (uint32_t d = 0; timeline->pieces && d < trace->device_count; d++) {
		assert_pieces_are_in_order(&timeline->pieces[d]);
		assert_int_equal(length_of_pieces(&timeline->pieces[d]), wall_ns);
	}
}

/* The causes sum to the lines. */
static void assert_causes(const struct budget *budget)
{
	int64_t line_ns[TSCOPE_BUDGET_LINE_COUNT] = { 0 };

	for (unsigned cause = 0; cause < IDLE_CAUSE_COUNT; cause++) {
		assert_true(budget->idle_ns[cause] >= 0);
		line_ns[tsi_line_of_cause((enum idle_cause)cause)] += budget->idle_ns[cause];
	}
	for (int line = TSCOPE_BUDGET_DATA_STALL; line < TSCOPE_BUDGET_LINE_COUNT; line++)
		assert_int_equal(line_ns[line], budget->line_ns[line]);
}

static void assert_agrees(const struct tscope_timeline *timeline, uint32_t step, uint32_t device,
			  struct shares *shares)
{
	const struct tscope_step *window = &timeline->steps[step];
	const struct budget *budget = tsi_timeline_budget(timeline, step, device);
	int64_t line_ns[TSCOPE_BUDGET_LINE_COUNT] = { 0 };
	int64_t phases_ns = 0, sum_ns = 0;

	for (int64_t t = window->start_ns; t < window->start_ns + window->wall_ns; t++) {
		struct instant now = instant_at(timeline, &timeline->trace->devices[device], t);
		line_ns[merged_line(now.line)]++;
		assert_piece(timeline, device, t, now);
		if (window->mark == TSCOPE_STEP_COUNTED)
			add_share(shares, timeline->trace, now.line, now.row, 1);
	}
	for (int line = 0; line < TSCOPE_BUDGET_LINE_COUNT; line++) {
		line_ns[merged_line(line)] -= budget->line_ns[line];
		sum_ns += budget->line_ns[line];
	}
	for (int line = 0; line < TSCOPE_BUDGET_LINE_COUNT; line++)
		assert_int_equal(line_ns[line], 0);
	assert_causes(budget);
	assert_int_equal(sum_ns, window->wall_ns);
	for (int phase = 0; phase < PHASE_COUNT; phase++)
		phases_ns += budget->compute_phase_ns[phase];
	assert_int_equal(phases_ns, budget->line_ns[TSCOPE_BUDGET_COMPUTE]);
}

enum { ROUNDS = 400, CLOCK_NS = 600, LAUNCHES = 24, WAITS = 6 };

static void add_random_work(struct test_trace *t, uint64_t *seed)
{
	static const char *const operators[] = { "aten::mm", "aten::add" };
	static const char *const kernels[] = { "gemm", "add", "softmax" };

	for (uint64_t i = 1; i <= LAUNCHES; i++) {
		int device = (int)random_below(seed, 2);
		int64_t stream = 7 + random_below(seed, 2);
		int64_t start_ns = 1 + random_below(seed, CLOCK_NS);
		int64_t dur_ns = random_below(seed, 20);
		/* Mostly before its kernel, sometimes after, sometimes not recorded. */
		int64_t launch_ns = start_ns + 5 - random_below(seed, 120);
		uint64_t correlation = random_below(seed, 8) ? i : 0;
		int64_t tid = MAIN + random_below(seed, 2);

		launch_ns = launch_ns > 0 ? launch_ns : 1;
		if (correlation && random_below(seed, 2))
			test_op(t, operators[random_below(seed, TSI_COUNT_OF(operators))], tid,
				launch_ns, 3);
		if (correlation)
			test_call(t, "cudaLaunchKernel", tid, launch_ns, 3, correlation);
		switch (random_below(seed, 4)) {
		case 0:
			test_kernel(t, NCCL, device, stream, start_ns, dur_ns, correlation);
			break;
		case 1:
			test_memcpy(t, "Memcpy DtoD (Device -> Device)", device, stream, start_ns,
				    dur_ns, correlation, 8);
			break;
		default:
			test_kernel(t, kernels[random_below(seed, TSI_COUNT_OF(kernels))], device,
				    stream, start_ns, dur_ns, correlation);
		}
	}
}

static struct tscope_trace *random_trace(uint64_t *seed)
{
	struct test_trace *t = test_trace_new();
	int64_t start_ns = 1;

	for (int i = 0; i < 4; i++) {
		char name[32];
		int64_t dur_ns = 50 + random_below(seed, 100);
		snprintf(name, sizeof(name), "ProfilerStep#%d", i);
		test_annotation(t, name, MAIN, start_ns, dur_ns);
		start_ns += dur_ns + random_below(seed, 2) * random_below(seed, 30);
	}
	for (int i = 0; i < WAITS; i++) {
		int64_t wait_ns = 1 + random_below(seed, CLOCK_NS);
		int64_t tid = MAIN + random_below(seed, 2);
		if (random_below(seed, 2))
			test_annotation(t, random_below(seed, 2) ? LOADER : "dataloader", tid,
					wait_ns, random_below(seed, 80));
		else
			test_call(t, "cudaStreamSynchronize", tid, wait_ns, random_below(seed, 80),
				  0);
	}
	add_random_work(t, seed);
	return test_trace_finish(t);
}

TEST(random_traces_agree_with_every_instant)
{
	uint64_t seed = 3;

	for (int round = 0; round < ROUNDS; round++) {
		const struct tscope_timeline_options options = { .warmup = round % 3 };
		struct tscope_trace *trace = random_trace(&seed);
		struct tscope_timeline *timeline = test_timeline(trace, &options);
		struct shares shares = { 0 };
		assert_int_equal(timeline->step_count, 4);
		for (uint32_t step = 0; step < timeline->step_count; step++)
			for (uint32_t device = 0; device < trace->device_count; device++)
				assert_agrees(timeline, step, device, &shares);
		assert_parts(timeline, &shares);
		assert_pieces(timeline);
		test_release_kept();
	}
}

TEST(too_many_budgets_are_refused)
{
	struct test_trace *t = test_trace_new();
	enum { SIDE = 1449 }; /* squared more than 2^21 */
	struct tscope_error err = { 0 };

	for (int i = 0; i < SIDE; i++) {
		test_annotation(t, "ProfilerStep#1", MAIN, 10 * i, 10);
		test_kernel(t, "gemm", i, 7, 10 * i, 5, 0);
	}
	struct tscope_timeline *timeline;
	assert_int_equal(tsi_timeline_build(&timeline, test_trace_finish(t), NULL, true, &err),
			 TSCOPE_E_LIMIT);
	assert_string_equal(err.message, "more than 2097152 budgets: 1449 steps on 1449 devices; "
					 "narrow the range of steps");
}

TEST(every_allocation_may_fail)
{
	struct test_trace *t = test_trace_new();
	uint64_t seed = 11;

	sweep_timeline(random_trace(&seed), 4);

	test_op(t, "aten::mm", MAIN, 10, 20);
	test_op(t, ENGINE, BACKWARD, 40, 20);
	sweep_timeline(test_trace_finish(t), 4);
}
