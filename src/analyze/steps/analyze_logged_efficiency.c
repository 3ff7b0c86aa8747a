/* SPDX-License-Identifier: MIT */
/*
 * Efficiency that a job logged itself (fkat, Composer, Lightning's ThroughputMonitor) beside that
 * of its files. Both divide FLOPs by time and by a peak; where the two MFUs differ, one of these
 * three does, and which one is said. Logged figures are means of their values but those of warm-up,
 * on the first rank that has them; ours are the lowest rank's, as efficiency's.
 */
#include "analyze/facts.h"
#include "analyze/shared/anchor.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/print_text.h"
#include "base/sum.h"
#include "run/scalars.h"

#define FACTS(X)                                                                                   \
	X(LOGGED_MFU_RATIO, "logged_mfu_ratio", RATIO, "MFU as the job logged it, mean")           \
	X(MFU_RATIO, "mfu_ratio", RATIO, "MFU by our account")                                     \
	X(MFU_FACTOR, "mfu_factor", NUMBER, "ours ÷ logged")                                       \
	X(LOGGED_FLOPS_PER_STEP, "logged_flops_per_step", FLOPS,                                   \
	  "FLOPs per step as the job logged them, all ranks")                                      \
	X(FLOPS_PER_STEP, "flops_per_step", FLOPS, "by our account, all ranks")                    \
	X(FLOPS_FACTOR, "flops_factor", NUMBER, "ours ÷ logged")                                   \
	X(LOGGED_STEPS_PER_SECOND, "logged_steps_per_second", NUMBER,                              \
	  "steps per second as the job logged them")                                               \
	X(STEPS_PER_SECOND, "steps_per_second", NUMBER, "by our account")                          \
	X(LOGGED_PEAK_FLOPS_PER_SECOND, "logged_peak_flops_per_second", FLOPS_PER_SECOND,          \
	  "peak of one device that the logged figures imply")                                      \
	X(PEAK_FLOPS_PER_SECOND, "peak_flops_per_second", FLOPS_PER_SECOND, "by our table")        \
	X(EXPLANATION, "explanation", TEXT, "why the two differ")

TSI_FACT_LIST(enum fact, facts, FACTS);

/* ---- what is logged ---- */

/* How loggers call it; NULL: this one does not say it. */
static const struct logger {
	const char *steps_per_second;
	const char *flops_per_step;   /* of all ranks */
	const char *flops_per_second; /* of all ranks */
	const char *device_flops_per_second;
	const char *total_peak; /* of the devices of all ranks */
	const char *untracked;  /* operators that the counter did not know */
} loggers[] = {
	/* fkat: mfu = actual ÷ max batches a second, the latter total_flops ÷ batch_flops */
	{ "actual_batches_per_sec", "batch_flops", NULL, NULL, "total_flops",
	  "batch_flops_untracked_operations" },
	/* Composer's SpeedMonitor */
	{ "throughput/batches_per_sec", NULL, "throughput/flops_per_sec",
	  "throughput/device/flops_per_sec", NULL, NULL },
	/* Lightning's ThroughputMonitor: each device has batches of its own */
	{ "train|device/batches_per_sec", NULL, NULL, "train|device/flops_per_sec", NULL, NULL },
};

/* NaN: not logged. */
struct logged {
	double mfu, flops_per_step, steps_per_second, peak_flops;
	double untracked_count;
};

static double mean_of_name(const struct step_series *steps, uint32_t name)
{
	double mean = 0;
	int64_t count = 0;

	for (size_t i = 0; i < steps->scalars.count; i++) {
		const struct step_extra *scalar = &steps->scalars.items[i];

		if (scalar->name != name || !isfinite(scalar->value) ||
		    !tsi_step_is_trained(&steps->records[scalar->record]))
			continue;
		count++;
		mean += scalar->value / (double)count - mean / (double)count;
	}
	return count > 0 ? mean : (double)NAN;
}

