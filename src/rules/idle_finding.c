/* SPDX-License-Identifier: MIT */
/* Shared by the findings on idle time. */
#include "rules/idle_finding.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/print_text.h"
#include "base/str.h"
#include "rules/budget_share.h"
#include "rules/operator_words.h"

#define CULPRITS "idle.culprits"
#define GAPS "idle.gaps"
#define STEPS "steps.list"
#define CALLERS "sources.callers"

enum { SHOWN_CULPRITS = 2, CULPRIT_CHARS = 80, FEWEST_STEPS = 3 };

struct caller_text {
	char chars[160];
};

#define FACT(id, name, line, words, meaning) [id] = "idle." name "_ns",

static const char *const facts[IDLE_CAUSE_COUNT] = { IDLE_CAUSES(FACT) };

/* The cause and the gain of a finding on each. */
static const struct {
	enum rule_cause cause;
	enum gain_part part;
} rows[IDLE_CAUSE_COUNT] = {
	[IDLE_DATA] = { CAUSE_data_loader, GAIN_DATA },
	[IDLE_COMPILE] = { CAUSE_compile, GAIN_COMPILE },
	[IDLE_GC] = { CAUSE_gc, GAIN_GC },
	[IDLE_CALLBACK] = { CAUSE_callbacks, GAIN_CALLBACK },
	[IDLE_PROFILER] = { CAUSE_profiler_overhead, GAIN_PROFILER },
	[IDLE_PEER] = { CAUSE_comm_wait, GAIN_PEER },
	[IDLE_SYNC] = { CAUSE_sync_drain, GAIN_SYNC },
	[IDLE_BLOCKING_COPY] = { CAUSE_blocking_copy, GAIN_BLOCKING_COPY },
	[IDLE_ALLOC] = { CAUSE_alloc_thrash, GAIN_ALLOC },
	[IDLE_STARTUP] = { CAUSE_cold_start, GAIN_STARTUP },
	[IDLE_LAUNCH_STALL] = { CAUSE_launch_overhead, GAIN_HOST_STALL },
	[IDLE_CPU_WORK] = { CAUSE_cpu_only_work, GAIN_CPU_WORK },
	[IDLE_OP_STALL] = { CAUSE_cpu_only_work, GAIN_HOST_STALL },
	[IDLE_OP_OVERHEAD] = { CAUSE_launch_overhead, GAIN_LAUNCH },
	[IDLE_PYTHON] = { CAUSE_host_python, GAIN_PYTHON },
	[IDLE_HOST_UNRECORDED] = { CAUSE_unrecorded_work, GAIN_PYTHON },
	[IDLE_LAUNCH_CALL] = { CAUSE_launch_overhead, GAIN_LAUNCH },
	[IDLE_QUEUE_FULL] = { CAUSE_small_kernels, GAIN_DEVICE_GAP },
	[IDLE_DEVICE_GAP] = { CAUSE_small_kernels, GAIN_DEVICE_GAP },
	[IDLE_START_LATENCY] = { CAUSE_launch_overhead, GAIN_DEVICE_GAP },
	[IDLE_DEPENDENCY] = { CAUSE_comm_wait, GAIN_DEVICE_GAP },
	[IDLE_UNRECORDED] = { CAUSE_unrecorded_work, GAIN_UNRECORDED },
	[IDLE_UNLINKED] = { CAUSE_unrecorded_work, GAIN_UNRECORDED },
	[IDLE_EDGE] = { CAUSE_unrecorded_work, GAIN_UNRECORDED },
};

const char *tsi_idle_fact(enum idle_cause cause)
{
	return facts[cause];
}

enum rule_cause tsi_rule_cause_of_idle(enum idle_cause cause)
{
	return rows[cause].cause;
}

/*
 * Whether a rule of that name speaks of the cause. Findings of others must not be merged into it:
 * it claims the time of a neighbour.
 */
static bool has_own_rule(enum idle_cause cause)
{
	return cause != IDLE_LAUNCH_STALL && cause != IDLE_OP_STALL &&
	       cause != IDLE_HOST_UNRECORDED && cause != IDLE_UNLINKED;
}

/* A claim's cause, by its name. */
static enum idle_cause cause_of(const char *name)
{
	enum idle_cause cause = tsi_idle_cause_of(name);

