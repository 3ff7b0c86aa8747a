/* SPDX-License-Identifier: MIT */
/*
 * Why a rank is late: the line of its budget that exceeds the others' most and, where that is
 * compute, its kernels beside those of a usual rank.
 */
#include "analyze/ranks/straggler_cause.h"

#include "analyze/ranks/code_place.h"
#include "analyze/ranks/kernel_changes.h"
#include "analyze/shared/robust.h"
#include "base/scaled_text.h"
#include "comm/world.h"

enum { LINES = TSCOPE_BUDGET_LINE_COUNT };

/* Kernels last longer throughout: so many of them, with so much of the time. */
enum { MIN_EVEN_KERNELS = 3 };
static const double min_even_share = 0.8;
/* By less nobody can say what makes them longer. */
static const double min_longer_ratio = 0.003;

/* A line with most of the excess: "it waits 1.200 ms longer per step for its data loader". */
struct line_words {
	enum straggler_cause cause;
	const char *before, *after; /* the excess */
};

static const struct line_words lines[LINES] = {
	/* for its kernels to say */
	[TSCOPE_BUDGET_COMPUTE] = { STRAGGLER_UNKNOWN, "it computes",
				    "longer per step, which its kernels do not explain" },
	[TSCOPE_BUDGET_EXPOSED_COMM] = { STRAGGLER_UNKNOWN, "it alone communicates",
					 "longer per step" },
	[TSCOPE_BUDGET_EXPOSED_COPY] = { STRAGGLER_COPIES, "its device does nothing but copy for",
					 "more per step" },
	[TSCOPE_BUDGET_DATA_STALL] = { STRAGGLER_SLOW_LOADER, "it waits",
				       "longer per step for its data loader" },
	[TSCOPE_BUDGET_SYNC_STALL] = { STRAGGLER_SYNC, "its device idles",
				       "longer per step while its host waits in synchronizing "
				       "calls" },
	[TSCOPE_BUDGET_LAUNCH_STALL] = { STRAGGLER_SLOW_HOST, "its device waits",
					 "longer per step for its host to launch work" },
	[TSCOPE_BUDGET_DEVICE_GAP] = { STRAGGLER_UNKNOWN, "gaps between its queued kernels take",
				       "more per step" },
	[TSCOPE_BUDGET_UNATTRIBUTED] = { STRAGGLER_UNKNOWN, "its device idles",
					 "longer per step, which nothing in its trace explains" },
};

static const struct line_words no_operator = { STRAGGLER_SLOW_HOST,
					       "its main thread runs no operator for",
					       "more per step" };

const char *tsi_straggler_cause_name(enum straggler_cause cause)
{
	static const char *const names[] = { STRAGGLER_CAUSES(TSI_NAMED_TEXT) };

	return names[cause];
}

/* ---- lines ---- */

static int64_t mean_line(const struct local_time *local, size_t rank, size_t line)
{
	return tsi_mean(local->line_ns[rank * LINES + line], (int64_t)local->step_count).integer;
}

static int64_t mean_total(const struct local_time *local, size_t rank)
{
	return tsi_mean(tsi_local_ns(local, rank), (int64_t)local->step_count).integer;
}

static bool is_other(const struct late_ranks *late, size_t rank, size_t other)
{
	return other != rank && late->roles.roles[other] == late->roles.roles[rank];
}

/* line: LINES is all of them. */
static struct straggler_line compare_line(const struct straggler_search *search, size_t rank,
					  size_t line)
{
	const struct late_ranks *late = search->late;
	const struct local_time *local = &late->local;
	struct straggler_line found = { 0 };
	size_t count = 0;

	for (size_t i = 0; i < late->rank_count; i++) {
		int64_t ns = line < LINES ? mean_line(local, i, line) : mean_total(local, i);

		if (i == rank)
			found.rank_ns = ns;
		else if (is_other(late, rank, i))
			search->numbers[count++] = (double)ns;
	}
	found.others_ns = tsi_round_ns(tsi_median(search->numbers, count));
	return found;
}

/* ---- kernels ---- */

/* The other rank of its role that is nearest to their median of compute; NULL: there is none. */
static const struct rank_log *find_usual(const struct analysis_scope *scope,
					 const struct late_ranks *late, size_t rank,
					 int64_t usual_ns)
{
	int64_t nearest_ns = INT64_MAX;
	size_t nearest = rank;

	for (size_t i = 0; i < late->rank_count; i++) {
		int64_t ns = mean_line(&late->local, i, TSCOPE_BUDGET_COMPUTE);
		int64_t off_ns = ns > usual_ns ? ns - usual_ns : usual_ns - ns;

		if (!is_other(late, rank, i) || off_ns >= nearest_ns)
			continue;
		nearest_ns = off_ns;
		nearest = i;
	}
	return nearest != rank ? &scope->world->logs[nearest] : NULL;
}

static enum straggler_cause cause_of_kernels(const struct kernel_changes *changes)
{
	/* Names that only one has are other work where it is more calls, else another choice. */
	bool has_more_calls = changes->calls > 1.005 * changes->usual_calls;
	double work_ns = changes->work_ns + (has_more_calls ? changes->other_ns : 0);

	if (!(changes->excess_ns > 0))
		return STRAGGLER_UNKNOWN;
	if (work_ns >= changes->excess_ns / 2)
		return STRAGGLER_MORE_WORK;
	if (changes->longer_ratio < min_longer_ratio)
		return STRAGGLER_UNKNOWN;
	return changes->even_count >= MIN_EVEN_KERNELS && changes->even_share >= min_even_share
		       ? STRAGGLER_SLOW_CLOCK
		       : STRAGGLER_SLOW_KERNELS;
}

