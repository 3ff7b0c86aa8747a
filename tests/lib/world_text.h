/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_WORLD_TEXT_H
#define TSCOPE_TESTS_WORLD_TEXT_H

#include "analysis_check.h"
#include "comm/world.h"

/*
 * The traces of a run's ranks as text, for tests: a line for each rank, and below it for each step,
 * each stretch of its time and each collective; times are start and end in ns.
 *
 *	struct test_world *w = test_world(
 *		"rank 0 node=a device=H100\n"
 *		"step 1 0 1000\n"
 *		"compute 0 400\n"
 *		"exposed_comm 400 500\n"
 *		"compute 500 1000\n"
 *		"all_reduce 300 500 group=dp ranks=0,1 seq=0 bytes=64\n"
 *		"kernel gemm 3 900 blocks=96\n"
 *		"rank 1 clock=50 …");
 *
 * It is freed when the test ends.
 *
 * A rank: node= (its host name), device=, ordinal= and visible= (device), clock= (added to all its times), host (no device).
 * A step: its number and a mark where it has one ("step 1 0 1000 warmup").
 * A stretch: a line of the budget, which must not overlap others. Time of a step that no line has
 * is device_gap. Of a collective that stood still: exposed_comm.
 * A collective: its kind, group= (description), name=, ranks= or size=, seq=, bytes=, bus= (bus bytes), sent=, received=,
 * stream=, ready=, launch=, dtype=, peer=, step= (else the one that it starts in), and the words
 * send, cut. "send_recv 10 20 send peer=1".
 * A kernel (of the steps that count): name, count, ns, blocks=, comm.
 * A place (likewise): name, ns, start and ns of the longest.
 */
struct test_world {
	struct test_kept kept;
	struct rank_log *logs;
	struct step_series *series;
	size_t rank_count;
	struct world *world;
};

/* The logs, with their points, and a world of them. The test fails where the text is wrong. */
struct test_world *test_world(const char *text);

/* The logs and their points only, with an empty world, for tests of a stage. */
struct test_world *test_world_of_logs(const char *text);

/*
 * Own time, waiting, transfer and what is unsplit are the wall time of each step of each rank, and
 * none is negative; test_world() looks.
 */
void check_steps_add_up(const struct world *world);

/* Runs a stage of comm/world.h; its status. */
static inline enum tscope_status test_stage(void (*stage)(struct world *world), struct world *world,
					    struct tscope_error *err)
{
	stage(world);
	return tsi_arena_status(&world->arena, err);
}

/*
 * The facts of the run (analysis_check.h). Its ranks' steps, which move in,
 * are made of the stretches: compute is forward work, exposed_comm communication, data_stall data,
 * all else other. options may be NULL.
 */
struct analyzed *analyze_world(struct test_world *w, const struct tscope_analysis_options *options);

#endif