	assert(cause < IDLE_CAUSE_COUNT);
	return cause;
}

static size_t cause_count(const struct idle_claim *claim)
{
	size_t count = 0;

	while (count < MAX_IDLE_CAUSES && claim->causes[count])
		count++;
	return count;
}

/*
 * The step that idle.* are parts of: the mean over devices and ranks, while the run's own step is
 * that of the slowest rank.
 */
static double mean_step_ns(const struct rule_context *ctx)
{
	double step_ns = tsi_rule_real(ctx, "budget.wall_total_ns") /
			 tsi_rule_real(ctx, "budget.step_count");

	return step_ns > 0 ? step_ns : tsi_rule_real(ctx, "step_time.mean_ns");
}

static void gain_idle(struct rule_context *ctx, enum idle_cause cause)
{
	tsi_gain_share(ctx, rows[cause].part, tsi_rule_real(ctx, facts[cause]) / mean_step_ns(ctx));
}

void tsi_claim_idle_cause(struct rule_context *ctx, enum idle_cause cause)
{
	tsi_rule_cause(ctx, rows[cause].cause);
	if (!has_own_rule(cause))
		tsi_rule_merge_with(ctx, CAUSE_COUNT);
	gain_idle(ctx, cause);
}

double tsi_idle_claim_share(const struct rule_context *ctx, const struct idle_claim *claim)
{
	double step_ns = mean_step_ns(ctx), sum_ns = 0;

	for (size_t i = 0; i < cause_count(claim); i++)
		sum_ns += tsi_rule_real(ctx, facts[cause_of(claim->causes[i])]);
	return step_ns > 0 ? sum_ns / step_ns : NAN;
}

static bool is_of_cause(const struct rule_context *ctx, const char *table, size_t row,
			const char *cause)
{
	return strcmp(tsi_rule_cell_text(ctx, table, row, "cause"), cause) == 0;
}

bool tsi_is_idle_spread(const struct rule_context *ctx, const char *cause)
{
	double cause_ns = tsi_rule_real(ctx, facts[cause_of(cause)]);

	for (size_t row = 0; row < tsi_rule_rows(ctx, CULPRITS); row++)
		if (is_of_cause(ctx, CULPRITS, row, cause)) /* the largest of them */
			return tsi_rule_cell_real(ctx, CULPRITS, row, "ns_per_step") < cause_ns / 2;
	return false;
}

/*
 * "43.1 % operator dispatch (12.0 % aten::copy_, 7.1 % aten::mm)"; where the title already has the
 * share, because there is one cause only: "12.0 % aten::copy_, 7.1 % aten::mm".
 */
static void describe_cause(struct rule_context *ctx, enum idle_cause cause, bool is_only)
{
	double step_ns = mean_step_ns(ctx);
	double share = tsi_rule_real(ctx, facts[cause]) / step_ns;
	char culprits[256] = "";
	size_t count = 0;

	if (!tsi_is_worth_naming(share))
		return;
	for (size_t row = 0; row < tsi_rule_rows(ctx, CULPRITS) && count < SHOWN_CULPRITS; row++) {
		double part = tsi_rule_cell_real(ctx, CULPRITS, row, "ns_per_step");
		const char *name = tsi_rule_cell_text(ctx, CULPRITS, row, "name");

		if (!is_of_cause(ctx, CULPRITS, row, tsi_idle_cause_name(cause)) || *name == '\0' ||
		    !tsi_is_worth_naming(part / step_ns))
			continue;
		tsi_join_text(culprits, sizeof(culprits), ", ", "%.1f %% %.*s",
			      100 * part / step_ns, CULPRIT_CHARS, tsi_kernel_words(name).text);
		count++;
	}
	if (is_only && count > 0)
		tsi_rule_detail(ctx, "%s", culprits);
	else if (count > 0)
		tsi_rule_detail(ctx, "%.1f %% %s (%s)", 100 * share, tsi_idle_cause_words(cause),
				culprits);
	else if (!is_only)
		tsi_rule_detail(ctx, "%.1f %% %s", 100 * share, tsi_idle_cause_words(cause));
}

/* An empty text stands for nothing. */
static const char *known(const char *text)
{
	return *text ? text : NULL;
}

