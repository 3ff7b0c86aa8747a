/* SPDX-License-Identifier: MIT */
/*
 * The lines of the efficiency budget in words, shared by the rules that judge
 * it with and without known FLOPs.
 */
#include "rules/efficiency_lines.h"

#include <string.h>

#include "rules/advice.h"
#include "rules/budget_share.h"
#include "rules/idle_finding.h"
#include "rules/operator_words.h"
#include "rules/rank_figures.h"

#define LINES "efficiency.lines"

struct line {
	const char *name;
	const char *words;
	const char *advice;
	const char *inference_advice;
	enum rule_cause cause; /* of a rule with more details */
	enum gain_part part;
};

static const struct line lines[] = {
	{ "compute_overhead", "compute overhead (kernels below peak)",
	  "run under bf16 autocast so that tensor cores work, torch.compile the model, enlarge the "
	  "batch, use fused attention and a fused optimizer; --show kernels lists what costs most",
	  MORE_REQUESTS "; " REDUCED_PRECISION "; torch.compile the model; fused attention; --show "
			"kernels lists what costs most",
	  CAUSE_low_mfu, GAIN_BELOW_PEAK },
	{ "data_stall", "waiting for data",
	  "raise num_workers of the DataLoader, set persistent_workers=True and pin_memory=True, "
	  "raise prefetch_factor; then move costly transforms out of the loop or onto the device",
	  "prepare the next request while the device computes; move costly transforms onto the "
	  "device",
	  CAUSE_data_loader, GAIN_DATA },
	{ "communication", "communication",
	  "overlap gradients with backward, skip the exchange between accumulated batches "
	  "(no_sync), "
	  "send bf16, enlarge the batch per rank",
	  "shard over fewer devices and run more replicas; overlap the exchange of one part with "
	  "the computation of the next",
	  CAUSE_comm_exposed, GAIN_COMM_TRANSFER },
	{ "other", "code outside marked phases",
	  "find out what it is: mark logging, checkpoints and evaluation in the loop, or record a "
	  "trace with Python stacks",
	  "find out what it is: mark the parts of a request with record_function, or record a "
	  "trace with Python stacks",
	  CAUSE_low_mfu, GAIN_STEP },
};

/* With a trace, the budget shows further lines. */
static const struct line other_of_trace = {
	"other",
	"time in which the device neither computes nor communicates",
	"start with the longest other line of the budget: data, synchronization, launches, gaps or "
	"copies",
	"start with the longest other line of the budget: synchronization, launches, gaps or "
	"copies",
	CAUSE_unrecorded_work,
	GAIN_STEP
};

#define ATTENTION                                                                                  \
	"start with the attention kernel: is_causal=True instead of a mask, other backends of "    \
	"scaled_dot_product_attention (torch.nn.attention.sdpa_kernel; on AMD "                    \
	"torch.backends.cuda.preferred_rocm_fa_library), head sizes of 64 or 128"

/* Recorded shapes show which operators it is. */
static const struct line overhead_of_operators = {
	"compute_overhead",
	"compute overhead (kernels below peak)",
	"start with the operators that lose most (--show roofline): larger batches, GEMM sizes in "
	"multiples of 128, fused attention; then torch.compile and a fused optimizer",
	"start with the operators that lose most (--show roofline): " MORE_REQUESTS
	", GEMM sizes in multiples of 128; then torch.compile(mode=\"max-autotune\")",
	CAUSE_low_mfu,
	GAIN_BELOW_PEAK
};

/* Attention is fused already where its FLOPs are known to be lost. */
static const struct line overhead_of_attention = {
	"compute_overhead", "compute overhead (kernels below peak)",
	ATTENTION,          ATTENTION,
	CAUSE_low_mfu,      GAIN_BELOW_PEAK
};

/* And where forward work is repeated, whether that could be less. */
static const struct line overhead_of_repeats = {
	"compute_overhead",
	"compute overhead (kernels below peak)",
	"checkpoint no more activations than memory requires: fewer layers, or only what is cheap "
	"to recompute (selective checkpointing); then look at the operators that lose most (--show "
	"roofline)",
	NULL,
	CAUSE_low_mfu,
	GAIN_BELOW_PEAK
};

bool tsi_repeats_forward(const struct rule_context *ctx)
{
	return tsi_is_worth_naming(tsi_rule_real(ctx, "efficiency.hfu") -
				   tsi_rule_real(ctx, "efficiency.mfu"));
}

/* Is half of what operators lose lost by attention? */
static bool is_attention_slow(const struct rule_context *ctx)
{
	double lost_ns = 0, attention_ns = 0;

	for (size_t row = 0; row < tsi_operator_rows(ctx); row++) {
		double ns = tsi_operator_number(ctx, row, "lost_ns");
		if (!(ns > 0))
			continue;
		lost_ns += ns;
		if (strcmp(tsi_operator_text(ctx, row, "kind"), "attention") == 0)
			attention_ns += ns;
	}
	return attention_ns > 0 && 2 * attention_ns >= lost_ns;
}

