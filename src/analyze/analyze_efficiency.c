/* SPDX-License-Identifier: MIT */
/*
 * pytscope's budget of five lines: what the phases of the unmarked steps went
 * to, by what of it can be won back. Where the FLOPs of a step and the peak of
 * the device are known, computing is useful only as long as that many FLOPs
 * take at the peak. Phases of unknown names are in no line.
 */
#include "analyze/facts.h"
#include "analyze/rank_steps.h"

#include <math.h>

#include "base/sum.h"

enum fact {
	WALL_NS,
	COMPUTE_NS,
	USEFUL_NS,
	USEFUL_RATIO,
	MFU,
	MFU_UNCAPPED,
	FLOPS_PER_STEP,
	PEAK_FLOPS,
	TOP_RECOVERABLE,
	TOP_RECOVERABLE_RATIO,
};

static const struct tscope_fact_def facts[] = {
	[WALL_NS] = { "wall_ns", TSCOPE_UNIT_NS, "what the lines sum to" },
	[COMPUTE_NS] = { "compute_ns", TSCOPE_UNIT_NS,
			 "forward, backward, optimizer and compute phases" },
	[USEFUL_NS] = { "useful_ns", TSCOPE_UNIT_NS,
			"of this, what the FLOPs take at the peak; all where they are not known" },
	[USEFUL_RATIO] = { "useful_ratio", TSCOPE_UNIT_RATIO, "useful by wall time" },
	[MFU] = { "mfu", TSCOPE_UNIT_RATIO,
		  "model FLOPs utilisation: the same where FLOPs and peak are known" },
	[MFU_UNCAPPED] = { "mfu_uncapped", TSCOPE_UNIT_NUMBER,
			   "FLOPs by what the peak allows in the wall time, however large" },
	[FLOPS_PER_STEP] = { "flops_per_step", TSCOPE_UNIT_NUMBER, "FLOPs of a step, as given" },
	[PEAK_FLOPS] = { "peak_flops", TSCOPE_UNIT_NUMBER,
			 "FLOPs per second of the device, as given" },
	[TOP_RECOVERABLE] = { "top_recoverable", TSCOPE_UNIT_TEXT, "largest recoverable line" },
	[TOP_RECOVERABLE_RATIO] = { "top_recoverable_ratio", TSCOPE_UNIT_RATIO,
				    "its share of the wall time" },
};

enum line_column { LINE_NAME, LINE_NS, LINE_RATIO, LINE_RECOVERABLE };

static const struct tscope_fact_def line_columns[] = {
	[LINE_NAME] = { "line", TSCOPE_UNIT_TEXT, "what the time went to" },
	[LINE_NS] = { "ns", TSCOPE_UNIT_NS, "how much" },
	[LINE_RATIO] = { "ratio", TSCOPE_UNIT_RATIO, "its share of the wall time" },
	[LINE_RECOVERABLE] = { "recoverable", TSCOPE_UNIT_FLAG, "could it be less?" },
};

enum table { LINES };

static const struct tscope_table_def tables[] = {
	[LINES] = { "lines", line_columns, TSI_COUNT_OF(line_columns), "the wall time, divided",
		    TSCOPE_TABLE_ROWS },
};

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
	double useful_ns = isnan(eff->ideal_ns) ? compute_ns : fmin(eff->ideal_ns, compute_ns);

	eff->line_ns[DATA_STALL] = eff->phase_ns[PHASE_DATA];
	eff->line_ns[COMMUNICATION] = eff->phase_ns[PHASE_COMM];
	eff->line_ns[OTHER] = eff->phase_ns[PHASE_OTHER];
	for (size_t line = DATA_STALL; line < LINE_COUNT; line++)
		eff->exact_ns[line] = (double)eff->line_ns[line];

	eff->exact_ns[USEFUL_COMPUTE] = useful_ns;
	eff->exact_ns[COMPUTE_OVERHEAD] = compute_ns - useful_ns;
	/* Where all of it is useful no rounding may come between. */
	eff->line_ns[USEFUL_COMPUTE] =
		useful_ns < compute_ns ? (int64_t)(useful_ns + 0.5) : eff->compute_ns;
	eff->line_ns[COMPUTE_OVERHEAD] = eff->compute_ns - eff->line_ns[USEFUL_COMPUTE];
}

