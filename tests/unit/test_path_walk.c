/* SPDX-License-Identifier: MIT */
/*
 * Where the critical path begins and ends, and what holds for any trace: its pieces do not
 * overlap and lie in steps that count.
 */
#include "path_check.h"

#include <stdio.h>

#include "check.h"
#include "fail_alloc.h"
#include "random_numbers.h"

enum { MAIN = 1, BACKWARD = 2, OTHER = 3 }; /* thread ids */

/* A call of 10 ns that launches a kernel on stream 7. */
static void launch(struct test_trace *t, uint64_t correlation, int64_t call_ns, const char *kernel,
		   int64_t start_ns, int64_t dur_ns)
{
	test_call(t, "cudaLaunchKernel", MAIN, call_ns, 10, correlation);
	test_kernel(t, kernel, 0, 7, start_ns, dur_ns, correlation);
}

/* ---- steps --------------------------------------------------------------------------- */

/* The chain goes through a step that does not count, and nothing of it is handed out. */
TEST(steps_that_do_not_count)
{
	struct test_trace *t = test_trace_new();
	struct tscope_timeline_options options = { .warmup = 1 };

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 100);
	test_annotation(t, "ProfilerStep#2", MAIN, 100, 100);
	test_annotation(t, "ProfilerStep#3", MAIN, 200, 100);
	test_op(t, "aten::a", MAIN, 50, 50);
	test_op(t, "aten::b", MAIN, 120, 130);
	check_path_of(t, &options,
		      "host 100 120 -\n"
		      "host 120 200 aten::b\n"
		      "host 200 300 -\n");
}

/* A kernel that began before them is cut. */
TEST(kernel_across_the_begin)
{
	struct test_trace *t = test_trace_new();
	struct tscope_timeline_options options = { .warmup = 1 };

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 100);
	test_annotation(t, "ProfilerStep#2", MAIN, 100, 100);
	launch(t, 1, 10, "k1", 20, 130);
	launch(t, 2, 110, "k2", 160, 100);
	check_path_of(t, &options,
		      "compute 100 150 k1\n"
		      "gap 150 160 k2\n"
		      "compute 160 260 k2\n");
}

/*
 * The second step has half the kernels of the first: its end is cut. That of the first is at
 * 200, where the second began, after its marker and its kernels, which ended at 150.
 */
TEST(end_between_markers)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 100);
	test_annotation(t, "ProfilerStep#2", MAIN, 200, 100);
	launch(t, 1, 10, "k1", 20, 30);
	launch(t, 2, 30, "k2", 60, 90);
	launch(t, 3, 210, "k3", 220, 30);
	check_path(t, "host 0 10 -\n"
		      "host 10 20 cudaLaunchKernel\n"
		      "host 20 30 -\n"
		      "host 30 40 cudaLaunchKernel\n"
		      "host 40 100 -\n"
		      "host 100 200 -\n");
}

/*
 * The last step launches one kernel, those before two each: its end is cut, and it does not
 * count. The second one's kernels end at 260, after it began, and that is where the chain begins.
 */
TEST(cut_last_step)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 100);
	test_annotation(t, "ProfilerStep#2", MAIN, 100, 100);
	test_annotation(t, "ProfilerStep#3", MAIN, 200, 100);
	launch(t, 1, 10, "k1", 20, 30);
	launch(t, 2, 30, "k2", 60, 50);
	launch(t, 3, 110, "k3", 120, 30);
	launch(t, 4, 130, "k4", 160, 100);
	launch(t, 5, 210, "k5", 270, 30);
	/* Launches take 10 ns. k4 waited for k3, which was prompt. */
	check_path(t, "host 0 10 -\n"
		      "host 10 20 cudaLaunchKernel\n"
		      "host 20 30 -\n"
		      "host 30 40 cudaLaunchKernel\n"
		      "host 40 100 -\n"
		      "host 100 110 -\n"
		      "launch 110 120 k3\n"
		      "compute 120 150 k3\n"
		      "gap 150 160 k4\n"
		      "compute 160 200 k4\n");
}

/* ---- any trace ----------------------------------------------------------------------- */

static void add_random_span(struct test_trace *t, uint64_t *chance, int64_t start_ns,
			    int64_t dur_ns)
{
	static const char *const calls[] = { "cudaLaunchKernel", "cudaDeviceSynchronize",
					     "cudaMemcpyAsync", "cudaGraphLaunch",
					     "cudaEventRecord" };
	int64_t tid = 1 + random_below(chance, 4);

	switch (random_below(chance, 8)) {
	case 0:
		test_annotation(t, "enumerate(DataLoader)#next", tid, start_ns, dur_ns);
		break;
	case 1:
		test_annotation(t, "forward", tid, start_ns, dur_ns);
		break;
	case 2:
		test_op(t, "autograd::engine::evaluate_function: Mm", BACKWARD, start_ns, dur_ns);
		break;
	case 3:
		test_annotation(t, "gloo:all_reduce", OTHER, start_ns, dur_ns);
		break;
	case 4:
	case 5:
		test_op(t, "aten::mm", tid, start_ns, dur_ns);
		break;
	default:
		test_call(t, calls[random_below(chance, TSI_COUNT_OF(calls))], tid, start_ns,
			  dur_ns, random_below(chance, 12));
	}
}