/* Facts beyond the phases make a line more specific. */
static const struct line *find_specific(const struct rule_context *ctx, const char *name)
{
	if (strcmp(name, other_of_trace.name) == 0)
		return tsi_rule_has(ctx, "budget.device_gap_total_ns") ? &other_of_trace : NULL;
	if (strcmp(name, overhead_of_operators.name) != 0)
		return NULL;
	if (tsi_repeats_forward(ctx))
		return &overhead_of_repeats;
	if (is_attention_slow(ctx))
		return &overhead_of_attention;
	return tsi_operator_rows(ctx) > 0 ? &overhead_of_operators : NULL;
}

/* NULL: not recoverable. */
static const struct line *find_line(const struct rule_context *ctx, const char *name)
{
	const struct line *specific = find_specific(ctx, name);

	if (specific)
		return specific;
	for (size_t i = 0; i < TSI_COUNT_OF(lines); i++)
		if (strcmp(lines[i].name, name) == 0)
			return &lines[i];
	return NULL;
}

static void describe_row(struct rule_context *ctx, size_t row, const struct line *in_title)
{
	struct tscope_value name = tsi_rule_cell(ctx, LINES, row, "line");
	double ratio = tsi_rule_cell_real(ctx, LINES, row, "ratio");
	const struct line *line = name.kind == TSCOPE_VALUE_TEXT ? find_line(ctx, name.text) : NULL;

	if (line && line != in_title && tsi_is_worth_naming(ratio))
		tsi_rule_detail(
			ctx, "%.0f %% %s%s", 100 * ratio, line->words,
			line->cause == CAUSE_comm_exposed &&
					tsi_is_worth_naming(tsi_divide_comm(ctx, ratio).waiting)
				? " (including waiting)"
				: "");
}

/* The largest line, where it is communication. */
static struct comm_shares top_comm(const struct rule_context *ctx)
{
	return tsi_divide_comm(ctx, tsi_rule_real(ctx, "efficiency.top_recoverable_ratio"));
}

const char *tsi_top_efficiency_line(const struct rule_context *ctx)
{
	const struct line *top = find_line(ctx, tsi_rule_text(ctx, "efficiency.top_recoverable"));

	if (top && top->cause == CAUSE_comm_exposed && tsi_is_worth_naming(top_comm(ctx).waiting))
		return "transfer between ranks";
	return top ? top->words : "one line";
}

double tsi_top_efficiency_share(const struct rule_context *ctx)
{
	const struct line *top = find_line(ctx, tsi_rule_text(ctx, "efficiency.top_recoverable"));

	if (top && top->cause == CAUSE_comm_exposed)
		return top_comm(ctx).moving;
	return tsi_rule_real(ctx, "efficiency.top_recoverable_ratio");
}

/* Communication without waiting for slower ranks, which no faster link wins back. */
static void recover_line(struct rule_context *ctx, const struct line *line)
{
	struct comm_shares comm = top_comm(ctx);
	bool may_wait = line->cause == CAUSE_comm_exposed && !comm.is_known;

	if (line->part == GAIN_STEP) /* nobody knows what unmarked code is for */
		return;
	if (line->part == GAIN_BELOW_PEAK || may_wait) { /* no step reaches the peak */
		tsi_rule_bound(ctx);
		tsi_rule_confidence(ctx, TSCOPE_CONFIDENCE_MED);
	}
	if (line->cause != CAUSE_comm_exposed) {
		tsi_gain_share(ctx, line->part,
			       tsi_rule_real(ctx, "efficiency.top_recoverable_ratio"));
		return;
	}
	tsi_describe_waiting(ctx, &comm);
	tsi_advise_all_ranks(ctx, &comm);
	tsi_after_straggler(ctx, &comm);
	tsi_describe_stages(ctx, &comm);
	tsi_comm_evidence(ctx);
	tsi_gain_share(ctx, line->part, comm.moving);
}

void tsi_describe_efficiency_lines(struct rule_context *ctx, bool is_top_in_title)
{
	const struct line *top = find_line(ctx, tsi_rule_text(ctx, "efficiency.top_recoverable"));

	for (size_t row = 0; row < tsi_rule_rows(ctx, LINES); row++)
		describe_row(ctx, row, is_top_in_title ? top : NULL);
	tsi_rule_evidence(ctx, "efficiency.top_recoverable");
	tsi_rule_evidence(ctx, "efficiency.top_recoverable_ratio");
	if (!top)
		return;
	tsi_rule_advice_for(ctx, ADVICE_TRAINING, top->advice);
	tsi_rule_advice_for(ctx, ADVICE_INFERENCE, top->inference_advice);
	if (top == &overhead_of_attention)
		tsi_rule_advice_for(ctx, ADVICE_SERVING, OTHER_ATTENTION);
	if (top == &other_of_trace) {
		tsi_claim_idle_cause(ctx, tsi_main_idle_cause(ctx));
		return;
	}
	tsi_rule_cause(ctx, top->cause);
	recover_line(ctx, top);
}