static void put_facts(struct fact_sheet *out, const struct efficiency *eff)
{
	double wall_ns = (double)eff->wall_ns;
	double useful_ratio = eff->exact_ns[USEFUL_COMPUTE] / wall_ns;
	enum line top = COMPUTE_OVERHEAD;

	for (int line = COMPUTE_OVERHEAD + 1; line < LINE_COUNT; line++)
		if (eff->exact_ns[line] > eff->exact_ns[top])
			top = (enum line)line;
	tsi_fact_int(out, WALL_NS, eff->wall_ns);
	tsi_fact_int(out, COMPUTE_NS, eff->compute_ns);
	tsi_fact_int(out, USEFUL_NS, eff->line_ns[USEFUL_COMPUTE]);
	tsi_fact_real(out, USEFUL_RATIO, useful_ratio);
	if (!isnan(eff->ideal_ns)) {
		tsi_fact_real(out, MFU, useful_ratio);
		tsi_fact_real(out, MFU_UNCAPPED, eff->ideal_ns / wall_ns);
	}
	tsi_fact_text(out, TOP_RECOVERABLE, line_names[top]);
	tsi_fact_real(out, TOP_RECOVERABLE_RATIO, eff->exact_ns[top] / wall_ns);
}

static enum tscope_status list_lines(struct fact_sheet *out, const struct efficiency *eff,
				     struct tscope_error *err)
{
	for (size_t line = 0; line < LINE_COUNT; line++) {
		struct tscope_value *cells;
		if (tsi_table_add(out, LINES, &cells, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		cells[LINE_NAME] = tsi_text(line_names[line]);
		cells[LINE_NS] = tsi_int(eff->line_ns[line]);
		cells[LINE_RATIO] = tsi_real(eff->exact_ns[line] / (double)eff->wall_ns);
		cells[LINE_RECOVERABLE] = tsi_flag(line != USEFUL_COMPUTE);
	}
	return TSCOPE_OK;
}

/* What was asked for, else what the run says; NaN where neither is a number that can be used. */
static double anchor_of(double asked, double said)
{
	double anchor = asked > 0 ? asked : said;

	return anchor > 0 && isfinite(anchor) ? anchor : NAN;
}

static enum tscope_status run(const struct analysis_scope *scope, struct fact_sheet *out,
			      struct tscope_error *err)
{
	const struct tscope_analysis_options *options = scope->options;
	double flops = anchor_of(options->flops_per_step, scope->steps->flops_per_step);
	double peak_flops = anchor_of(options->peak_flops, scope->steps->peak_flops);
	struct efficiency eff = { 0 };

	tsi_fact_real(out, FLOPS_PER_STEP, flops);
	tsi_fact_real(out, PEAK_FLOPS, peak_flops);
	sum_phases(&eff, scope->steps);
	if (eff.wall_ns == 0)
		return TSCOPE_OK;
	if (scope->steps->doubt && scope->steps->is_of_trace)
		tsi_fact_unreliable(out, scope->steps->doubt);
	eff.ideal_ns = flops * (double)eff.step_count / peak_flops * 1e9;
	divide_wall(&eff);
	put_facts(out, &eff);
	return list_lines(out, &eff, err);
}

const struct analyzer tsi_analyzer_efficiency = {
	.def = {
		.id = "efficiency",
		.summary = "what the steps' phases went to, and what of it can be won back",
		.facts = facts,
		.fact_count = TSI_COUNT_OF(facts),
		.tables = tables,
		.table_count = TSI_COUNT_OF(tables),
		.needs = "steps with phases, and for mfu --flops-per-step and --peak-tflops",
	},
	.levels = LEVEL_TRACE | LEVEL_RANK,
	.run = run,
};
