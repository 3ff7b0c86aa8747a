/* SPDX-License-Identifier: MIT */
/* The section about an inference engine's iterations: by phase, batch and kind of kernel. */
#include "report/section.h"
#include "report/text_nodes.h"

#include <inttypes.h>
#include <string.h>

#include "analyze/lookup.h"

/* A fact of a phase: inference.decode.p50_ns. */
static const char *phase_fact(const struct panel *panel, const char *phase, const char *fact)
{
	return tsi_panel_print(panel, "inference.%s.%s", phase, fact);
}

/* Range for weights chosen by routing: "5.2 % to 31.0 %"; NULL: routing does not matter. */
static const char *range_text(const struct panel *panel, const char *phase)
{
	const char *most = phase_fact(panel, phase, "bandwidth_most_ratio");

	if (!tsi_panel_has(panel, most))
		return NULL;
	return tsi_panel_print(panel, "%s to %s",
			       tsi_panel_number(panel, phase_fact(panel, phase, "bandwidth_ratio")),
			       tsi_panel_number(panel, most));
}

/* "memory-bound, 39.4 % of its bandwidth", "memory-bound"; NULL: what bounds it is not known. */
static const char *bound_text(const struct panel *panel, const char *phase)
{
	const char *bound = tsi_panel_text(panel, phase_fact(panel, phase, "bound"));
	bool is_memory = strcmp(bound, "memory") == 0;
	const char *id = phase_fact(panel, phase, is_memory ? "bandwidth_ratio" : "mfu");

	const char *range = is_memory ? range_text(panel, phase) : NULL;

	if (!*bound)
		return NULL;
	if (range)
		return tsi_panel_print(panel, "memory-bound, %s of its bandwidth", range);
	if (tsi_panel_doubt(panel, id)) /* a lower bound says little */
		return tsi_panel_print(panel, "%s-bound", bound);
	return is_memory ? tsi_panel_print(panel, "memory-bound, %s of its bandwidth",
					   tsi_panel_number(panel, id))
			 : tsi_panel_print(panel, "compute-bound, MFU %s",
					   tsi_panel_number(panel, id));
}

/* "decode 32 · p50 19.11 ms · p99 21.40 ms · 32 requests · 1,674 tokens/s"; NULL: there is none */
static const char *phase_text(const struct panel *panel, const char *phase)
{
	static const struct {
		const char *before, *fact, *after;
	} figures[] = {
		{ "p50 ", "p50_ns", "" },
		{ "p99 ", "p99_ns", "" },
		{ "", "requests", " requests" },
		{ "", "tokens_per_second", " tokens/s" },
	};
	int64_t count = tsi_panel_int(panel, phase_fact(panel, phase, "count"));
	const char *text = tsi_panel_print(panel, "%s %" PRId64, phase, count);

	for (size_t i = 0; i < TSI_COUNT_OF(figures); i++) {
		const char *id = phase_fact(panel, phase, figures[i].fact);
		bool is_same = i == 1 && count == 1; /* as the median */

		/* Unrecorded waiting makes the rate meaningless, and is in the latency. */
		bool is_doubted = i == 3 && tsi_panel_doubt(panel, id);
		const char *rate = phase_fact(panel, phase, "tokens_per_second");
		bool is_waiting = i == 0 && tsi_panel_doubt(panel, rate);

		if (!is_same && !is_doubted && tsi_panel_has(panel, id))
			tsi_panel_append(panel, &text, " · %s%s%s%s", figures[i].before,
					 tsi_panel_number(panel, id), figures[i].after,
					 is_waiting ? " with unrecorded waiting" : "");
	}
	const char *bound = count > 0 ? bound_text(panel, phase) : NULL;
	if (bound)
		tsi_panel_append(panel, &text, " · %s", bound);
	return count > 0 ? text : NULL;
}

static const char *const phases[] = { "prefill", "decode", "mixed", "speculative", "diffusion" };

int tsi_phase_lines(const struct panel *panel)
{
	int count = 0;

	for (size_t i = 0; i < TSI_COUNT_OF(phases); i++) {
		const struct doc_node node = {
			.kind = DOC_NODE_LINE,
			.line = { .role = DOC_NOTE, .text = phase_text(panel, phases[i]) },
		};
		count += node.line.text ? tsi_text_lines(&node, panel->options) : 0;
	}
	return count;
}

const char *tsi_inference_part(const struct panel *panel)
{
	bool is_all = !panel->report || tsi_panel_int(panel, "inference.iteration_count") >=
						tsi_panel_int(panel, "step_time.count");

	return is_all ? "" : " (longest trace)";
}

void tsi_put_phases(const struct panel *panel)
{
	for (size_t i = 0; i < TSI_COUNT_OF(phases); i++) {
		const char *text = phase_text(panel, phases[i]);
		if (text)
			tsi_doc_line(panel->doc, DOC_NOTE, DOC_PLAIN, NULL, "%s", text);
	}
}