/* The figure if it is finite and above 0, else NaN. */
static double usable(double figure)
{
	return figure > 0 && isfinite(figure) ? figure : (double)NAN;
}

static double mean_of(const struct step_series *steps, const char *name)
{
	uint32_t id = name ? tsi_intern_find(&steps->names, tsi_str_of(name)) : UINT32_MAX;

	return id != UINT32_MAX ? usable(mean_of_name(steps, id)) : (double)NAN;
}

static double logged_mfu(const struct step_series *steps)
{
	const struct step_scalar *scalar = tsi_scalar_of_role(steps, SCALAR_MFU);
	double mfu = scalar ? mean_of_name(steps, scalar->name) : (double)NAN;

	if (scalar && tsi_scalar_is_percent(tsi_intern_text(&steps->names, scalar->name)))
		mfu /= 100;
	return usable(mfu);
}

/* device_count: of the job; NaN: not known. */
static struct logged read_logger(const struct step_series *steps, const struct logger *logger,
				 double device_count)
{
	double speed = mean_of(steps, logger->steps_per_second);
	double flops_per_second = mean_of(steps, logger->flops_per_second);
	double device_rate = mean_of(steps, logger->device_flops_per_second);
	struct logged logged = {
		.mfu = logged_mfu(steps),
		.flops_per_step = mean_of(steps, logger->flops_per_step),
		.steps_per_second = speed,
		.peak_flops = mean_of(steps, logger->total_peak) / device_count,
		.untracked_count = mean_of(steps, logger->untracked),
	};

	if (isnan(flops_per_second))
		flops_per_second = device_rate * device_count;
	if (isnan(logged.flops_per_step))
		logged.flops_per_step = usable(flops_per_second / speed);
	if (isnan(logged.peak_flops))
		logged.peak_flops = usable(device_rate / logged.mfu);
	return logged;
}

static bool says_something(const struct logged *logged)
{
	return !isnan(logged->mfu) || !isnan(logged->flops_per_step);
}

static struct logged read_logged(const struct analysis_scope *scope, double device_count)
{
	struct logged logged = { NAN, NAN, NAN, NAN, NAN };

	for (size_t rank = 0; rank < scope->rank_count; rank++)
		for (size_t i = 0; i < TSI_COUNT_OF(loggers); i++) {
			struct logged one =
				read_logger(&scope->ranks[rank], &loggers[i], device_count);

			/* The MFU is any logger's; what says more than that goes first. */
			if (!says_something(&logged) ||
			    (isnan(logged.flops_per_step) && !isnan(one.flops_per_step)))
				logged = one;
		}
	return logged;
}

/* ---- our own account ---- */

struct account {
	struct flops_anchor anchor;
	double device_count; /* of the job; NaN: nobody says how many ranks there are */
	double step_s;       /* NaN: not known */
	double mfu;          /* NaN: not known */
};

static double count_devices(const struct analysis_scope *scope)
{
	int64_t ranks = scope->rank_count > 1 ? (int64_t)scope->rank_count : -1;

	for (size_t i = 0; i < scope->rank_count; i++)
		if (scope->ranks[i].world_size > ranks)
			ranks = scope->ranks[i].world_size;
	return ranks > 0 ? (double)ranks * tsi_counted_devices(&scope->ranks[0]) : (double)NAN;
}

/* A mean step, in its phases, as efficiency divides it. */
static double mean_step_s(const struct step_series *steps)
{
	int64_t sum_ns = 0, count = 0;

	for (size_t i = 0; i < steps->count; i++) {
		if (!tsi_step_is_timed(&steps->records[i]))
			continue;
		count++;
		for (size_t phase = 0; phase < PHASE_COUNT; phase++)
			tsi_sum(&sum_ns, steps->records[i].phase_ns[phase]);
	}
	return count > 0 && sum_ns > 0 ? (double)sum_ns / (double)count / 1e9 : (double)NAN;
}

