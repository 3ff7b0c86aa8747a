/* SPDX-License-Identifier: MIT */
/*
 * The iterations of inference engines: prefill is compared with prefill, a decode of 32 requests
 * with those of 32. The mean step of two recordings differs by how many prompts came in.
 */
#include "analyze/facts.h"
#include "analyze/lookup.h"

#include <math.h>
#include <string.h>

#include "analyze/shared/quantile.h"
#include "base/sort.h"
#include "diff/sample_test.h"
#include "timeline/iteration.h"

#define FACTS(X)                                                                                   \
	X(CHANGED_COUNT, "changed_count", COUNT, "of the phases, those whose latency changed")     \
	X(SIZE_CHANGED_COUNT, "size_changed_count", COUNT, "of the batch sizes of both, likewise")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define COLUMNS(X)                                                                                 \
	X(PHASE, "phase", TEXT, "phase")                                                           \
	X(REQUESTS, "requests", COUNT, "requests in an iteration; absent: the phase, of any size") \
	X(VERDICT, "verdict", TEXT,                                                                \
	  "on the typical latency: changed, no_change, same or undecided (too few iterations)")    \
	X(A_COUNT, "a_count", COUNT, "such iterations of A")                                       \
	X(B_COUNT, "b_count", COUNT, "and of B")                                                   \
	X(A_P50_NS, "a_p50_ns", NS, "median of their latency in A")                                \
	X(B_P50_NS, "b_p50_ns", NS, "and in B")                                                    \
	X(CHANGE_NS, "change_ns", NS, "b_p50_ns less a_p50_ns")                                    \
	X(CHANGE_RATIO, "change_ratio", NUMBER, "change_ns by a_p50_ns")                           \
	X(LOW_NS, "low_ns", NS, "a typical iteration of B takes at least so much longer")          \
	X(HIGH_NS, "high_ns", NS, "and at most so much")                                           \
	X(P_VALUE, "p_value", NUMBER, "chance of such a difference between equal runs")

TSI_FACT_LIST(enum column, columns, COLUMNS);

#define TABLES(X) X(LIST, "list", columns, "phases, each with the batch sizes that both have")

TSI_TABLE_LIST(enum table, tables, TABLES);

enum { MAX_ROWS = 256, ANY_SIZE = 0 };

/* Iterations of one side by phase and size, and again by phase; each in the order of time. */
struct side {
	struct sort_pair *keys; /* phase and size; row */
	int64_t *latency_ns;    /* by place in keys */
	size_t count;
};

/* size: requests + 1, or ANY_SIZE. */
static uint64_t key_of(uint8_t phase, uint32_t size)
{
	return (uint64_t)phase << 32 | size;
}

/* ITERATION_PHASE_COUNT: of no phase that is compared. */
static uint8_t phase_of(struct tscope_value cell)
{
	uint8_t phase = 0;

	if (cell.kind != TSCOPE_VALUE_TEXT)
		return ITERATION_PHASE_COUNT;
	while (phase < ITERATION_PHASE_COUNT &&
	       strcmp(cell.text, tsi_iteration_phase_name((enum iteration_phase)phase)) != 0)
		phase++;
	return phase <= ITERATION_DIFFUSION ? phase : ITERATION_PHASE_COUNT;
}

static struct side read_side(const struct tscope_analysis *analysis, struct arena *scratch)
{
	struct table_view list = tsi_lookup_table(analysis, "iterations.list");
	size_t phase_at = tsi_table_column(&list, "phase"),
	       size = tsi_table_column(&list, "requests"),
	       latency = tsi_table_column(&list, "latency_ns");
	size_t room = 2 * list.row_count;
	struct side side = {
		.keys = tsi_arena_new(scratch, 2 * room, sizeof(*side.keys)),
		.latency_ns = tsi_arena_new(scratch, room, sizeof(*side.latency_ns)),
	};

	for (size_t row = 0; side.keys && side.latency_ns && row < list.row_count; row++) {
		uint8_t phase = phase_of(tsi_table_cell(&list, row, phase_at));
		struct tscope_value requests = tsi_table_cell(&list, row, size);
		const char *marked = tsi_table_text(&list, row, "mark");

		if (phase == ITERATION_PHASE_COUNT || *marked)
			continue;
		side.keys[side.count++] = (struct sort_pair){ key_of(phase, ANY_SIZE), row };
		if (requests.kind == TSCOPE_VALUE_INT && requests.integer >= 0 &&
		    requests.integer < UINT32_MAX)
			side.keys[side.count++] =
				(struct sort_pair){ key_of(phase, (uint32_t)requests.integer + 1),
						    row };
	}
	tsi_sort_pairs(side.keys, side.keys ? side.keys + room : NULL, side.count);
	for (size_t i = 0; i < side.count; i++)
		side.latency_ns[i] = tsi_table_cell(&list, side.keys[i].value, latency).integer;
	return side;
}

/* The iterations with a key, behind those before *at. */
static struct sample take(const struct side *side, uint64_t key, size_t *at)
{
	size_t first;