static int64_t cell_number(const struct rule_context *ctx, size_t row, const char *column)
{
	struct tscope_value value = tsi_rule_cell(ctx, GAPS, row, column);

	return value.kind == TSCOPE_VALUE_INT ? value.integer : -1;
}

/* ---- whose code it is ---- */

bool tsi_is_call_of(const struct rule_context *ctx, const char *table, size_t row,
		    const char *column, const char *culprit)
{
	const char *name = tsi_rule_cell_text(ctx, table, row, column);
	const char *op = tsi_rule_cell_text(ctx, table, row, "op");
	char whole[CULPRIT_CHARS * 4];

	snprintf(whole, sizeof(whole), "%s%s%s", name, *op ? " in " : "", op);
	return strcmp(whole, culprit) == 0;
}

/* The row of CALLERS that caused most of what a culprit names, if half of it; SIZE_MAX: none. */
static size_t row_of_caller(const struct rule_context *ctx, const char *culprit)
{
	for (size_t row = 0; row < tsi_rule_rows(ctx, CALLERS); row++) {
		double share = tsi_rule_cell_real(ctx, CALLERS, row, "share_ratio");
		if (!tsi_is_call_of(ctx, CALLERS, row, "name", culprit))
			continue;
		return share >= 0.5 && *tsi_rule_cell_text(ctx, CALLERS, row, "source") ? row
											: SIZE_MAX;
	}
	return SIZE_MAX;
}

const char *tsi_main_culprit(const struct rule_context *ctx, const struct idle_claim *claim)
{
	double all_ns = tsi_idle_claim_share(ctx, claim) * mean_step_ns(ctx);

	for (size_t row = 0; row < tsi_rule_rows(ctx, CULPRITS); row++)
		for (size_t i = 0; i < cause_count(claim); i++)
			if (is_of_cause(ctx, CULPRITS, row, claim->causes[i]) &&
			    tsi_rule_cell_real(ctx, CULPRITS, row, "ns_per_step") >= all_ns / 2)
				return tsi_rule_cell_text(ctx, CULPRITS, row, "name");
	return "";
}

double tsi_waiting_ns(const struct rule_context *ctx, const char **largest)
{
	double sum_ns = 0;

	for (size_t row = 0; row < tsi_rule_rows(ctx, CULPRITS); row++) {
		if (strcmp(tsi_rule_cell_text(ctx, CULPRITS, row, "cause"), "python") != 0 ||
		    strcmp(tsi_rule_cell_text(ctx, CULPRITS, row, "kind"), "wait") != 0)
			continue;
		if (sum_ns == 0)
			*largest = tsi_rule_cell_text(ctx, CULPRITS, row, "name");
		sum_ns += tsi_rule_cell_real(ctx, CULPRITS, row, "ns_per_step");
	}
	return sum_ns;
}

bool tsi_reads_number(const char *op)
{
	static const char *const readers[] = { "aten::_local_scalar_dense", "aten::item",
					       "aten::is_nonzero", "aten::equal" };

	for (size_t i = 0; i < TSI_COUNT_OF(readers); i++)
		if (strcmp(readers[i], op) == 0)
			return true;
	return false;
}

/* The operators by which scripts read numbers. */
static const char *call_words(const char *culprit)
{
	const char *op = strstr(culprit, " in ");

	op = op ? op + strlen(" in ") : culprit;
	return strcmp(op, "aten::_local_scalar_dense") == 0 || strcmp(op, "aten::item") == 0
		       ? ".item()"
		       : culprit;
}

/* ": .item() in train.py(12): step", or "" where no line caused half of it. */
static struct caller_text describe_caller(const struct rule_context *ctx,
					  const struct idle_claim *claim, size_t *row)
{
	const char *culprit = tsi_main_culprit(ctx, claim);
	struct caller_text text = { "" };

	*row = *culprit ? row_of_caller(ctx, culprit) : SIZE_MAX;
	if (*row == SIZE_MAX)
		return text;
	const char *source = tsi_rule_cell_text(ctx, CALLERS, *row, "source");
	const char *slash = strrchr(source, '/'), *open = strchr(source, '(');
	bool has_folder = slash && (!open || slash < open);
	tsi_print_text(text.chars, sizeof(text.chars), ": %.60s in %.80s", call_words(culprit),
		       has_folder ? slash + 1 : source);
	return text;
}