static struct account make_account(const struct analysis_scope *scope)
{
	const struct step_series *steps = &scope->ranks[0];
	struct account account = {
		.anchor = tsi_flops_anchor(steps, scope->options),
		.device_count = count_devices(scope),
		.step_s = steps->is_timeless ? (double)NAN : mean_step_s(steps),
	};

	account.mfu = account.anchor.flops_per_step / account.anchor.peak_flops / account.step_s;
	return account;
}

/* ---- why they differ ---- */

/* Within these two figures are the same; a job's own means are of other steps than a trace's. */
static const double same_peak = 0.1, same_flops = 0.05, same_speed = 0.1;

static bool is_near(double a, double b, double tolerance)
{
	return fabs(a - b) <= tolerance * fabs(b);
}

enum { REASONS_MAX = 900 };

/* Appends a reason, after a semicolon. */
TSI_PRINTF(2, 3)
static void add_reason(char text[REASONS_MAX], const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	tsi_vjoin_text(text, REASONS_MAX, "; ", format, arguments);
	va_end(arguments);
}

static void explain_peak(char text[REASONS_MAX], const struct logged *logged,
			 const struct account *account)
{
	double ours = account->anchor.peak_flops;
	const char *source = account->anchor.peak_source;

	if (isnan(logged->peak_flops) || isnan(ours) ||
	    is_near(logged->peak_flops, ours, same_peak))
		return;
	add_reason(text,
		   "the job divides by a peak of %.4g TFLOP/s per device, %s says %.4g TFLOP/s",
		   logged->peak_flops / 1e12,
		   source && strcmp(source, "device") == 0 ? "the table of devices" : source,
		   ours / 1e12);
	if (is_near(logged->peak_flops, 2 * ours, same_peak))
		add_reason(text, "twice the dense peak is what the device does with sparse "
				 "matrices, and what fkat's table holds for bf16 and fp16");
}

static void explain_flops(char text[REASONS_MAX], const struct logged *logged,
			  const struct account *account)
{
	double devices = account->device_count;
	double ours = account->anchor.flops_per_step * devices;
	double with_repeats = account->anchor.hardware_flops_per_step * devices;
	double theirs = logged->flops_per_step;

	if (isnan(theirs) || isnan(ours) || is_near(theirs, ours, same_flops))
		return;
	if (is_near(theirs, with_repeats, same_flops))
		add_reason(text, "the logged FLOPs count what activation checkpointing computes "
				 "again; MFU does not");
	else if (devices > 1 && is_near(theirs * devices, ours, same_flops))
		add_reason(text, "the logged FLOPs are those of one of %.0f devices", devices);
	else if (devices > 1 && is_near(theirs, ours * devices, same_flops))
		add_reason(text,
			   "the logged FLOPs are the sum over %.0f devices of what all of "
			   "them do together",
			   devices);
	else
		add_reason(text, "the job counts %.4g TFLOP per step, %s %.4g TFLOP", theirs / 1e12,
			   account->anchor.flops_source, ours / 1e12);
	if (logged->untracked_count > 0 && theirs < ours)
		add_reason(text, "its counter did not know %.0f operations",
			   logged->untracked_count);
	if (account->anchor.is_lower_bound)
		add_reason(text, "%s", account->anchor.flops_doubt);
}

static void explain_speed(char text[REASONS_MAX], const struct logged *logged,
			  const struct account *account)
{
	double ours = 1 / account->step_s;

	if (!isnan(logged->steps_per_second) && !isnan(ours) &&
	    !is_near(logged->steps_per_second, ours, same_speed))
		add_reason(text,
			   "the job logged %.4g steps per second; the steps that were read make "
			   "%.4g per second",
			   logged->steps_per_second, ours);
}

