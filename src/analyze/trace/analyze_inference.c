/* SPDX-License-Identifier: MIT */
/*
 * The iterations of an inference engine, by phase: prompts, decoding, both, several proposed
 * tokens at once. Host and device run apart, so that an iteration is judged by its device work:
 *
 *	host	| prefill |  decode  |  decode  |      marks
 *	device	      |  prefill  |gap|decode |gap|decode|
 *	                          |<- latency>|               its work, and what it waited for
 *	                  |<- interval of tokens ->|
 *
 * Latency of an iteration: from the end of the device work of the one before, or from its own mark
 * where that is later, to the end of its device work. Interval of tokens: between the ends of
 * iterations that decode. Host gap: from the end of an iteration's device work to the first kernel
 * of the next one's model; copies and kernels that prepare inputs lie in it. Iterations without
 * device work end with their marks. Only unmarked steps count.
 */
#include "analyze/facts.h"

#include "analyze/ops/kernel_kind.h"
#include "analyze/ops/peak.h"
#include "analyze/shared/quantile.h"
#include "analyze/shared/reliability.h"
#include "analyze/trace/inference_gaps.h"
#include "analyze/trace/inference_turns.h"
#include "base/sort.h"
#include "base/sum.h"
#include "timeline/timeline.h"

#define PHASE_FACTS(X, id, phase)                                                                  \
	X(id##_COUNT, phase ".count", COUNT, phase " iterations")                                  \
	X(id##_P50_NS, phase ".p50_ns", NS, "median of their latency")                             \
	X(id##_P90_NS, phase ".p90_ns", NS, "90th percentile of it")                               \
	X(id##_P99_NS, phase ".p99_ns", NS, "99th percentile of it")                               \
	X(id##_TIME_RATIO, phase ".time_ratio", RATIO, "of the latency of all iterations")         \
	X(id##_REQUESTS, phase ".requests", NUMBER, "requests in one, mean")                       \
	X(id##_TOKENS, phase ".tokens", NUMBER,                                                    \
	  "tokens that one computes, mean; of speculation those that are proposed, too")           \
	X(id##_TOKENS_PER_SECOND, phase ".tokens_per_second", NUMBER,                              \
	  "tokens ÷ latency; none of speculation, of which not all are accepted")                  \
	X(id##_GRAPH_RATIO, phase ".graph_ratio", RATIO,                                           \
	  "of their kernel time, in replays of graphs")                                            \
	X(id##_MFU, phase ".mfu", RATIO,                                                           \
	  "FLOPs ÷ what the device could do in the time of their kernels")                         \
	X(id##_BANDWIDTH_RATIO, phase ".bandwidth_ratio", RATIO,                                   \
	  "bytes that products and attention must move (weights, cache, activations) ÷ what the " \
	  "memory could move in the time of their kernels")                                        \
	X(id##_BANDWIDTH_MOST_RATIO, phase ".bandwidth_most_ratio", RATIO,                         \
	  "the same where each token is routed to other experts; absent without experts")          \
	X(id##_BYTES, phase ".bytes", BYTES, "these bytes in one, mean")                           \
	X(id##_BOUND, phase ".bound", TEXT,                                                        \
	  "which of the two ends later at best: memory or compute")

#define FACTS(X)                                                                                   \
	PHASE_FACTS(X, PREFILL, "prefill")                                                         \
	PHASE_FACTS(X, DECODE, "decode")                                                           \
	PHASE_FACTS(X, MIXED, "mixed")                                                             \
	PHASE_FACTS(X, SPECULATIVE, "speculative")                                                 \
	PHASE_FACTS(X, DIFFUSION, "diffusion")                                                     \
	X(ENGINE, "engine", TEXT, "whose annotations mark the iterations")                         \
	X(ITERATION_COUNT, "iteration_count", COUNT, "iterations, of all phases")                  \
	X(IDLE_COUNT, "idle_count", COUNT, "of these, without any request")                        \
	X(ITL_P50_NS, "itl_p50_ns", NS, "median interval of tokens")                               \
	X(ITL_P90_NS, "itl_p90_ns", NS, "90th percentile of it")                                   \
	X(ITL_P99_NS, "itl_p99_ns", NS, "99th percentile of it")                                   \
	X(CLEAR_ITL_P50_NS, "clear_itl_p50_ns", NS,                                                \
	  "median interval of tokens without prompts in between")                                  \
	X(DELAYED_ITL_P50_NS, "delayed_itl_p50_ns", NS, "median of the others")                    \
	X(DELAYED_COUNT, "delayed_count", COUNT, "the others")                                     \
	X(PREFILL_DELAY_RATIO, "prefill_delay_ratio", RATIO,                                       \
	  "of all intervals of tokens, what the others exceed clear_itl_p50 by")                   \
	X(PREFILL_DELAY_NS, "prefill_delay_ns", NS, "that excess, per iteration")                  \
	X(OUTPUT_TOKENS_PER_SECOND, "output_tokens_per_second", NUMBER,                            \
	  "requests that decode ÷ time of all iterations; none where tokens are proposed")         \
	X(KV_TOKENS, "kv_tokens", NUMBER,                                                          \
	  "keys that attention reads in an iteration that decodes, mean")                          \
	X(HOST_GAP_NS, "host_gap_ns", NS, "host gap before an iteration, mean")                    \
	X(HOST_GAP_RATIO, "host_gap_ratio", RATIO, "host gaps ÷ time of these iterations")         \
	X(HOST_SCHEDULE_NS, "host.schedule_ns", NS,                                                \
	  "of host_gap_ns, where the engine's functions or annotations say what it is: choosing "  \
	  "requests and their cache")                                                              \
	X(HOST_PREPARE_NS, "host.prepare_ns", NS, "of it, preparing inputs")                       \
	X(HOST_FORWARD_NS, "host.forward_ns", NS, "of it, launching the model")                    \
	X(HOST_SAMPLE_NS, "host.sample_ns", NS, "of it, sampling tokens")                          \
	X(HOST_OUTPUT_NS, "host.output_ns", NS,                                                    \
	  "of it, taking over tokens: stops, detokenization, answers")                             \
	X(HOST_WAIT_NS, "host.wait_ns", NS, "of it, a worker's wait for the scheduler's process")  \
	X(HOST_OTHER_NS, "host.other_ns", NS, "of it, other host work")                            \
	X(HOST_PART, "host.part", TEXT, "the largest of these, where they are half of it or more") \
	X(HOST_PART_RATIO, "host.part_ratio", RATIO, "its share of the host gaps")                 \
	X(GRAPH_COVERAGE_RATIO, "graph_coverage_ratio", RATIO,                                     \
	  "of the kernel time of decode and speculative iterations, in replays of graphs")         \
	X(GRAPH_HIT_RATIO, "graph_hit_ratio", RATIO,                                               \
	  "of decode and speculative iterations, those that replay a graph")                       \
	X(GRAPH_MISS_COUNT, "graph_miss_count", COUNT, "the others")                               \
	X(GRAPH_MISS_IDLE_NS, "graph_miss_idle_ns", NS,                                            \
	  "time that the device waits for the host in the others, an iteration of all")            \
	X(GRAPH_MAX_REQUESTS, "graph_max_requests", COUNT, "most requests that replayed a graph")  \
	X(MISS_MIN_REQUESTS, "miss_min_requests", COUNT, "fewest that decoded without")            \
	X(PADDING_RATIO, "padding_ratio", RATIO,                                                   \
	  "of the batches of graphs, rows without a request; where annotations say both")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define BATCH_COLUMNS(X)                                                                           \
	X(BATCH_PHASE, "phase", TEXT, "phase")                                                     \
	X(BATCH_REQUESTS, "requests", COUNT, "requests in an iteration")                           \
	X(BATCH_COUNT, "count", COUNT, "such iterations")                                          \
	X(BATCH_GRAPH_COUNT, "graph_count", COUNT, "of these, those that replay a graph")          \
	X(BATCH_PADDED, "padded", COUNT, "size of the graph's batch")                              \
	X(BATCH_P50_NS, "p50_ns", NS, "median of their latency")

TSI_FACT_LIST(enum batch_column, batch_columns, BATCH_COLUMNS);

#define KIND_COLUMNS(X)                                                                            \
	X(KIND_PHASE, "phase", TEXT, "phase")                                                      \
	X(KIND_NAME, "kind", TEXT, "what kernels compute, as in kernels.by_kind")                  \
	X(KIND_TOTAL_NS, "total_ns", NS, "their time")                                             \
	X(KIND_RATIO, "ratio", RATIO, "of the phase's kernel time")

TSI_FACT_LIST(enum kind_column, kind_columns, KIND_COLUMNS);

#define TABLES(X)                                                                                  \
	X(BATCHES, "batches", batch_columns, "iterations by phase and number of requests")         \
	X(KINDS, "kinds", kind_columns, "kernel time by phase and kind, the largest first")

TSI_TABLE_LIST(enum table, tables, TABLES);

enum {
	PHASE_FACT_COUNT = DECODE_COUNT - PREFILL_COUNT,
	COUNTED_PHASES = ITERATION_DIFFUSION + 1, /* those with facts of their own */
	MAX_BATCHES = 256,
};

_Static_assert((int)ITERATION_DIFFUSION *(int)PHASE_FACT_COUNT == (int)DIFFUSION_COUNT,
	       "facts in the order of phases");

static const enum fact host_part_facts[] = {
	[ENGINE_SCHEDULE] = HOST_SCHEDULE_NS, [ENGINE_PREPARE] = HOST_PREPARE_NS,
	[ENGINE_FORWARD] = HOST_FORWARD_NS,   [ENGINE_SAMPLE] = HOST_SAMPLE_NS,
	[ENGINE_OUTPUT] = HOST_OUTPUT_NS,     [ENGINE_WAIT] = HOST_WAIT_NS,
	[ENGINE_OTHER] = HOST_OTHER_NS,
};

/* ---- facts ---- */

static void put_quantiles(struct fact_sheet *out, size_t first, int64_t *numbers, size_t count)
{
	static const unsigned char percents[] = { 50, 90, 99 };

	for (size_t i = 0; count > 0 && i < TSI_COUNT_OF(percents); i++)
		tsi_fact_int(out, first + i, tsi_find_quantile_ns(numbers, count, percents[i]));
}

/* A mean over iterations, where each of them says it. */
struct mean {
	int64_t sum;
	size_t count;
	bool is_partial;
};

static void add_said(struct mean *mean, int64_t number)
{
	mean->is_partial |= number == NOT_SAID;
	if (number == NOT_SAID)
		return;
	tsi_sum(&mean->sum, number);
	mean->count++;
}

static void put_mean(struct fact_sheet *out, size_t fact, const struct mean *mean)
{
	if (mean->count > 0 && !mean->is_partial)
		tsi_fact_real(out, fact, (double)mean->sum / (double)mean->count);
}

/* FLOPs and bytes of a phase's iterations, as far as shapes were recorded. */
struct phase_work {
	double flops, bytes, most_bytes;
	/* Kernels: all; of products and attention; of these, with FLOPs, bytes, bytes in limits. */
	int64_t kernel_ns, matrix_ns, flops_ns, bytes_ns, ranged_ns;
	int64_t count;
};

static struct phase_work find_work(const struct turns *turns, uint8_t phase)
{
	const struct trace_flops *flops = turns->scope->flops;
	struct phase_work work = { 0 };

	for (uint32_t i = 0; flops->step_bytes && i < turns->count; i++) {
		if (!turns->items[i].is_counted || turns->items[i].said.phase != phase)
			continue;
		work.flops += flops->steps[i].flops;
		work.bytes += flops->step_bytes[i].bytes;
		work.most_bytes += flops->step_bytes[i].most_bytes;
		work.count++;
		tsi_sum(&work.kernel_ns, turns->items[i].kernel_ns);
		tsi_sum(&work.matrix_ns, flops->steps[i].matrix_ns);
		tsi_sum(&work.flops_ns, flops->steps[i].counted_ns);
		tsi_sum(&work.bytes_ns, flops->step_bytes[i].counted_ns);
		tsi_sum(&work.ranged_ns, flops->step_bytes[i].ranged_ns);
	}
	return work;
}

/* Below that a figure is a lower bound. */
static const double WORK_COVERAGE = 0.9;

static bool is_covered(int64_t known_ns, int64_t all_ns)
{
	return (double)known_ns >= WORK_COVERAGE * (double)all_ns;
}

/* NULL where neither is known to be; what is not known may add to either. */
static const char *bound_of(const struct phase_work *work, double compute_s, double memory_s,
			    double most_s)
{
	if (memory_s >= compute_s && is_covered(work->flops_ns, work->matrix_ns))
		return "memory";
	if (compute_s > most_s && is_covered(work->bytes_ns, work->matrix_ns))
		return "compute";
	return NULL;
}

static void doubt_work(struct fact_sheet *out, size_t fact, const char *what, int64_t known_ns,
		       int64_t all_ns)
{
	if (!is_covered(known_ns, all_ns))
		tsi_fact_doubt(
			out, fact,
			tsi_sheet_print(out,
					"a lower bound: %s are known for %.1f %% of the time "
					"of matrix kernels",
					what, 100.0 * (double)known_ns / (double)all_ns));
}

/* The least of what experts may read stands for all. */
static void doubt_bytes(struct fact_sheet *out, size_t fact, const struct phase_work *work)
{
	doubt_work(out, fact, "bytes", work->bytes_ns, work->matrix_ns);
	if (work->ranged_ns > 0 && is_covered(work->bytes_ns, work->matrix_ns))
		tsi_fact_doubt(out, fact,
			       "a lower bound: which experts were read is not recorded, these "
			       "are those of one token");
}

static const enum fact bytes_facts[] = { PREFILL_BANDWIDTH_RATIO, PREFILL_BYTES };

static void put_roofline(struct fact_sheet *out, const struct turns *turns, uint8_t phase)
{
	const struct analysis_scope *scope = turns->scope;
	size_t first = (size_t)phase * PHASE_FACT_COUNT;
	struct phase_work work = find_work(turns, phase);
	double compute_s = work.flops / scope->flops->peak_flops;
	double memory_s = work.bytes / tsi_peak_bytes_per_second(scope->flops);
	double most_s = work.most_bytes / tsi_peak_bytes_per_second(scope->flops);

	if (work.flops_ns == 0)
		return;
	tsi_fact_real(out, first + PREFILL_MFU, compute_s * 1e9 / (double)work.kernel_ns);
	doubt_work(out, first + PREFILL_MFU, "FLOPs", work.flops_ns, work.matrix_ns);
	if (work.bytes_ns == 0)
		return;
	tsi_fact_real(out, first + PREFILL_BANDWIDTH_RATIO,
		      memory_s * 1e9 / (double)work.kernel_ns);
	tsi_fact_int(out, first + PREFILL_BYTES, (int64_t)(work.bytes / (double)work.count));
	for (size_t i = 0; i < TSI_COUNT_OF(bytes_facts); i++)
		doubt_bytes(out, first + bytes_facts[i], &work);
	if (work.ranged_ns > 0)
		tsi_fact_real(out, first + PREFILL_BANDWIDTH_MOST_RATIO,
			      most_s * 1e9 / (double)work.kernel_ns);
	const char *bound = bound_of(&work, compute_s, memory_s, most_s);
	if (bound)
		tsi_fact_text(out, first + PREFILL_BOUND, bound);
}

/* Unrecorded share from which latencies of a phase are not those of its iterations. */
static const double MOST_UNRECORDED = 0.2;
static const char unrecorded_doubt[] = "the devices were busy with work before the trace, or cut "
				       "out of it: it delays the iterations";

static void put_phase(struct fact_sheet *out, struct turns *turns, uint8_t phase, int64_t all_ns)
{
	size_t first = (size_t)phase * PHASE_FACT_COUNT, count = 0;
	struct mean requests = { 0 }, tokens = { 0 };
	int64_t time_ns = 0, kernel_ns = 0, graph_ns = 0, unrecorded_ns = 0;

	for (uint32_t i = 0; i < turns->count; i++) {
		const struct turn *turn = &turns->items[i];

		if (!turn->is_counted || turn->said.phase != phase)
			continue;
		turns->numbers[count++] = turn->latency_ns;
		tsi_sum(&unrecorded_ns, turn->unrecorded_ns);
		tsi_sum(&time_ns, turn->latency_ns);
		tsi_sum(&kernel_ns, turn->kernel_ns);
		tsi_sum(&graph_ns, turn->graph_ns);
		add_said(&requests, turn->said.requests);
		add_said(&tokens, tsi_iteration_tokens(&turn->said));
	}
	tsi_fact_int(out, first, (int64_t)count);
	if (count == 0)
		return;
	put_quantiles(out, first + PREFILL_P50_NS, turns->numbers, count);
	tsi_fact_ratio(out, first + PREFILL_TIME_RATIO, time_ns, all_ns);
	put_mean(out, first + PREFILL_REQUESTS, &requests);
	put_mean(out, first + PREFILL_TOKENS, &tokens);
	if (phase != ITERATION_SPECULATIVE && !tokens.is_partial && time_ns > 0)
		tsi_fact_real(out, first + PREFILL_TOKENS_PER_SECOND,
			      (double)tokens.sum * 1e9 / (double)time_ns);
	tsi_fact_ratio(out, first + PREFILL_GRAPH_RATIO, graph_ns, kernel_ns);
	if ((double)unrecorded_ns < MOST_UNRECORDED * (double)time_ns)
		return;
	for (size_t fact = PREFILL_P50_NS; fact <= PREFILL_P99_NS; fact++)
		tsi_fact_doubt(out, first + fact, unrecorded_doubt);
	tsi_fact_doubt(out, first + PREFILL_TOKENS_PER_SECOND, unrecorded_doubt);
}

/* The intervals of tokens: with prompts in between in others, else in numbers. */
struct intervals {
	size_t clear_count, delayed_count;
	int64_t sum_ns;
};

static struct intervals find_intervals(struct turns *turns)
{
	const struct turn *before = NULL;
	struct intervals found = { 0 };
	bool is_delayed = false;

	for (uint32_t i = 0; i < turns->count; i++) {
		const struct turn *turn = &turns->items[i];

		is_delayed |= turn->said.phase == ITERATION_PREFILL ||
			      turn->said.phase == ITERATION_MIXED;
		if (!turn->is_counted)
			before = NULL;
		if (!turn->is_counted || !tsi_turn_gives_tokens(turn))
			continue;
		if (before && turn->end_ns >= before->end_ns) {
			int64_t ns = turn->end_ns - before->end_ns;
			tsi_sum(&found.sum_ns, ns);
			if (is_delayed)
				turns->others[found.delayed_count++] = ns;
			else
				turns->numbers[found.clear_count++] = ns;
		}
		before = turn;
		is_delayed = false;
	}
	return found;
}

static void put_intervals(struct fact_sheet *out, struct turns *turns)
{
	struct intervals found = find_intervals(turns);
	size_t clear = found.clear_count, delayed = found.delayed_count;
	int64_t usual_ns = tsi_find_quantile_ns(turns->numbers, clear, 50), excess_ns = 0;

	if (clear > 0)
		tsi_fact_int(out, CLEAR_ITL_P50_NS, usual_ns);
	if (delayed > 0)
		tsi_fact_int(out, DELAYED_ITL_P50_NS,
			     tsi_find_quantile_ns(turns->others, delayed, 50));
	if (clear + delayed > 0)
		tsi_fact_int(out, DELAYED_COUNT, (int64_t)delayed);
	for (size_t i = 0; i < delayed; i++) {
		if (turns->others[i] > usual_ns)
			tsi_sum(&excess_ns, turns->others[i] - usual_ns);
		turns->numbers[clear + i] = turns->others[i];
	}
	if (clear > 0) {
		tsi_fact_ratio(out, PREFILL_DELAY_RATIO, excess_ns, found.sum_ns);
		tsi_fact_mean(out, PREFILL_DELAY_NS, excess_ns, turns->counted);
	}
	put_quantiles(out, ITL_P50_NS, turns->numbers, clear + delayed);
}

static const char *const host_part_names[] = {
	[ENGINE_SCHEDULE] = "scheduling",         [ENGINE_PREPARE] = "input preparation",
	[ENGINE_FORWARD] = "launching the model", [ENGINE_SAMPLE] = "sampling",
	[ENGINE_OUTPUT] = "output processing",    [ENGINE_WAIT] = "waiting for the scheduler",
	[ENGINE_OTHER] = "other host work",
};

/* A mean iteration's; what rounding leaves is of other work, so that all sum to the mean gap. */
static void put_host_parts(struct fact_sheet *out, const struct host_gaps *gaps, int64_t gap_ns)
{
	const int64_t *ns = gaps->parts.ns;
	unsigned largest = ENGINE_SCHEDULE;

	if (!gaps->parts.is_known || gaps->total_ns == 0)
		return;
	for (unsigned work = ENGINE_SCHEDULE; work < ENGINE_WORK_COUNT; work++) {
		tsi_fact_int(out, host_part_facts[work], ns[work] / gaps->count);
		gap_ns -= ns[work] / gaps->count;
		if (ns[work] > ns[largest])
			largest = work;
	}
	tsi_fact_int(out, HOST_OTHER_NS, gap_ns);
	if (ns[ENGINE_OTHER] <= gaps->total_ns / 2) {
		tsi_fact_text(out, HOST_PART, host_part_names[largest]);
		tsi_fact_ratio(out, HOST_PART_RATIO, ns[largest], gaps->total_ns);
	}
}

static void put_gaps(struct fact_sheet *out, const struct turns *turns)
{
	struct host_gaps gaps = tsi_find_host_gaps(turns, tsi_sheet_scratch(out));

	tsi_fact_mean(out, HOST_GAP_NS, gaps.total_ns, gaps.count);
	tsi_fact_ratio(out, HOST_GAP_RATIO, gaps.total_ns, gaps.wall_ns);
	if (gaps.count > 0)
		put_host_parts(out, &gaps, tsi_mean(gaps.total_ns, gaps.count).integer);
}

static void put_graphs(struct fact_sheet *out, const struct turns *turns)
{
	int64_t hit = 0, missed = 0, kernel_ns = 0, graph_ns = 0, idle_ns = 0;
	int64_t most_hit = NOT_SAID, least_missed = INT64_MAX;

	for (uint32_t i = 0; i < turns->count; i++) {
		const struct turn *turn = &turns->items[i];

		if (!turn->is_counted || !tsi_turn_decodes(turn) || turn->kernel_ns == 0)
			continue;
		tsi_sum(&kernel_ns, turn->kernel_ns);
		tsi_sum(&graph_ns, turn->graph_ns);
		if (turn->graph_ns > 0) {
			hit++;
			most_hit = turn->said.requests > most_hit ? turn->said.requests : most_hit;
			continue;
		}
		missed++;
		tsi_sum(&idle_ns, turn->waiting_ns);
		least_missed =
			turn->said.requests < least_missed ? turn->said.requests : least_missed;
	}
	tsi_fact_ratio(out, GRAPH_COVERAGE_RATIO, graph_ns, kernel_ns);
	tsi_fact_ratio(out, GRAPH_HIT_RATIO, hit, hit + missed);
	if (hit + missed == 0)
		return;
	tsi_fact_int(out, GRAPH_MISS_COUNT, missed);
	tsi_fact_mean(out, GRAPH_MISS_IDLE_NS, idle_ns, turns->counted);
	if (most_hit != NOT_SAID)
		tsi_fact_int(out, GRAPH_MAX_REQUESTS, most_hit);
	if (missed > 0)
		tsi_fact_int(out, MISS_MIN_REQUESTS, least_missed);
}

static void put_totals(struct fact_sheet *out, const struct turns *turns, int64_t wall_ns)
{
	struct mean keys = { 0 };
	int64_t idle = 0, rows = 0, requests = 0, outputs = 0;
	bool is_proposed = false;

	for (uint32_t i = 0; i < turns->count; i++) {
		const struct iteration *said = &turns->items[i].said;

		if (!turns->items[i].is_counted)
			continue;
		idle += said->phase == ITERATION_IDLE;
		is_proposed |=
			said->phase == ITERATION_SPECULATIVE ||
			(said->phase == ITERATION_MIXED && said->decode_requests == NOT_SAID);
		if (tsi_turn_gives_tokens(&turns->items[i])) {
			add_said(&keys, said->kv_tokens);
			tsi_sum(&outputs, said->decode_requests);
		}
		if (said->padded_requests >= said->requests && said->padded_requests > 0) {
			tsi_sum(&rows, said->padded_requests);
			tsi_sum(&requests, said->requests);
		}
	}
	tsi_fact_int(out, IDLE_COUNT, idle);
	put_mean(out, KV_TOKENS, &keys);
	tsi_fact_ratio(out, PADDING_RATIO, rows - requests, rows);
	if (!is_proposed && outputs > 0 && wall_ns > 0)
		tsi_fact_real(out, OUTPUT_TOKENS_PER_SECOND,
			      (double)outputs * 1e9 / (double)wall_ns);
}

/* ---- tables ---- */

static void put_kinds(struct fact_sheet *out, const struct turns *turns)
{
	for (size_t phase = 0; phase < ITERATION_PHASE_COUNT; phase++) {
		int64_t total_ns = 0;

		for (size_t kind = 0; kind < KERNEL_KIND_COUNT; kind++)
			tsi_sum(&total_ns, turns->kind_ns[phase][kind]);
		for (size_t kind = 0; kind < KERNEL_KIND_COUNT; kind++) {
			int64_t ns = turns->kind_ns[phase][kind];
			if (ns == 0)
				continue;
			struct tscope_value *cells = tsi_table_row(out, KINDS);
			cells[KIND_PHASE] =
				tsi_text(tsi_iteration_phase_name((enum iteration_phase)phase));
			cells[KIND_NAME] = tsi_text(tsi_kernel_kind_name((enum kernel_kind)kind));
			cells[KIND_TOTAL_NS] = tsi_int(ns);
			cells[KIND_RATIO] = tsi_ratio(ns, total_ns);
		}
	}
	tsi_table_order(out, KINDS, KIND_TOTAL_NS, KIND_NAME);
}

static void put_batch(struct fact_sheet *out, struct turns *turns, const struct sort_pair *pairs,
		      size_t count)
{
	const struct turn *first = &turns->items[pairs[0].value];
	struct tscope_value *cells = tsi_table_row(out, BATCHES);
	int64_t graph_count = 0, padded = first->said.padded_requests;

	for (size_t i = 0; i < count; i++) {
		const struct turn *turn = &turns->items[pairs[i].value];

		turns->numbers[i] = turn->latency_ns;
		graph_count += turn->graph_ns > 0;
		if (turn->said.padded_requests != padded)
			padded = NOT_SAID;
	}
	cells[BATCH_PHASE] =
		tsi_text(tsi_iteration_phase_name((enum iteration_phase)first->said.phase));
	cells[BATCH_REQUESTS] = tsi_int(first->said.requests);
	cells[BATCH_COUNT] = tsi_int((int64_t)count);
	cells[BATCH_GRAPH_COUNT] = tsi_int(graph_count);
	if (padded != NOT_SAID)
		cells[BATCH_PADDED] = tsi_int(padded);
	cells[BATCH_P50_NS] = tsi_int(tsi_find_quantile_ns(turns->numbers, count, 50));
}

static void put_batches(struct fact_sheet *out, struct turns *turns, struct arena *scratch)
{
	struct sort_pair *pairs = tsi_arena_new(scratch, turns->count, 2 * sizeof(*pairs));
	size_t count = 0, rows = 0;

	for (uint32_t i = 0; pairs && i < turns->count; i++) {
		const struct turn *turn = &turns->items[i];

		if (turn->is_counted && turn->said.requests != NOT_SAID)
			pairs[count++] = (struct sort_pair){
				(uint64_t)turn->said.phase << 32 | (uint64_t)turn->said.requests, i
			};
	}
	if (!pairs)
		return;
	tsi_sort_pairs(pairs, pairs + turns->count, count);
	for (size_t at = 0, end; at < count && rows < MAX_BATCHES; at = end, rows++) {
		for (end = at; end < count && pairs[end].key == pairs[at].key; end++)
			;
		put_batch(out, turns, &pairs[at], end - at);
	}
}

static void fill_inference(const struct analysis_scope *scope, struct fact_sheet *out)
{
	int64_t all_ns = 0, wall_ns = 0;

	if (scope->timeline->boundary != TSCOPE_BOUNDARY_ITERATION)
		return;
	struct turns turns = tsi_find_turns(scope, tsi_sheet_scratch(out));
	for (uint32_t i = 0; i < turns.count; i++) {
		if (!turns.items[i].is_counted)
			continue;
		tsi_sum(&all_ns, turns.items[i].latency_ns);
		tsi_sum(&wall_ns, scope->timeline->steps[i].wall_ns);
	}
	if (turns.engine)
		tsi_fact_text(out, ENGINE, turns.engine);
	tsi_fact_int(out, ITERATION_COUNT, turns.counted);
	for (uint8_t phase = 0; phase < COUNTED_PHASES; phase++)
		put_phase(out, &turns, phase, all_ns);
	put_intervals(out, &turns);
	put_totals(out, &turns, wall_ns);
	if (scope->trace->device_count > 0) {
		put_gaps(out, &turns);
		put_graphs(out, &turns);
		put_kinds(out, &turns);
		for (uint8_t phase = 0; phase < COUNTED_PHASES; phase++)
			put_roofline(out, &turns, phase);
	}
	put_batches(out, &turns, tsi_sheet_scratch(out));
	tsi_judge_device_time(scope->timeline, out);
}

const struct analyzer tsi_analyzer_inference = {
	.def = {
		.id = "inference",
		.summary = "iterations of an inference engine, by phase",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a trace of an engine that marks its iterations (vLLM, SGLang, ATOM)",
	},
	.levels = LEVEL_TRACE,
	.fill = fill_inference,
};