/* A rank's steps may be of several traces, its sources are those of the longest. */
static bool is_of_one_trace(const struct rule_context *ctx)
{
	double steps = tsi_rule_real(ctx, "steps.count");

	return steps > 0 && tsi_rule_real(ctx, "budget.step_count") > steps;
}

/* The title has said the line. */
static void put_caller(struct rule_context *ctx, size_t row)
{
	struct tscope_subject *subject = tsi_rule_subject(ctx);

	subject->source = known(tsi_rule_cell_text(ctx, CALLERS, row, "source"));
	subject->module = known(tsi_rule_cell_text(ctx, CALLERS, row, "module"));
	if (subject->module)
		tsi_rule_detail(ctx, "in %.120s", subject->module);
	if (is_of_one_trace(ctx))
		tsi_rule_detail(ctx, "the line is that of one trace of several");
}

static bool is_claimed_gap(const struct rule_context *ctx, const struct idle_claim *claim,
			   size_t row)
{
	for (size_t i = 0; i < cause_count(claim); i++)
		if (is_of_cause(ctx, GAPS, row, claim->causes[i]))
			return true;
	return false;
}

static double longest_gap_ns(const struct rule_context *ctx, const struct idle_claim *claim)
{
	double longest_ns = 0;

	for (size_t row = 0; row < tsi_rule_rows(ctx, GAPS); row++)
		if (is_claimed_gap(ctx, claim, row))
			longest_ns =
				fmax(longest_ns, tsi_rule_cell_real(ctx, GAPS, row, "cause_ns"));
	return longest_ns;
}

bool tsi_is_long_gap(const struct rule_context *ctx, const struct idle_claim *claim)
{
	double step_ns = tsi_idle_claim_share(ctx, claim) * mean_step_ns(ctx);

	return longest_gap_ns(ctx, claim) >= step_ns / 2;
}

bool tsi_is_one_gap(const struct rule_context *ctx, const struct idle_claim *claim)
{
	double all_ns =
		tsi_idle_claim_share(ctx, claim) * tsi_rule_real(ctx, "budget.wall_total_ns");

	return longest_gap_ns(ctx, claim) > all_ns / 2;
}

/* Row of a step that no mark leaves out, as gaps are of all steps, or SIZE_MAX. */
static size_t find_counted_step(const struct rule_context *ctx, int64_t step)
{
	for (size_t row = 0; row < tsi_rule_rows(ctx, STEPS); row++)
		if (tsi_rule_cell(ctx, STEPS, row, "step").integer == step)
			return *tsi_rule_cell_text(ctx, STEPS, row, "mark") ? SIZE_MAX : row;
	return SIZE_MAX;
}

/* Idle time of the step in the lines that the causes are part of. */
static double lines_of_step_ns(const struct rule_context *ctx, const struct idle_claim *claim,
			       size_t step_row)
{
	unsigned lines = 0;
	double sum_ns = 0;

	for (size_t i = 0; i < cause_count(claim); i++)
		lines |= 1u << tsi_line_of_cause(cause_of(claim->causes[i]));
	for (unsigned line = 0; line < TSCOPE_BUDGET_LINE_COUNT; line++) {
		char column[48];
		snprintf(column, sizeof(column), "%s_ns",
			 tscope_budget_line_name((enum tscope_budget_line)line));
		if (lines >> line & 1)
			sum_ns += tsi_rule_cell_real(ctx, STEPS, step_row, column);
	}
	return sum_ns;
}

/*
 * At least so much time of the step is the claim's, by those of its gaps that are among the longest
 * of all. A gap may reach into other steps.
 */
static double gaps_of_step_ns(const struct rule_context *ctx, const struct idle_claim *claim,
			      int64_t step)
{
	size_t of = find_counted_step(ctx, step);
	double sum_ns = 0;

	if (of == SIZE_MAX)
		return 0;
	for (size_t row = 0; row < tsi_rule_rows(ctx, GAPS); row++)
		if (is_claimed_gap(ctx, claim, row) && cell_number(ctx, row, "step") == step)
			sum_ns += tsi_rule_cell_real(ctx, GAPS, row, "cause_ns");
	return fmin(sum_ns, lines_of_step_ns(ctx, claim, of));
}