/* Nothing else is known of how the logged figure was made. */
static void explain_factor(char text[REASONS_MAX], const struct logged *logged,
			   const struct account *account)
{
	if (*text == '\0' && isnan(logged->peak_flops) &&
	    is_near(account->mfu, 2 * logged->mfu, same_peak))
		add_reason(text, "half of ours is what a peak for sparse matrices gives, as fkat's "
				 "table holds it for bf16 and fp16");
}

static void explain(struct fact_sheet *out, const struct logged *logged,
		    const struct account *account)
{
	char reasons[REASONS_MAX] = "";

	explain_peak(reasons, logged, account);
	explain_flops(reasons, logged, account);
	explain_speed(reasons, logged, account);
	explain_factor(reasons, logged, account);
	if (*reasons)
		tsi_fact_text(out, EXPLANATION, tsi_sheet_print(out, "%s", reasons));
}

/* ---- facts ---- */

static void put_doubts(struct fact_sheet *out, const struct account *account)
{
	static const enum fact device_facts[] = { FLOPS_PER_STEP, FLOPS_FACTOR,
						  LOGGED_PEAK_FLOPS_PER_SECOND };
	static const enum fact flops_facts[] = { MFU_RATIO, MFU_FACTOR, FLOPS_PER_STEP,
						 FLOPS_FACTOR };
	static const enum fact peak_facts[] = { MFU_RATIO, MFU_FACTOR, PEAK_FLOPS_PER_SECOND };
	const struct flops_anchor *anchor = &account->anchor;

	for (size_t i = 0; isnan(account->device_count) && i < TSI_COUNT_OF(device_facts); i++)
		tsi_fact_doubt(out, device_facts[i], "no file says how many ranks there are");
	for (size_t i = 0; anchor->flops_doubt && i < TSI_COUNT_OF(flops_facts); i++)
		tsi_fact_doubt(out, flops_facts[i], anchor->flops_doubt);
	for (size_t i = 0; anchor->peak_doubt && i < TSI_COUNT_OF(peak_facts); i++)
		tsi_fact_doubt(out, peak_facts[i], anchor->peak_doubt);
}

static void put_facts(struct fact_sheet *out, const struct logged *logged,
		      const struct account *account)
{
	double flops = account->anchor.flops_per_step * account->device_count;

	tsi_fact_real(out, LOGGED_MFU_RATIO, logged->mfu);
	tsi_fact_real(out, MFU_RATIO, account->mfu);
	tsi_fact_real(out, MFU_FACTOR, account->mfu / logged->mfu);
	tsi_fact_real(out, LOGGED_FLOPS_PER_STEP, logged->flops_per_step);
	tsi_fact_real(out, FLOPS_PER_STEP, flops);
	tsi_fact_real(out, FLOPS_FACTOR, flops / logged->flops_per_step);
	tsi_fact_real(out, LOGGED_STEPS_PER_SECOND, logged->steps_per_second);
	tsi_fact_real(out, STEPS_PER_SECOND, 1 / account->step_s);
	tsi_fact_real(out, LOGGED_PEAK_FLOPS_PER_SECOND, logged->peak_flops);
	tsi_fact_real(out, PEAK_FLOPS_PER_SECOND, account->anchor.peak_flops);
	put_doubts(out, account);
}

static void fill_logged_efficiency(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct account account;
	struct logged logged;

	if (scope->rank_count == 0)
		return;
	account = make_account(scope);
	logged = read_logged(scope, account.device_count);
	if (!says_something(&logged))
		return;
	put_facts(out, &logged, &account);
	explain(out, &logged, &account);
}

const struct analyzer tsi_analyzer_logged_efficiency = {
	.def = {
		.id = "logged_efficiency",
		.summary = "what the job itself logged of MFU and FLOPs beside what its files give",
		TSI_FACTS(facts),
		.needs = "a logged MFU or batch_flops (fkat, Composer, Lightning)",
	},
	.levels = LEVEL_RUN,
	.fill = fill_logged_efficiency,
};
