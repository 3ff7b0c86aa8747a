/* SPDX-License-Identifier: MIT */
/* SERVING.PREFILL: requests that decode wait for the prompts of others. */
#include "base/scaled_text.h"
#include "rules/rule.h"

#include <inttypes.h>

static void evaluate_serving_prefill(struct rule_context *ctx)
{
	double share = tsi_rule_real(ctx, "inference.prefill_delay_ratio");
	int64_t clear_ns = tsi_rule_int(ctx, "inference.clear_itl_p50_ns");
	int64_t delayed_ns = tsi_rule_int(ctx, "inference.delayed_itl_p50_ns");

	if (!(share >= tsi_rule_parameter(ctx, "threshold")) || clear_ns <= 0)
		return;
	tsi_rule_fire(ctx, tsi_rule_grade(ctx, share),
		      "prompts stall decoding: the next token takes %s behind a prompt, %s "
		      "otherwise",
		      tsi_time_text((double)delayed_ns).chars,
		      tsi_time_text((double)clear_ns).chars);
	tsi_rule_detail(
		ctx, "%" PRId64 " intervals with a prompt cost %.1f %% of the time between tokens",
		tsi_rule_int(ctx, "inference.delayed_count"), 100 * share);
	tsi_rule_wins_nothing(ctx);
}

const struct rule tsi_rule_serving_prefill = {
	.def = {
		.id = "SERVING.PREFILL",
		.summary = "prompts hold up the requests that decode",
		.trigger = "Fires where intervals of tokens with a prompt in between, or beside "
			   "them in one iteration, exceed the median of the others by at least "
			   "threshold of all intervals; high from high on, else med.",
		.meaning = "While a long prompt is computed nobody gets a token: the longest times "
			   "between tokens are those of prompts. Chunks of prompts beside decoding "
			   "make each iteration longer, but none much longer. The work stays the "
			   "same.",
		.advice = "compute prompts in smaller chunks (vLLM --enable-chunked-prefill with a "
			  "lower --max-num-batched-tokens, SGLang --enable-mixed-chunk with a "
			  "lower --chunked-prefill-size); where the tail matters most, run prefill "
			  "and decode on separate devices",
		.example = "A token takes 20 ms, and 120 ms where a prompt of 8192 tokens comes "
			   "first, every tenth time: 100 ms of 300, 0.33, a finding of severity "
			   "high.",
		.parameters = {
			{ "threshold", 0.10, "share of the intervals at which it fires" },
			{ "high", 0.30, "share from which it is severe" },
		},
		.facts = { "inference.prefill_delay_ratio", "inference.clear_itl_p50_ns",
			   "inference.delayed_itl_p50_ns" },
	},
	.evidence = { "inference.itl_p50_ns", "inference.itl_p99_ns",
		      "inference.prefill_delay_ratio" },
	.cause = CAUSE_prefill_blocks_decode,
	.evaluate = evaluate_serving_prefill,
};
