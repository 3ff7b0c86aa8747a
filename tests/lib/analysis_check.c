/* SPDX-License-Identifier: MIT */
/*
 * Turns facts and tables into text, through the public interface alone, so
 * that a test shows what it expects the way a report would.
 */
#include "analysis_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "check.h"
#include "comm/replay.h"
#include "model/memory/memory_file.h"
#include "plain_text.h"

enum {
	TEXT_CHARS = 8192,
	NAME_CHARS = 64,
};

struct text {
	char chars[TEXT_CHARS];
	size_t length;
};

static void add(struct text *text, const char *part)
{
	size_t length = strlen(part);

	assert_true(text->length + length < sizeof(text->chars));
	memcpy(text->chars + text->length, part, length + 1);
	text->length += length;
}

static void add_value(struct text *text, struct tscope_value value)
{
	char number[NAME_CHARS] = "-";

	switch (value.kind) {
	case TSCOPE_VALUE_ABSENT:
		break;
	case TSCOPE_VALUE_INT:
		snprintf(number, sizeof(number), "%" PRId64, value.integer);
		break;
	case TSCOPE_VALUE_REAL:
		snprintf(number, sizeof(number), "%.6g", value.real);
		break;
	case TSCOPE_VALUE_TEXT:
		add(text, value.text);
		return;
	case TSCOPE_VALUE_FLAG:
		add(text, value.flag ? "yes" : "no");
		return;
	}
	add(text, number);
}

/* Takes the next name off a list, up to one of the separators; false: no more. */
static bool next_name(const char **list, const char *separators, char name[static NAME_CHARS])
{
	*list += strspn(*list, " ");
	size_t length = strcspn(*list, separators);
	if (length == 0)
		return false;
	assert_true(length < NAME_CHARS);
	memcpy(name, *list, length);
	name[length] = '\0';
	*list += length;
	if (**list && **list != ' ')
		(*list)++; /* the separator */
	return true;
}

static size_t find_analyzer(const char *id)
{
	for (size_t i = 0; i < tscope_analyzer_count(); i++)
		if (strcmp(tscope_analyzer(i)->id, id) == 0)
			return i;
	fail_msg("no analyzer %s", id);
	return 0;
}

static size_t find_def(const struct tscope_fact_def *defs, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(defs[i].name, name) == 0)
			return i;
	fail_msg("no fact or column %s", name);
	return 0;
}

static size_t find_table(const struct tscope_analyzer_def *def, const char *name)
{
	for (size_t i = 0; i < def->table_count; i++)
		if (strcmp(def->tables[i].name, name) == 0)
			return i;
	fail_msg("no table %s in %s", name, def->id);
	return 0;
}

static void release(struct test_kept *kept)
{
	struct analyzed *a = (struct analyzed *)kept;

	tscope_analysis_free(a->analysis);
	for (size_t i = 0; i < a->rank_count; i++)
		tsi_steps_deinit(&a->ranks[i]);
	tsi_steps_deinit(&a->slowest);
	free(a->ranks);
	free(a);
}

static struct analyzed *new_analyzed(void)
{
	struct analyzed *a = calloc(1, sizeof(*a));

	assert_non_null(a);
	test_keep(&a->kept, release);
	return a;
}

struct analyzed *keep_analysis(struct tscope_analysis *analysis)
{
	struct analyzed *a = new_analyzed();

	a->analysis = analysis;
	return a;
}

struct analyzed *analyze_steps_of(struct test_trace *t, const struct tscope_timeline_options *steps)
{
	struct tscope_analysis_options options = { .python = true };
	struct tscope_error err = { 0 };
	struct analyzed *a = new_analyzed();

	a->trace = test_trace_finish(t);
	a->timeline = test_timeline(a->trace, steps);
	if (tscope_analyze(&a->analysis, a->trace, a->timeline, &options, &err) != TSCOPE_OK)
		fail_msg("%s", err.message);
	return a;
}

struct analyzed *analyze(struct test_trace *t)
{
	return analyze_steps_of(t, NULL);
}

static struct analyzed *hold_ranks(struct step_series *ranks, size_t rank_count)
{
	struct analyzed *a = new_analyzed();

	a->ranks = calloc(rank_count, sizeof(*a->ranks));
	assert_non_null(a->ranks);
	for (size_t i = 0; i < rank_count; i++)
		tsi_steps_move(&a->ranks[i], &ranks[i]);
	a->rank_count = rank_count;
	return a;
}

static void analyze_level(struct analyzed *a, enum analyzer_level level,
			  const struct analysis_scope *scope)
{
	struct tscope_error err = { 0 };

	if (tsi_analyze_level(&a->analysis, level, scope, NULL, &err) != TSCOPE_OK)
		fail_msg("%s", err.message);
}

struct analyzed *analyze_rank(struct step_series *steps,
			      const struct tscope_analysis_options *options)
{
	struct analyzed *a = hold_ranks(steps, 1);

	analyze_level(a, LEVEL_RANK,
		      &(struct analysis_scope){ .steps = a->ranks, .options = options });
	return a;
}

