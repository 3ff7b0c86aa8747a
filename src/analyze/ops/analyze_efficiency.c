/* SPDX-License-Identifier: MIT */
/*
 * pytscope's budget of five lines: what the phases of the unmarked steps went
 * to, by what of it can be won back. Where the FLOPs per step and the peak of
 * the device are known, computing is useful only as long as that many FLOPs
 * take at the peak; FLOPs that are but a lower bound do not divide it. Phases of
 * unknown names are in no line.
 */
#include "analyze/facts.h"
#include "analyze/ranks/rank_steps.h"
#include "analyze/shared/anchor.h"

#include <math.h>

#include "base/sum.h"

#define FACTS(X)                                                                                   \
	X(WALL_NS, "wall_ns", NS, "what the lines sum to")                                         \
	X(MEAN_WALL_NS, "mean_wall_ns", NS, "of this, a mean step")                                \
	X(COMPUTE_NS, "compute_ns", NS, "forward, backward, optimizer and compute phases")         \
	X(USEFUL_NS, "useful_ns", NS,                                                              \
	  "of this, what the FLOPs take at the peak; all where they are not known")                \
	X(USEFUL_RATIO, "useful_ratio", RATIO, "useful by wall time")                              \
	X(MFU, "mfu", RATIO,                                                                       \
	  "model FLOPs utilisation: FLOPs by what the peak allows in the wall time; absent where " \
	  "flops_coverage_ratio is below 0.5")                                                     \
	X(HFU, "hfu", RATIO, "hardware FLOPs utilisation: the same with what is computed again")   \
	X(MFU_UNCAPPED, "mfu_uncapped", NUMBER, "mfu, however large")                              \
	X(MFU_IS_LOWER_BOUND, "mfu_is_lower_bound", FLAG,                                          \
	  "FLOPs are missing: it is at least as much")                                             \
	X(ACHIEVED_TFLOPS, "achieved_tflops", NUMBER,                                              \
	  "flops_per_step by mean_wall_ns, in TFLOP/s")                                            \
	X(FLOPS_PER_STEP, "flops_per_step", FLOPS,                                                 \
	  "FLOPs of a mean step on one device, without what is computed again")                    \
	X(HARDWARE_FLOPS_PER_STEP, "hardware_flops_per_step", FLOPS,                               \
	  "the same with what is computed again")                                                  \
	X(FLOPS_COVERAGE_RATIO, "flops_coverage_ratio", RATIO,                                     \
	  "of the time of matrix kernels, that of kernels whose FLOPs are known; below 0.9 the "   \
	  "FLOPs are a lower bound")                                                               \
	X(FLOPS_SOURCE, "flops_source", TEXT,                                                      \
	  "source of the FLOPs: option, model, run.json or operators")                             \
	X(PEAK_FLOPS, "peak_flops", FLOPS_PER_SECOND,                                              \
	  "the most that the device can do with this precision, dense")                            \
	X(PEAK_SOURCE, "peak_source", TEXT, "source of the peak: option, run.json or device")      \
	X(PRECISION, "precision", TEXT,                                                            \
	  "what the FLOPs are computed in, with shares where it is mixed")                         \
	X(DEVICE, "device", TEXT, "name of the device in the table of devices")                    \
	X(TOP_RECOVERABLE, "top_recoverable", TEXT, "largest recoverable line")                    \
	X(TOP_RECOVERABLE_RATIO, "top_recoverable_ratio", RATIO, "its share of the wall time")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define LINE_COLUMNS(X)                                                                            \
	X(LINE_NAME, "line", TEXT, "what the time went to")                                        \
	X(LINE_NS, "ns", NS, "how much")                                                           \
	X(LINE_RATIO, "ratio", RATIO, "its share of the wall time")                                \
	X(LINE_RECOVERABLE, "recoverable", FLAG, "could it be less?")

TSI_FACT_LIST(enum line_column, line_columns, LINE_COLUMNS);

#define TABLES(X) X(LINES, "lines", line_columns, "the wall time, divided")

TSI_TABLE_LIST(enum table, tables, TABLES);

enum line {
	USEFUL_COMPUTE, /* the only one that is not recoverable */
	COMPUTE_OVERHEAD,
	DATA_STALL,
	COMMUNICATION,
	OTHER,
	LINE_COUNT,
};

static const char *const line_names[LINE_COUNT] = {
	[USEFUL_COMPUTE] = "useful_compute",
	[COMPUTE_OVERHEAD] = "compute_overhead",
	[DATA_STALL] = "data_stall",
	[COMMUNICATION] = "communication",
	[OTHER] = "other",
};