	while (*at < side->count && side->keys[*at].key < key)
		++*at;
	for (first = *at; *at < side->count && side->keys[*at].key == key;)
		++*at;
	return (struct sample){ side->latency_ns + first, *at - first };
}

static int64_t median(const struct sample *sample, struct arena *scratch)
{
	int64_t *numbers = tsi_arena_new(scratch, sample->count, sizeof(*numbers));

	if (!numbers)
		return 0;
	memcpy(numbers, sample->values, sample->count * sizeof(*numbers));
	return tsi_find_quantile_ns(numbers, sample->count, 50);
}

static void put_row(struct fact_sheet *out, uint64_t key, const struct sample *a,
		    const struct sample *b, const struct sample_test *test)
{
	struct arena *scratch = tsi_sheet_scratch(out);
	struct tscope_value *cells = tsi_table_row(out, LIST);
	int64_t a_ns = median(a, scratch), b_ns = median(b, scratch);

	cells[PHASE] = tsi_text(tsi_iteration_phase_name((enum iteration_phase)(key >> 32)));
	if ((uint32_t)key != ANY_SIZE)
		cells[REQUESTS] = tsi_int((int64_t)(uint32_t)key - 1);
	cells[VERDICT] = tsi_text(tsi_diff_verdict_name(test->typical_verdict));
	cells[A_COUNT] = tsi_int((int64_t)a->count);
	cells[B_COUNT] = tsi_int((int64_t)b->count);
	cells[A_P50_NS] = tsi_int(a_ns);
	cells[B_P50_NS] = tsi_int(b_ns);
	cells[CHANGE_NS] = tsi_int(b_ns - a_ns);
	cells[CHANGE_RATIO] = tsi_ratio(b_ns - a_ns, a_ns);
	if (test->verdict == DIFF_UNDECIDED)
		return;
	if (test->typical_low > -0x1p62 && test->typical_high < 0x1p62) {
		cells[LOW_NS] = tsi_int((int64_t)floor(test->typical_low));
		cells[HIGH_NS] = tsi_int((int64_t)ceil(test->typical_high));
	}
	cells[P_VALUE] = tsi_real(test->typical_p_value);
}

/* The next key that both sides have from *key on; false: there is none. */
static bool next_key(const struct side sides[TSCOPE_SIDE_COUNT], size_t at[TSCOPE_SIDE_COUNT],
		     uint64_t *key)
{
	const struct side *a = &sides[TSCOPE_SIDE_A], *b = &sides[TSCOPE_SIDE_B];
	size_t *i = &at[TSCOPE_SIDE_A], *k = &at[TSCOPE_SIDE_B];

	while (*i < a->count && *k < b->count && a->keys[*i].key != b->keys[*k].key)
		++*(a->keys[*i].key < b->keys[*k].key ? i : k);
	if (*i == a->count || *k == b->count)
		return false;
	*key = a->keys[*i].key;
	return true;
}

static size_t count_keys(const struct side sides[TSCOPE_SIDE_COUNT])
{
	size_t at[TSCOPE_SIDE_COUNT] = { 0 }, count = 0;

	for (uint64_t key; next_key(sides, at, &key); count++)
		for (int side = 0; side < TSCOPE_SIDE_COUNT; side++)
			(void)take(&sides[side], key, &at[side]);
	return count;
}

static void diff_phase_changes(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct arena *scratch = tsi_sheet_scratch(out);
	struct side sides[TSCOPE_SIDE_COUNT];
	size_t at[TSCOPE_SIDE_COUNT] = { 0 }, rows = 0;
	int64_t changed = 0, size_changed = 0;

	for (int side = 0; side < TSCOPE_SIDE_COUNT; side++)
		sides[side] = read_side(scope->comparison->sides[side].analysis, scratch);
	size_t count = count_keys(sides);
	for (uint64_t key; rows < MAX_ROWS && next_key(sides, at, &key); rows++) {
		struct sample a = take(&sides[TSCOPE_SIDE_A], key, &at[TSCOPE_SIDE_A]);
		struct sample b = take(&sides[TSCOPE_SIDE_B], key, &at[TSCOPE_SIDE_B]);
		struct sample_test test = tsi_sample_test(&a, &b, count, scratch);
		bool is_changed = test.typical_verdict == DIFF_CHANGED;

		put_row(out, key, &a, &b, &test);
		changed += is_changed && (uint32_t)key == ANY_SIZE;
		size_changed += is_changed && (uint32_t)key != ANY_SIZE;
	}
	if (rows == 0)
		return;
	tsi_fact_int(out, CHANGED_COUNT, changed);
	tsi_fact_int(out, SIZE_CHANGED_COUNT, size_changed);
}

const struct analyzer tsi_analyzer_phase_changes = {
	.def = {
		.id = "phase_changes",
		.summary = "iterations of inference engines by phase and batch size",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a comparison of traces whose iterations have the same phases",
	},
	.levels = LEVEL_DIFF,
	.fill = diff_phase_changes,
};