/* Host activity in the gaps: a line of its parts. */
static void put_host_parts(const struct panel *panel)
{
	static const struct figure figures[] = {
		{ "between iterations", "inference.host_gap_ns" },
		{ "scheduling", "inference.host.schedule_ns" },
		{ "input preparation", "inference.host.prepare_ns" },
		{ "launching the model", "inference.host.forward_ns" },
		{ "sampling", "inference.host.sample_ns" },
		{ "output processing", "inference.host.output_ns" },
		{ "waiting for the scheduler", "inference.host.wait_ns" },
		{ "other host work", "inference.host.other_ns" },
	};

	struct figure shown[TSI_COUNT_OF(figures)];
	size_t count = 0;

	for (size_t i = 0; i < TSI_COUNT_OF(figures); i++)
		if (tsi_panel_int(panel, figures[i].id) > 0)
			shown[count++] = figures[i];
	if (tsi_panel_has(panel, "inference.host.other_ns"))
		tsi_panel_figures(panel, shown, count);
}

/* Traces have sizes and times, and no contents: how many tokens an expert got is not in them. */
static void put_expert_balance(const struct panel *panel)
{
	struct table_view kinds = tsi_panel_rows(panel, "inference.kinds");
	bool has_experts = false;

	for (size_t row = 0; row < kinds.row_count; row++)
		has_experts |= strcmp(tsi_table_text(&kinds, row, "kind"), "moe") == 0;
	if (has_experts && !tsi_panel_has(panel, "experts.imbalance_ratio"))
		tsi_doc_line(panel->doc, DOC_NOTE, DOC_PLAIN, NULL,
			     "balance of experts not known: tokens per expert are not recorded");
}

void tsi_section_inference(const struct panel *panel)
{
	static const struct figure figures[] = {
		{ "interval of tokens p50", "inference.itl_p50_ns" },
		{ "p99", "inference.itl_p99_ns" },
		{ "added by prompts", "inference.prefill_delay_ratio" },
		{ "host gap", "inference.host_gap_ratio" },
		{ "decode in graphs", "inference.graph_coverage_ratio" },
		{ "padding", "inference.padding_ratio" },
		{ "keys", "inference.kv_tokens" },
	};
	static const struct column batch_columns[] = {
		{ "phase", "phase", 14 },      { "requests", "requests", 10 },
		{ "count", "count", 8 },       { "in graphs", "graph_count", 10 },
		{ "padded to", "padded", 10 }, { "p50", "p50_ns", 12 },
	};
	static const struct column kind_columns[] = {
		{ "phase", "phase", 14 },
		{ "kernels", "kind", 16 },
		{ "total", "total_ns", 12 },
		{ "share", "ratio", 9 },
	};

	if (!tsi_panel_has(panel, "inference.iteration_count"))
		return;
	tsi_panel_title(panel, DOC_INFO, "inference", "INFERENCE", "%s iterations%s%s%s",
			tsi_panel_number(panel, "inference.iteration_count"),
			tsi_panel_has(panel, "inference.engine") ? " of " : "",
			tsi_panel_text(panel, "inference.engine"), tsi_inference_part(panel));
	tsi_put_phases(panel);
	tsi_panel_figures(panel, figures, TSI_COUNT_OF(figures));
	put_host_parts(panel);
	put_expert_balance(panel);
	tsi_panel_table(panel, "inference.batches", batch_columns, TSI_COUNT_OF(batch_columns));
	tsi_panel_table(panel, "inference.kinds", kind_columns, TSI_COUNT_OF(kind_columns));
}

void tsi_section_graphs(const struct panel *panel)
{
	static const struct figure figures[] = {
		{ "replays", "graphs.replay_count" },
		{ "joined", "graphs.joined_count" },
		{ "in part", "graphs.partial_count" },
		{ "ambiguous", "graphs.ambiguous_count" },
		{ "of no captured graph", "graphs.unknown_count" },
		{ "kernels unlike", "graphs.mismatch_count" },
	};
	static const struct column columns[] = {
		{ "kernel", "kernel", 0 }, { "operator", "op", 22 },    { "shape", "shape", 22 },
		{ "count", "count", 7 },   { "total", "total_ns", 10 }, { "share", "ratio", 7 },
	};

	if (!tsi_panel_has(panel, "graphs.replay_count"))
		return;
	tsi_panel_title(panel, DOC_INFO, "graphs", "GRAPHS",
			"%s of their kernel time has its operator from the capture",
			tsi_panel_number(panel, "graphs.operator_ratio"));
	tsi_panel_figures(panel, figures, TSI_COUNT_OF(figures));
	tsi_panel_kernels(panel, "graphs.kernels", columns, TSI_COUNT_OF(columns));
}