struct efficiency {
	int64_t phase_ns[PHASE_COUNT]; /* over the timed steps */
	int64_t step_count;
	int64_t wall_ns, compute_ns;
	struct flops_anchor anchor;
	double ideal_ns;             /* what the FLOPs take at the peak; NaN: not known */
	double exact_ns[LINE_COUNT]; /* for ratios */
	int64_t line_ns[LINE_COUNT]; /* rounded, so that they sum to wall_ns */
};

static void sum_phases(struct efficiency *eff, const struct step_series *steps)
{
	for (size_t i = 0; i < steps->count; i++) {
		if (!tsi_step_is_timed(&steps->records[i]))
			continue;
		eff->step_count++;
		tsi_sum(&eff->compute_ns, tsi_step_compute_ns(&steps->records[i]));
		for (size_t phase = 0; phase < PHASE_COUNT; phase++)
			tsi_sum(&eff->phase_ns[phase], steps->records[i].phase_ns[phase]);
	}
	for (size_t phase = 0; phase < PHASE_COUNT; phase++)
		tsi_sum(&eff->wall_ns, eff->phase_ns[phase]);
}

static void divide_wall(struct efficiency *eff)
{
	double compute_ns = (double)eff->compute_ns;
	/* With FLOPs that are only a lower bound, overhead is unknown. */
	bool is_split = !isnan(eff->ideal_ns) && !eff->anchor.is_lower_bound;
	double useful_ns = is_split ? fmin(eff->ideal_ns, compute_ns) : compute_ns;

	eff->line_ns[DATA_STALL] = eff->phase_ns[PHASE_DATA];
	eff->line_ns[COMMUNICATION] = eff->phase_ns[PHASE_COMM];
	eff->line_ns[OTHER] = eff->phase_ns[PHASE_OTHER];
	for (size_t line = DATA_STALL; line < LINE_COUNT; line++)
		eff->exact_ns[line] = (double)eff->line_ns[line];

	eff->exact_ns[USEFUL_COMPUTE] = useful_ns;
	eff->exact_ns[COMPUTE_OVERHEAD] = compute_ns - useful_ns;
	/* If all of it is useful, rounding must not create overhead. */
	eff->line_ns[USEFUL_COMPUTE] =
		useful_ns < compute_ns ? (int64_t)(useful_ns + 0.5) : eff->compute_ns;
	eff->line_ns[COMPUTE_OVERHEAD] = eff->compute_ns - eff->line_ns[USEFUL_COMPUTE];
}

static void put_doubts(struct fact_sheet *out, const enum fact *doubtful, size_t count,
		       const char *doubt)
{
	for (size_t i = 0; doubt && i < count; i++)
		tsi_fact_doubt(out, doubtful[i], doubt);
}

/* The inputs of MFU, and why it is unknown or a lower bound. */
static void put_anchor(struct fact_sheet *out, const struct flops_anchor *anchor,
		       const struct step_series *steps)
{
	static const enum fact flops_facts[] = {
		MFU, HFU, MFU_UNCAPPED, ACHIEVED_TFLOPS, FLOPS_PER_STEP, HARDWARE_FLOPS_PER_STEP
	};
	/* All that is computed counts as useful then, and none of it may be overhead. */
	static const enum fact useful_facts[] = { USEFUL_NS, USEFUL_RATIO };
	static const enum fact peak_facts[] = { MFU, HFU, MFU_UNCAPPED, PEAK_FLOPS };

	tsi_fact_real(out, FLOPS_PER_STEP, anchor->flops_per_step);
	tsi_fact_real(out, HARDWARE_FLOPS_PER_STEP, anchor->hardware_flops_per_step);
	tsi_fact_real(out, FLOPS_COVERAGE_RATIO, anchor->coverage_ratio);
	tsi_fact_real(out, PEAK_FLOPS, anchor->peak_flops);
	if (anchor->flops_source)
		tsi_fact_text(out, FLOPS_SOURCE, anchor->flops_source);
	if (anchor->peak_source)
		tsi_fact_text(out, PEAK_SOURCE, anchor->peak_source);
	if (steps->peak.precision[0] != '\0')
		tsi_fact_text(out, PRECISION, steps->peak.precision);
	if (steps->peak.device)
		tsi_fact_text(out, DEVICE, steps->peak.device);
	/* The first doubt stays: what is missing outweighs what is but a lower bound. */
	if (anchor->is_lower_bound)
		put_doubts(out, peak_facts, TSI_COUNT_OF(peak_facts), anchor->peak_doubt);
	if (anchor->is_lower_bound)
		put_doubts(out, useful_facts, TSI_COUNT_OF(useful_facts), anchor->flops_doubt);
	put_doubts(out, flops_facts, TSI_COUNT_OF(flops_facts), anchor->flops_doubt);
	put_doubts(out, peak_facts, TSI_COUNT_OF(peak_facts), anchor->peak_doubt);
}

