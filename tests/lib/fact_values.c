/* SPDX-License-Identifier: MIT */
/* Writes facts into the sheets of an analysis for which no analyzer ran. */
#include "fact_values.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "analyze/fact_sheet.h"
#include "check.h"
#include "test_kept.h"

static size_t find_def(const struct tscope_fact_def *defs, size_t count, const char *name)
{
	size_t i = 0;

	while (i < count && strcmp(defs[i].name, name) != 0)
		i++;
	return i;
}

static struct tscope_value parse_value(enum tscope_unit unit, const char *text)
{
	switch (unit) {
	case TSCOPE_UNIT_TEXT:
		return tsi_text(text);
	case TSCOPE_UNIT_FLAG:
		return (struct tscope_value){ .kind = TSCOPE_VALUE_FLAG,
					      .flag = strcmp(text, "yes") == 0 };
	case TSCOPE_UNIT_RATIO:
	case TSCOPE_UNIT_NUMBER:
	case TSCOPE_UNIT_FLOPS:
	case TSCOPE_UNIT_FLOPS_PER_SECOND:
		return tsi_real(strtod(text, NULL));
	case TSCOPE_UNIT_ANY:
		if (text[strspn(text, "-.0123456789")] != '\0')
			return tsi_text(text);
		return strchr(text, '.') ? tsi_real(strtod(text, NULL))
					 : tsi_int(strtoll(text, NULL, 10));
	default:
		return strchr(text, '.') ? tsi_real(strtod(text, NULL))
					 : tsi_int(strtoll(text, NULL, 10));
	}
}

/* The sheet of the analyzer before the first dot of a name, begun if need be. */
static struct fact_sheet *sheet_of(struct tscope_analysis *analysis, const char *name)
{
	size_t analyzer = tscope_analyzer_find(name);

	if (analyzer == tscope_analyzer_count())
		fail_msg("no analyzer has %s", name);
	struct fact_sheet *sheet;
	assert_int_equal(tsi_analysis_sheet(analysis, analyzer, &sheet, NULL), TSCOPE_OK);
	return sheet;
}

/* The next "name=value" of a row, cut off, or NULL; *value points behind the sign. */
static char *next_cell(char **rest, char **value)
{
	char *name = *rest + strspn(*rest, " ");

	if (*name == '\0')
		return NULL;
	*value = strchr(name, '=');
	assert_non_null(*value);
	*(*value)++ = '\0';
	const char *end = **value == '\'' ? "'" : " ";
	*value += **value == '\'';
	*rest = *value + strcspn(*value, end);
	if (**rest != '\0')
		*(*rest)++ = '\0';
	return name;
}

/* "rank=3 excess_ratio=0.02 inputs='[[8, 4]] float'" */
static void add_row(struct fact_sheet *sheet, size_t table, char *rest)
{
	const struct tscope_table_def *def = &sheet->def->tables[table];
	struct tscope_value *cells = tsi_table_row(sheet, table);
	char *name, *value;

	assert_false(sheet->scratch.has_failed);
	while ((name = next_cell(&rest, &value))) {
		size_t column = find_def(def->columns, def->column_count, name);
		if (column == def->column_count)
			fail_msg("%s has no column %s", def->name, name);
		cells[column] = parse_value(def->columns[column].unit, value);
	}
}

static void add_line(struct tscope_analysis *analysis, const char *name, char *rest)
{
	struct fact_sheet *sheet = sheet_of(analysis, name);
	const struct tscope_analyzer_def *def = sheet->def;
	const char *local = name + strcspn(name, ".") + 1;
	size_t fact = find_def(def->facts, def->fact_count, local);

	if (fact < def->fact_count) {
		sheet->facts[fact] = parse_value(def->facts[fact].unit, rest);
		return;
	}
	for (size_t table = 0; table < def->table_count; table++) {
		if (strcmp(def->tables[table].name, local) == 0) {
			add_row(sheet, table, rest);
			return;
		}
	}
	fail_msg("no fact or table %s", name);
}

/* "overlap clocks do not agree", "efficiency.mfu no peak" */
static void add_doubt(struct tscope_analysis *analysis, const char *name, const char *reason)
{
	struct fact_sheet *sheet = sheet_of(analysis, name);
	const char *dot = strchr(name, '.');

	if (!dot) {
		tsi_fact_unreliable(sheet, reason);
		return;
	}
	size_t fact = find_def(sheet->def->facts, sheet->def->fact_count, dot + 1);
	if (fact == sheet->def->fact_count)
		fail_msg("no fact %s", name);
	tsi_fact_doubt(sheet, fact, reason);
}

struct values {
	struct test_kept kept;
	struct tscope_analysis *analysis;
	char *text; /* the analysis borrows from it */
};

static void release(struct test_kept *kept)
{
	struct values *values = (struct values *)kept;

	tscope_analysis_free(values->analysis);
	free(values->text);
	free(values);
}

struct tscope_analysis *fact_values(const char *lines)
{
	struct values *values = calloc(1, sizeof(*values));
	char *next;

	assert_non_null(values);
	test_keep(&values->kept, release);
	values->text = strdup(lines);
	assert_non_null(values->text);
	assert_int_equal(tsi_analysis_new(&values->analysis, NULL), TSCOPE_OK);
	for (char *line = strtok_r(values->text, "\n", &next); line;
	     line = strtok_r(NULL, "\n", &next)) {
		char *rest;
		char *name = strtok_r(line, " ", &rest);
		if (strcmp(name, "!") != 0) {
			add_line(values->analysis, name, rest);
			continue;
		}
		name = strtok_r(NULL, " ", &rest);
		add_doubt(values->analysis, name, rest);
	}
	return values->analysis;
}
