/* SPDX-License-Identifier: MIT */
/*
 * Two ranks' kernels side by side. With n calls of mean duration t and b blocks each, and those of
 * the usual rank n0, t0, b0, a name's difference n t - n0 t0 is
 *
 *	work    (n - n0) t0 + n t0 (b / b0 - 1)
 *	longer  n (t - t0 b / b0)
 */
#include "analyze/ranks/kernel_changes.h"

#include "base/bisect.h"

#include <math.h>

/* A kernel of a rank, a step. */
struct usage {
	double calls, call_ns, call_blocks; /* blocks: 0 where not said */
};

static double count_steps(const struct rank_log *log)
{
	size_t count = 0;

	for (size_t i = 0; i < log->step_count; i++)
		count += log->steps[i].mark == TSCOPE_STEP_COUNTED;
	return (double)count;
}

static struct usage usage_of(const struct rank_kernel *kernel, double steps)
{
	double count = (double)kernel->count;

	return (struct usage){ count / steps, (double)kernel->total_ns / count,
			       (double)kernel->blocks / count };
}

static bool is_counted(const struct rank_kernel *kernel)
{
	return !kernel->is_comm && kernel->count > 0 && kernel->total_ns >= 0;
}

/* The kernel of this name, or NULL. */
static const struct rank_kernel *find_kernel(const struct rank_log *log, struct str name)
{
	uint32_t id = tsi_intern_find(&log->names, name);
	size_t low = 0, high = log->kernel_count;

	TSI_BISECT(low, high, log->kernels[middle].name < id);
	if (low == log->kernel_count || log->kernels[low].name != id ||
	    !is_counted(&log->kernels[low]))
		return NULL;
	return &log->kernels[low];
}

/* Expected duration of calls on the usual rank: scaled by their blocks, where both state these. */
static double expected_call_ns(const struct usage *own, const struct usage *usual)
{
	if (own->call_blocks > 0 && usual->call_blocks > 0)
		return usual->call_ns * own->call_blocks / usual->call_blocks;
	return usual->call_ns;
}

/* Two ranks, and their steps. */
struct pair {
	const struct rank_log *rank, *usual;
	double steps, usual_steps;
};

static void add_kernel(struct kernel_changes *changes, const struct pair *pair,
		       const struct rank_kernel *kernel)
{
	struct usage own = usage_of(kernel, pair->steps);
	struct str name = tsi_intern_text(&pair->rank->names, kernel->name);
	const struct rank_kernel *same = find_kernel(pair->usual, name);

	changes->calls += own.calls;
	if (!same) {
		changes->other_ns += own.calls * own.call_ns;
		return;
	}
	struct usage usual = usage_of(same, pair->usual_steps);
	double expected_ns = expected_call_ns(&own, &usual);
	double longer_ns = own.calls * (own.call_ns - expected_ns);

	changes->expected_ns += own.calls * expected_ns;
	changes->work_ns += own.calls * expected_ns - usual.calls * usual.call_ns;
	changes->longer_ns += longer_ns;
	if (longer_ns <= changes->longest_ns || !(expected_ns > 0))
		return;
	changes->longest = name;
	changes->longest_ns = longer_ns;
	changes->longest_ratio = own.call_ns / expected_ns - 1;
}

/* Names that only the usual rank has. */
static void add_unused(struct kernel_changes *changes, const struct pair *pair,
		       const struct rank_kernel *kernel)
{
	struct usage usual = usage_of(kernel, pair->usual_steps);
	struct str name = tsi_intern_text(&pair->usual->names, kernel->name);

	changes->usual_calls += usual.calls;
	if (!find_kernel(pair->rank, name))
		changes->other_ns -= usual.calls * usual.call_ns;
}

/* How much of the time is in kernels that last longer by no less than half of the mean ratio. */
static void find_even(struct kernel_changes *changes, const struct pair *pair)
{
	double even_ns = 0;

	for (size_t i = 0; i < pair->rank->kernel_count; i++) {
		const struct rank_kernel *kernel = &pair->rank->kernels[i];
		const struct rank_kernel *same =
			find_kernel(pair->usual, tsi_intern_text(&pair->rank->names, kernel->name));

		if (!is_counted(kernel) || !same)
			continue;
		struct usage own = usage_of(kernel, pair->steps);
		struct usage usual = usage_of(same, pair->usual_steps);
		double expected_ns = expected_call_ns(&own, &usual);

		if (!(own.call_ns / expected_ns - 1 >= changes->longer_ratio / 2))
			continue;
		even_ns += own.calls * expected_ns;
		changes->even_count++;
	}
	changes->even_share = changes->expected_ns > 0 ? even_ns / changes->expected_ns : 0;
}

void tsi_kernel_changes(struct kernel_changes *changes, const struct rank_log *rank,
			const struct rank_log *usual)
{
	struct pair pair = { rank, usual, count_steps(rank), count_steps(usual) };

	*changes = (struct kernel_changes){ 0 };
	if (pair.steps == 0 || pair.usual_steps == 0)
		return;
	for (size_t i = 0; i < rank->kernel_count; i++)
		if (is_counted(&rank->kernels[i]))
			add_kernel(changes, &pair, &rank->kernels[i]);
	for (size_t i = 0; i < usual->kernel_count; i++)
		if (is_counted(&usual->kernels[i]))
			add_unused(changes, &pair, &usual->kernels[i]);
	changes->excess_ns = changes->work_ns + changes->longer_ns + changes->other_ns;
	if (changes->expected_ns > 0)
		changes->longer_ratio = changes->longer_ns / changes->expected_ns;
	find_even(changes, &pair);
}