struct analyzed *analyze_run_of(struct step_series *ranks, size_t rank_count,
				const struct world *world,
				const struct tscope_analysis_options *options)
{
	struct analyzed *a = hold_ranks(ranks, rank_count);
	struct analysis_scope scope = {
		.steps = &a->slowest,
		.ranks = a->ranks,
		.rank_count = rank_count,
		.world = world,
		.options = options,
	};
	struct replay_graph *graph = NULL;

	if (world && world->match_count > 0)
		assert_int_equal(tsi_replay_graph_new(&graph, world, NULL), TSCOPE_OK);
	scope.replay_graph = graph;
	tsi_steps_init(&a->slowest);
	tsi_steps_slowest(&a->slowest, a->ranks, rank_count, 0);
	analyze_level(a, LEVEL_RUN, &scope);
	tsi_replay_graph_free(graph);
	return a;
}

struct analyzed *analyze_run(struct step_series *ranks, size_t rank_count,
			     const struct tscope_analysis_options *options)
{
	return analyze_run_of(ranks, rank_count, NULL, options);
}

/* Takes over the file: what comes of it holds nothing of it. */
static struct analyzed *analyze_opened(struct tscope_memory *memory, struct tscope_memory *earlier,
				       const struct tscope_analysis_options *options)
{
	struct analyzed *a = new_analyzed();
	struct tscope_error err = { 0 };

	if (tscope_memory_analyze(&a->analysis, memory, earlier, options, &err) != TSCOPE_OK)
		fail_msg("%s", err.message);
	tscope_memory_free(memory);
	tscope_memory_free(earlier);
	return a;
}

static struct tscope_memory *memory_of(const char *plain_text, const char *path)
{
	struct tscope_memory *memory = calloc(1, sizeof(*memory));
	struct tscope_error err = { 0 };

	assert_non_null(memory);
	memory->plain = plain_of(plain_text);
	memory->info = (struct tscope_memory_info){ .path = path, .rank = -1, .note = "" };
	if (tsi_memory_build(memory, &err) != TSCOPE_OK)
		fail_msg("%s", err.message);
	return memory;
}

struct analyzed *analyze_memory(const char *plain_text,
				const struct tscope_analysis_options *options)
{
	return analyze_opened(memory_of(plain_text, "test"), NULL, options);
}

struct analyzed *analyze_growth(const char *plain_text, const char *earlier,
				const struct tscope_analysis_options *options)
{
	return analyze_opened(memory_of(plain_text, "test"), memory_of(earlier, "earlier"),
			      options);
}

struct analyzed *analyze_memory_file(const void *bytes, size_t length,
				     const struct tscope_analysis_options *options)
{
	struct tscope_memory *memory;
	struct tscope_error err = { 0 };

	if (tscope_memory_open_memory(&memory, "test", bytes, length, NULL, &err) != TSCOPE_OK)
		fail_msg("%s", err.message);
	return analyze_opened(memory, NULL, options);
}

void check_device_facts(const struct analyzed *a, int device, const char *names,
			const char *expected)
{
	char name[NAME_CHARS];
	struct text text = { 0 };

	assert_true(next_name(&names, ":", name));
	size_t analyzer = find_analyzer(name);
	const struct tscope_analyzer_def *def = tscope_analyzer(analyzer);
	while (next_name(&names, " ", name)) {
		size_t fact = find_def(def->facts, def->fact_count, name);
		if (text.length)
			add(&text, " ");
		add_value(&text, tscope_analysis_fact(a->analysis, analyzer, fact, device));
	}
	assert_string_equal(text.chars, expected);
}

void check_facts(const struct analyzed *a, const char *names, const char *expected)
{
	check_device_facts(a, TSCOPE_WHOLE_TRACE, names, expected);
}

void check_table(const struct analyzed *a, const char *names, const char *expected)
{
	char name[NAME_CHARS];
	struct text text = { 0 };

	assert_true(next_name(&names, ".", name));
	size_t analyzer = find_analyzer(name);
	const struct tscope_analyzer_def *def = tscope_analyzer(analyzer);
	assert_true(next_name(&names, ":", name));
	size_t table = find_table(def, name);
	size_t row_count =
		tscope_analysis_row_count(a->analysis, analyzer, table, TSCOPE_WHOLE_TRACE);

	for (size_t row = 0; row < row_count; row++) {
		const char *columns = names;
		for (bool is_first = true; next_name(&columns, " ", name); is_first = false) {
			size_t column = find_def(def->tables[table].columns,
						 def->tables[table].column_count, name);
			if (!is_first)
				add(&text, " ");
			add_value(&text, tscope_analysis_cell(a->analysis, analyzer, table,
							      TSCOPE_WHOLE_TRACE, row, column));
		}
		add(&text, "\n");
	}
	assert_string_equal(text.chars, expected);
}

void check_reliability(const struct analyzed *a, const char *analyzer, const char *expected)
{
	const char *reason = tscope_analysis_reliability(a->analysis, find_analyzer(analyzer),
							 TSCOPE_WHOLE_TRACE);

	if (expected)
		assert_non_null(reason);
	else
		assert_null(reason);
	if (expected)
		assert_string_equal(reason, expected);
}

void check_doubt(const struct analyzed *a, const char *fact, const char *expected)
{
	size_t analyzer = tscope_analyzer_find(fact), index = 0;
	const struct tscope_analyzer_def *def = tscope_analyzer(analyzer);
	const char *doubt;

	while (strcmp(def->facts[index].name, strchr(fact, '.') + 1) != 0)
		assert_true(++index < def->fact_count);
	doubt = tscope_analysis_fact_doubt(a->analysis, analyzer, index, TSCOPE_WHOLE_TRACE);
	assert_string_equal(doubt ? doubt : "-", expected ? expected : "-");
}
