/* SPDX-License-Identifier: MIT */
/*
 * Facts and tables as rows for spreadsheets and pandas: one row a value. A name that a spreadsheet
 * would take for a formula begins with an apostrophe.
 */
#include "report/parts.h"
#include "report/sink.h"

#include "base/real.h"

#include <inttypes.h>

/* A ranking of an input of which no two events are alike ends somewhere, too. */
enum { RANKING_ROWS = 100000 };

static const struct escape csv_escape = { "\"", (const char *const[]){ "\"\"" } };

/* Common to all values of an analyzer. */
struct csv {
	struct sink sink;
	const struct report_part *part;
	const struct tscope_analysis *analysis;
	bool has_rank;
	int64_t rank;
	int scope;
	size_t top;
};

static void put_name(struct sink *sink, struct str name)
{
	/* Other programs also skip blanks before a formula. */
	size_t blanks = 0;

	while (blanks < name.length && name.data[blanks] == ' ')
		blanks++;
	tsi_sink_put(sink, "\"");
	if (blanks < name.length && strchr("=+-@\t\r", name.data[blanks]))
		tsi_sink_put(sink, "'");
	tsi_sink_escape(sink, &csv_escape, name);
	tsi_sink_put(sink, "\"");
}

static void put_value(struct sink *sink, struct tscope_value value)
{
	char text[REAL_TEXT_MAX];

	if (value.kind == TSCOPE_VALUE_INT)
		tsi_sink_print(sink, "%" PRId64, value.integer);
	else if (value.kind == TSCOPE_VALUE_FLAG)
		tsi_sink_put(sink, value.flag ? "true" : "false");
	else if (value.kind == TSCOPE_VALUE_TEXT)
		put_name(sink, tsi_str_of(value.text));
	else if (value.kind == TSCOPE_VALUE_REAL) {
		tsi_real_shortest(text, value.real);
		tsi_sink_put(sink, text);
	}
}

/* "input,rank,device," */
static void begin_row(struct csv *csv)
{
	put_name(&csv->sink, csv->part->path);
	tsi_sink_put(&csv->sink, ",");
	if (csv->has_rank)
		tsi_sink_print(&csv->sink, "%" PRId64, csv->rank);
	tsi_sink_put(&csv->sink, ",");
	if (csv->scope >= 0)
		tsi_sink_print(&csv->sink, "%d",
			       tscope_analysis_device_ordinal(csv->analysis, (uint32_t)csv->scope));
	tsi_sink_put(&csv->sink, ",");
}

static void end_row(struct csv *csv, struct tscope_value value, enum tscope_unit unit,
		    const char *doubt)
{
	tsi_sink_put(&csv->sink, ",");
	put_value(&csv->sink, value);
	tsi_sink_print(&csv->sink, ",%s,", tscope_unit_name(unit));
	if (doubt)
		put_name(&csv->sink, tsi_str_of(doubt));
	tsi_sink_put(&csv->sink, "\n");
}

static void put_facts(struct csv *csv, size_t analyzer)
{
	const struct tscope_analyzer_def *def = tscope_analyzer(analyzer);

	for (size_t i = 0; i < def->fact_count; i++) {
		struct tscope_value value =
			tscope_analysis_fact(csv->analysis, analyzer, i, csv->scope);

		if (value.kind == TSCOPE_VALUE_ABSENT)
			continue;
		begin_row(csv);
		tsi_sink_print(&csv->sink, "%s,,%s", def->id, def->facts[i].name);
		end_row(csv, value, def->facts[i].unit,
			tscope_analysis_fact_doubt(csv->analysis, analyzer, i, csv->scope));
	}
}

static void put_table(struct csv *csv, size_t analyzer, size_t index)
{
	const struct tscope_analyzer_def *def = tscope_analyzer(analyzer);
	const struct tscope_table_def *table = &def->tables[index];
	size_t count = tscope_analysis_row_count(csv->analysis, analyzer, index, csv->scope);
	size_t limit = strncmp(table->name, "by_", 3) != 0 ? count
		       : csv->top > 0                      ? csv->top
							   : RANKING_ROWS;

	for (size_t row = 0; row < count && row < limit; row++) {
		for (size_t column = 0; column < table->column_count; column++) {
			struct tscope_value value = tscope_analysis_cell(
				csv->analysis, analyzer, index, csv->scope, row, column);

			if (value.kind == TSCOPE_VALUE_ABSENT)
				continue;
			begin_row(csv);
			tsi_sink_print(&csv->sink, "%s.%s,%zu,%s", def->id, table->name, row + 1,
				       table->columns[column].name);
			end_row(csv, value, table->columns[column].unit, NULL);
		}
	}
}

static void put_scope(struct csv *csv, int scope)
{
	csv->scope = scope;
	for (size_t i = 0; i < tscope_analyzer_count(); i++) {
		if (!tscope_analysis_has(csv->analysis, i, scope))
			continue;
		put_facts(csv, i);
		for (size_t k = 0; k < tscope_analyzer(i)->table_count; k++)
			put_table(csv, i, k);
	}
}

static void put_analysis(struct csv *csv, const struct tscope_analysis *analysis)
{
	csv->analysis = analysis;
	put_scope(csv, TSCOPE_WHOLE_TRACE);
	for (uint32_t i = 0; i < tscope_analysis_device_count(analysis); i++)
		put_scope(csv, (int)i);
}

static void write_csv(FILE *out, const struct report_subject *subject,
		      const struct tscope_report_options *options)
{
	struct csv csv = { .sink = { .out = out }, .top = options->top };

	tsi_sink_put(&csv.sink, "input,rank,device,table,row,name,value,unit,doubt\n");
	for (size_t i = 0; i < tsi_part_count(subject); i++) {
		struct report_part part = tsi_part(subject, i);
		size_t ranks = part.run ? tscope_run_rank_count(part.run) : 0;

		csv.part = &part;
		csv.has_rank = false;
		put_analysis(&csv, part.analysis);
		for (size_t k = 0; k < ranks; k++) {
			csv.rank = tscope_run_rank_number(part.run, k);
			csv.has_rank = csv.rank >= 0 || ranks > 1;
			if (csv.has_rank)
				put_analysis(&csv, tscope_run_rank_analysis(part.run, k));
			tscope_run_forget_rank(part.run, k);
		}
	}
}

const struct reporter tsi_reporter_csv = {
	.format = { .name = "csv", .readers = "spreadsheets" },
	.write_facts = write_csv,
};