static void put_utilisation(struct fact_sheet *out, const struct efficiency *eff)
{
	double mfu = eff->ideal_ns / (double)eff->wall_ns;
	/* No more of the wall time can be useful than was computed in. */
	double most = (double)eff->compute_ns / (double)eff->wall_ns;
	double hfu = eff->anchor.hardware_flops_per_step * (double)eff->step_count /
		     eff->anchor.peak_flops * 1e9 / (double)eff->wall_ns;

	tsi_fact_real(out, MFU_UNCAPPED, mfu);
	tsi_fact_real(out, ACHIEVED_TFLOPS,
		      eff->anchor.flops_per_step * (double)eff->step_count / (double)eff->wall_ns /
			      1e3);
	if (isnan(mfu) || eff->anchor.is_too_little)
		return;
	tsi_fact_real(out, MFU, fmin(mfu, most));
	tsi_fact_flag(out, MFU_IS_LOWER_BOUND, eff->anchor.is_lower_bound);
	if (!isnan(hfu))
		tsi_fact_real(out, HFU, fmin(hfu, most));
}

static void put_facts(struct fact_sheet *out, const struct efficiency *eff)
{
	double wall_ns = (double)eff->wall_ns;
	enum line top = COMPUTE_OVERHEAD;

	for (int line = COMPUTE_OVERHEAD + 1; line < LINE_COUNT; line++)
		if (eff->exact_ns[line] > eff->exact_ns[top])
			top = (enum line)line;
	tsi_fact_int(out, WALL_NS, eff->wall_ns);
	tsi_fact_mean(out, MEAN_WALL_NS, eff->wall_ns, eff->step_count);
	tsi_fact_int(out, COMPUTE_NS, eff->compute_ns);
	tsi_fact_int(out, USEFUL_NS, eff->line_ns[USEFUL_COMPUTE]);
	tsi_fact_real(out, USEFUL_RATIO, eff->exact_ns[USEFUL_COMPUTE] / wall_ns);
	put_utilisation(out, eff);
	tsi_fact_text(out, TOP_RECOVERABLE, line_names[top]);
	tsi_fact_real(out, TOP_RECOVERABLE_RATIO, eff->exact_ns[top] / wall_ns);
}

static void list_lines(struct fact_sheet *out, const struct efficiency *eff)
{
	for (size_t line = 0; line < LINE_COUNT; line++) {
		struct tscope_value *cells = tsi_table_row(out, LINES);
		cells[LINE_NAME] = tsi_text(line_names[line]);
		cells[LINE_NS] = tsi_int(eff->line_ns[line]);
		cells[LINE_RATIO] = tsi_real(eff->exact_ns[line] / (double)eff->wall_ns);
		cells[LINE_RECOVERABLE] = tsi_flag(line != USEFUL_COMPUTE);
	}
}

static void fill_efficiency(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct efficiency eff = { .anchor = tsi_flops_anchor(scope->steps, scope->options) };

	put_anchor(out, &eff.anchor, scope->steps);
	sum_phases(&eff, scope->steps);
	if (eff.wall_ns == 0)
		return;
	if (scope->steps->doubt && scope->steps->is_of_trace)
		tsi_fact_unreliable(out, scope->steps->doubt);
	eff.ideal_ns =
		eff.anchor.flops_per_step * (double)eff.step_count / eff.anchor.peak_flops * 1e9;
	divide_wall(&eff);
	put_facts(out, &eff);
	list_lines(out, &eff);
}

const struct analyzer tsi_analyzer_efficiency = {
	.def = {
		.id = "efficiency",
		.summary = "what the steps' phases went to, and what of it can be won back",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "steps with phases, and for mfu their FLOPs and the peak of the device",
		.total = TSCOPE_TOTAL_TIMED,
	},
	.levels = LEVEL_TRACE | LEVEL_RANK,
	.fill = fill_efficiency,
};
