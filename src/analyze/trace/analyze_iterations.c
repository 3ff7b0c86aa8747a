/* SPDX-License-Identifier: MIT */
/* The iterations of an inference engine one by one; analyze_inference.c sums them up. */
#include "analyze/facts.h"

#include "analyze/trace/inference_turns.h"

#define COLUMNS(X)                                                                                 \
	X(STEP, "step", COUNT, "its number, as in steps.list")                                     \
	X(PHASE, "phase", TEXT, "prefill, decode, mixed, speculative, idle or unknown")            \
	X(REQUESTS, "requests", COUNT, "requests in it")                                           \
	X(PROMPT_TOKENS, "prompt_tokens", COUNT, "tokens of prompts that it computes")             \
	X(DECODE_TOKENS, "decode_tokens", COUNT, "other tokens: one a request, or those proposed") \
	X(KV_TOKENS, "kv_tokens", COUNT, "keys that attention reads: the contexts' length")        \
	X(LATENCY_NS, "latency_ns", NS, "as in inference")                                         \
	X(KERNEL_NS, "kernel_ns", NS, "sum of the durations of its kernels")                       \
	X(GRAPH_NS, "graph_ns", NS, "of it, in replays of graphs")                                 \
	X(MARK, "mark", TEXT, "why it does not count, as in steps.list")

TSI_FACT_LIST(enum column, columns, COLUMNS);

#define TABLES(X) X(LIST, "list", columns, "all of them, in order")

TSI_TABLE_LIST(enum table, tables, TABLES);

static void put_said(struct tscope_value *cell, int64_t number)
{
	if (number != NOT_SAID)
		*cell = tsi_int(number);
}

static void put_turn(struct fact_sheet *out, const struct turn *turn,
		     const struct tscope_step *step)
{
	struct tscope_value *cells = tsi_table_row(out, LIST);

	cells[STEP] = tsi_int(step->number);
	cells[PHASE] = tsi_text(tsi_iteration_phase_name((enum iteration_phase)turn->said.phase));
	put_said(&cells[REQUESTS], turn->said.requests);
	put_said(&cells[PROMPT_TOKENS], turn->said.prompt_tokens);
	put_said(&cells[DECODE_TOKENS], turn->said.decode_tokens);
	put_said(&cells[KV_TOKENS], turn->said.kv_tokens);
	cells[LATENCY_NS] = tsi_int(turn->latency_ns);
	cells[KERNEL_NS] = tsi_int(turn->kernel_ns);
	cells[GRAPH_NS] = tsi_int(turn->graph_ns);
	cells[MARK] = tsi_text(tscope_step_mark_name(step->mark));
}

static void fill_iterations(const struct analysis_scope *scope, struct fact_sheet *out)
{
	if (scope->timeline->boundary != TSCOPE_BOUNDARY_ITERATION)
		return;
	struct turns turns = tsi_find_turns(scope, tsi_sheet_scratch(out));
	for (uint32_t i = 0; i < turns.count; i++)
		put_turn(out, &turns.items[i], &scope->timeline->steps[i]);
}

const struct analyzer tsi_analyzer_iterations = {
	.def = {
		.id = "iterations",
		.summary = "iterations of an inference engine, one by one",
		TSI_TABLES(tables),
		.needs = "a trace of an engine that marks its iterations (vLLM, SGLang, ATOM)",
	},
	.levels = LEVEL_TRACE,
	.beside_flops = true,
	.fill = fill_iterations,
};