struct step_text tsi_main_step(const struct rule_context *ctx, const struct idle_claim *claim)
{
	double all_ns =
		tsi_idle_claim_share(ctx, claim) * tsi_rule_real(ctx, "budget.wall_total_ns");
	struct step_text text = { "" };

	if (tsi_rule_int(ctx, "step_time.count") < FEWEST_STEPS ||
	    strcmp(tsi_rule_text(ctx, "steps.boundary"), "iteration") == 0)
		return text;
	for (size_t row = 0; row < tsi_rule_rows(ctx, GAPS); row++) {
		int64_t step = cell_number(ctx, row, "step");
		if (!is_claimed_gap(ctx, claim, row) ||
		    !(gaps_of_step_ns(ctx, claim, step) > all_ns / 2))
			continue;
		snprintf(text.chars, sizeof(text.chars), ", most of it in step %" PRId64, step);
		break;
	}
	return text;
}

/* The longest gaps of the causes; the first says what the finding is about. */
static void describe_gaps(struct rule_context *ctx, const struct idle_claim *claim)
{
	struct tscope_subject *subject = tsi_rule_subject(ctx);
	bool is_first = true;

	for (size_t row = 0; row < tsi_rule_rows(ctx, GAPS); row++) {
		if (!is_claimed_gap(ctx, claim, row))
			continue;
		const char *path = tsi_rule_cell_text(ctx, GAPS, row, "path");
		tsi_rule_place_in(ctx, *path ? path : tsi_rule_text(ctx, "integrity.path"),
				  cell_number(ctx, row, "start_ns"),
				  cell_number(ctx, row, "duration_ns"));
		if (!is_first)
			continue;
		is_first = false;
		subject->device = cell_number(ctx, row, "device");
		subject->step = cell_number(ctx, row, "step");
		subject->op = known(tsi_rule_cell_text(ctx, GAPS, row, "operator"));
		subject->call = known(tsi_rule_cell_text(ctx, GAPS, row, "call"));
		tsi_rule_site(ctx, GAPS, row, "the longest gap");
	}
}

void tsi_describe_idle(struct rule_context *ctx, const struct idle_claim *claim)
{
	for (size_t i = 0; i < cause_count(claim); i++) {
		enum idle_cause cause = cause_of(claim->causes[i]);
		describe_cause(ctx, cause, cause_count(claim) == 1);
		tsi_rule_evidence(ctx, facts[cause]);
		gain_idle(ctx, cause);
	}
	tsi_rule_evidence(ctx, "step_time.mean_ns");
	describe_gaps(ctx, claim);
}

bool tsi_judge_idle(struct rule_context *ctx, const struct idle_claim *claim, const char *before,
		    const char *behind)
{
	double share = tsi_idle_claim_share(ctx, claim);

	if (!(share >= tsi_rule_parameter(ctx, "threshold")))
		return false;
	size_t caller;
	struct caller_text text = describe_caller(ctx, claim, &caller);
	tsi_rule_fire(ctx, TSCOPE_SEVERITY_HIGH, "%s%.1f %% of the step%s%s%s", before, 100 * share,
		      behind, text.chars, tsi_main_step(ctx, claim).chars);
	if (caller != SIZE_MAX)
		put_caller(ctx, caller);
	tsi_describe_idle(ctx, claim);
	return true;
}

double tsi_idle_share(const struct rule_context *ctx)
{
	double step_ns = mean_step_ns(ctx);

	return step_ns > 0 ? tsi_rule_real(ctx, "idle.total_ns") / step_ns : NAN;
}

enum idle_cause tsi_main_idle_cause(const struct rule_context *ctx)
{
	unsigned largest = 0;

	for (unsigned i = 1; i < IDLE_CAUSE_COUNT; i++)
		if (tsi_rule_int(ctx, facts[i]) > tsi_rule_int(ctx, facts[largest]))
			largest = i;
	return (enum idle_cause)largest;
}

void tsi_describe_idle_causes(struct rule_context *ctx)
{
	double step_ns = mean_step_ns(ctx);

	for (unsigned i = 0; i < IDLE_CAUSE_COUNT; i++) {
		double share = tsi_rule_real(ctx, facts[i]) / step_ns;
		if (tsi_is_worth_naming(share))
			tsi_rule_detail(ctx, "%.1f %% %s", 100 * share,
					tsi_idle_cause_words((enum idle_cause)i));
	}
}