static const char *describe_kernels(const struct straggler_search *search,
				    enum straggler_cause cause,
				    const struct kernel_changes *changes, const char *what)
{
	if (cause == STRAGGLER_SLOW_CLOCK)
		return tsi_sheet_print(search->out,
				       "%s %.1f %% longer throughout, as with lower clocks", what,
				       100 * changes->longer_ratio);
	if (cause != STRAGGLER_MORE_WORK)
		return tsi_sheet_print(search->out,
				       "some %s take longer: mostly %.80s, by %.1f %%, %s per step",
				       what, changes->longest.data, 100 * changes->longest_ratio,
				       tsi_time_text(changes->longest_ns).chars);
	if (changes->calls > 1.005 * changes->usual_calls)
		return tsi_sheet_print(search->out, "it runs %.4g %s per step, the others %.4g",
				       changes->calls, what, changes->usual_calls);
	return tsi_sheet_print(
		search->out, "it runs as many %s as the others, but larger ones: %s more per step",
		what, tsi_time_text(changes->work_ns).chars);
}

/* ---- both ---- */

/* False where its kernels do not say. */
static bool explain_compute(struct straggler *straggler, const struct straggler_search *search,
			    size_t rank)
{
	const struct straggler_line *line = &straggler->lines[TSCOPE_BUDGET_COMPUTE];
	const struct rank_log *log = &search->scope->world->logs[rank];
	const struct rank_log *usual =
		find_usual(search->scope, search->late, rank, line->others_ns);
	struct kernel_changes changes;

	if (!usual)
		return false;
	tsi_kernel_changes(&changes, log, usual);
	straggler->cause = cause_of_kernels(&changes);
	if (straggler->cause == STRAGGLER_UNKNOWN)
		return false;
	straggler->detail = describe_kernels(search, straggler->cause, &changes,
					     log->is_host ? "operators" : "kernels");
	return true;
}

static const char *describe_excess(const struct straggler_search *search,
				   enum tscope_budget_line line, bool is_host, int64_t excess_ns)
{
	const struct line_words *words =
		line == TSCOPE_BUDGET_LAUNCH_STALL && is_host ? &no_operator : &lines[line];

	return tsi_sheet_print(search->out, "%s %s %s", words->before,
			       tsi_time_text((double)excess_ns).chars, words->after);
}

/* Nothing else says more of these lines: kernels explain compute, loaders and copies themselves. */
static bool is_of_host(enum tscope_budget_line line, bool is_host)
{
	return line == TSCOPE_BUDGET_SYNC_STALL || line == TSCOPE_BUDGET_LAUNCH_STALL ||
	       line == TSCOPE_BUDGET_DEVICE_GAP || line == TSCOPE_BUDGET_UNATTRIBUTED ||
	       (line == TSCOPE_BUDGET_COMPUTE && is_host);
}

/* False where no place of its code does. */
static bool explain_place(struct straggler *straggler, const struct straggler_search *search,
			  size_t rank, double excess_ns)
{
	const struct code_place place = tsi_code_place(search->scope, &search->late->roles, rank,
						       excess_ns, search->numbers);

	if (!place.name.data)
		return false;
	straggler->cause = straggler->worst_line == TSCOPE_BUDGET_SYNC_STALL ? STRAGGLER_SYNC
									     : STRAGGLER_SLOW_HOST;
	straggler->place = tsi_sheet_copy(search->out, place.name);
	straggler->place_ns = tsi_round_ns(place.own_ns);
	straggler->others_place_ns = tsi_round_ns(place.usual_ns);
	straggler->longest_ns = place.longest_ns;
	straggler->longest_start_ns = place.longest_start_ns;
	straggler->detail =
		tsi_sheet_print(search->out, "it spends %s per step in %.80s, the others %s",
				tsi_time_text(place.own_ns).chars, straggler->place,
				tsi_time_text(place.usual_ns).chars);
	return true;
}

/* Stalls of a few steps may be less in the mean than what ranks differ by all the time. */
static bool explains_stalls(const struct late_rank *rank, int64_t excess_ns)
{
	return !rank->stalls || excess_ns >= rank->gain_ns / 2;
}

struct straggler tsi_find_straggler(const struct straggler_search *search, size_t rank)
{
	struct straggler straggler = {
		.cause = STRAGGLER_UNKNOWN,
		.total = compare_line(search, rank, LINES),
		.worst_line = TSCOPE_BUDGET_COMPUTE,
	};

	for (size_t line = 0; line < LINES; line++) {
		straggler.lines[line] = compare_line(search, rank, line);
		if (tsi_straggler_excess(&straggler.lines[line]) >
		    tsi_straggler_excess(&straggler.lines[straggler.worst_line]))
			straggler.worst_line = (enum tscope_budget_line)line;
	}
	int64_t excess_ns = tsi_straggler_excess(&straggler.lines[straggler.worst_line]);
	if (!explains_stalls(&search->late->ranks[rank], excess_ns))
		return straggler;
	if (excess_ns <= 0 || (straggler.worst_line == TSCOPE_BUDGET_COMPUTE &&
			       explain_compute(&straggler, search, rank)))
		return straggler;
	bool is_host = search->scope->world->logs[rank].is_host;
	if (is_of_host(straggler.worst_line, is_host) &&
	    explain_place(&straggler, search, rank, (double)excess_ns))
		return straggler;
	straggler.cause = lines[straggler.worst_line].cause;
	straggler.detail = describe_excess(search, straggler.worst_line, is_host, excess_ns);
	return straggler;
}