static void add_random_event(struct test_trace *t, uint64_t *chance, int64_t start_ns,
			     int64_t dur_ns)
{
	static const char *const names[] = { "k", "ncclKernel_AllReduce", "j" };
	static const char *const records[] = { "Event Sync", "Stream Wait Event", "Stream Sync",
					       "Context Sync" };
	int device = (int)random_below(chance, 2);
	int64_t stream = random_below(chance, 3);
	uint64_t correlation = random_below(chance, 12);
	char args[160];

	switch (random_below(chance, 6)) {
	case 0:
		test_memcpy(t, "Memcpy HtoD (Pageable -> Device)", device, stream, start_ns, dur_ns,
			    correlation, 8);
		break;
	case 1:
		snprintf(args, sizeof(args),
			 "\"wait_on_stream\": %d, \"wait_on_cuda_event_record_corr_id\": %d",
			 (int)random_below(chance, 4) - 1, (int)random_below(chance, 13) - 1);
		test_device_args(t, "cuda_sync", records[random_below(chance, 4)], device, stream,
				 start_ns, dur_ns, correlation, args);
		break;
	default:
		test_kernel(t, names[random_below(chance, TSI_COUNT_OF(names))], device, stream,
			    start_ns, dur_ns, correlation);
	}
}

/* Spans and events of any length and order, that begin together or take no time. */
static struct test_trace *random_trace(uint64_t *chance)
{
	struct test_trace *t = test_trace_new();
	int64_t step_count = random_below(chance, 5), scale = random_below(chance, 3) ? 1 : 2000;
	int64_t host_count = random_below(chance, 40), device_count = random_below(chance, 3) * 10;

	test_op(t, "aten::first", MAIN, 0, 1);
	for (int64_t i = 0; i < step_count; i++)
		test_annotation(t, i % 2 ? "ProfilerStep#1" : "ProfilerStep#2", MAIN,
				i * 50 * scale, random_below(chance, 60) * scale);
	for (int64_t i = 0; i < host_count; i++)
		add_random_span(t, chance, random_below(chance, 200) * scale,
				random_below(chance, 60) * scale);
	for (int64_t i = 0; i < device_count; i++)
		add_random_event(t, chance, random_below(chance, 250) * scale,
				 random_below(chance, 40) * scale);
	return t;
}

static bool is_in_counted_step(const struct walked_path *w, const struct path_piece *piece)
{
	for (uint32_t i = 0; i < tscope_timeline_step_count(w->timeline); i++) {
		struct tscope_step step = tscope_timeline_step(w->timeline, i);
		if (step.mark == TSCOPE_STEP_COUNTED && piece->start_ns >= step.start_ns &&
		    piece->end_ns <= step.start_ns + step.wall_ns)
			return true;
	}
	return false;
}

/* Without a device, and so without a hole, the chain is as long as the steps that count. */
static void check_length(const struct walked_path *w)
{
	int64_t length_ns = 0, wall_ns = 0;

	for (size_t i = 0; i < w->pieces.count; i++)
		length_ns += w->pieces.items[i].end_ns - w->pieces.items[i].start_ns;
	for (uint32_t i = 0; i < tscope_timeline_step_count(w->timeline); i++) {
		struct tscope_step step = tscope_timeline_step(w->timeline, i);
		if (step.mark == TSCOPE_STEP_COUNTED)
			wall_ns += step.wall_ns;
	}
	assert_true(length_ns <= wall_ns);
	if (w->trace->device_count == 0)
		assert_int_equal(length_ns, wall_ns);
}

TEST(any_trace)
{
	uint64_t chance = 7;

	for (int round = 0; round < 4000; round++) {
		struct walked_path w = walk_path(random_trace(&chance), NULL);
		for (size_t i = 0; i < w.pieces.count; i++) {
			const struct path_piece *piece = &w.pieces.items[i];
			assert_true(piece->start_ns < piece->end_ns);
			assert_true(i == 0 || piece[-1].end_ns <= piece->start_ns);
			assert_true(is_in_counted_step(&w, piece));
		}
		check_length(&w);
		walked_path_free(&w);
	}
}

TEST(no_memory)
{
	struct arena scratch = { 0 };
	uint64_t chance = 11;

	for (int round = 0; round < 20; round++) {
		struct walked_path w = walk_path(random_trace(&chance), NULL);
		struct alloc_sweep sweep = { 0 };
		while (alloc_sweep_next(&sweep)) {
			w.pieces.count = 0;
			alloc_sweep_start(&sweep);
			tsi_path_walk(w.timeline, &w.pieces.sink, &scratch);
			alloc_sweep_check(&sweep, tsi_arena_status(&scratch, &sweep.err));
			tsi_arena_deinit(&scratch);
		}
		walked_path_free(&w);
	}
}
