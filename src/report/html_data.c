/* SPDX-License-Identifier: MIT */
/*
 * The data that the page's pictures are drawn from: tables of facts column by column, timelines and
 * trees, as JSON in which no "<" can end the element that holds it. Large parts are compressed,
 * where zlib is there: browsers can decompress them.
 */
#include "analyze/lookup.h"
#include "config.h"
#include "report/html_lanes.h"
#include "report/html_writer.h"
#include "report/json_parts.h"
#include "report/reporter.h"

#include <stdlib.h>

#if HAVE_ZLIB
#include <zlib.h>
#endif

enum {
	MAX_SLICES = 120000, /* of all parts together, drawn by themselves */
	MAX_POINTS = 4000,   /* rows of a table */
	PLAIN_BYTES = 1 << 16,
};

/* ---- facts ---- */

/* Tables drawn as pictures, and their maximum of rows. */
static const struct picture_table {
	const char *id;
	size_t most;
} tables[] = {
	{ "series.steps", MAX_POINTS },
	{ "flops.by_operator", 300 },
	{ "snapshot.timeline", MAX_POINTS },
	{ "snapshot.site_timeline", MAX_POINTS },
	{ "snapshot.sites", 40 },
	{ "snapshot.by_role", 20 },
	{ "memory_timeline.by_category", 20 },
	{ "memory_timeline.timeline", MAX_POINTS },
	{ "memory_tracker.peak", 40 },
	{ "host_memory.by_bytes", 40 },
	{ "explanation.lines", 40 },
	{ "explanation.parts", 100 },
};

/* Column by column, those that have any value. */
static void put_table(struct json_writer *w, const struct table_view *view, size_t rows)
{
	for (size_t column = 0; column < view->def->column_count; column++) {
		size_t first = 0;

		while (first < rows &&
		       tsi_table_cell(view, first, column).kind == TSCOPE_VALUE_ABSENT)
			first++;
		if (first == rows)
			continue;
		tsi_json_array(w, view->def->columns[column].name);
		for (size_t row = 0; row < rows; row++)
			tsi_json_cell(w, tsi_table_cell(view, row, column));
		tsi_jw_end_array(w);
	}
}

static void put_tables(struct json_writer *w, const struct tscope_analysis *analysis)
{
	for (size_t i = 0; i < TSI_COUNT_OF(tables); i++) {
		struct table_view view = tsi_lookup_table(analysis, tables[i].id);
		size_t rows = view.row_count < tables[i].most ? view.row_count : tables[i].most;

		if (rows == 0)
			continue;
		tsi_json_object(w, tables[i].id);
		put_table(w, &view, rows);
		tsi_json_int_if(w, "left_out", view.row_count > rows,
				(int64_t)(view.row_count - rows));
		tsi_jw_end_object(w);
	}
}

/* ---- parts of the report ---- */

static void put_trace(struct json_writer *w, const struct tscope_trace_report *report, size_t limit)
{
	tsi_jw_object(w);
	tsi_json_text(w, "kind", "trace");
	put_tables(w, report->analysis);
	tsi_html_trace_lanes(w, report->analysis, limit);
	tsi_html_tree(w, tscope_analysis_trace(report->analysis));
	tsi_jw_end_object(w);
}

static void put_run(struct json_writer *w, const struct tscope_run *run, size_t limit)
{
	tsi_jw_object(w);
	tsi_json_text(w, "kind", "run");
	put_tables(w, tscope_run_analysis(run));
	tsi_json_array(w, "ranks");
	for (size_t i = 0; i < tscope_run_rank_count(run); i++) {
		struct table_view view =
			tsi_lookup_table(tscope_run_rank_analysis(run, i), "series.steps");

		tsi_jw_object(w);
		tsi_json_int_if(w, "rank", true, tscope_run_rank_number(run, i));
		put_table(w, &view, view.row_count < MAX_POINTS ? view.row_count : MAX_POINTS);
		tsi_jw_end_object(w);
	}
	tsi_jw_end_array(w);
	tsi_html_run_lanes(w, run, limit);
	tsi_jw_end_object(w);
}

static void put_plain_part(struct json_writer *w, const char *kind,
			   const struct tscope_analysis *analysis)
{
	tsi_jw_object(w);
	tsi_json_text(w, "kind", kind);
	put_tables(w, analysis);
	tsi_jw_end_object(w);
}

static void put_parts(struct json_writer *w, const struct report_subject *subject)
{
	size_t runs = subject->runs ? tscope_runs_count(subject->runs->runs) : 0;

	tsi_jw_array(w);
	for (size_t i = 0; subject->traces && i < subject->count; i++)
		put_trace(w, &subject->traces[i], MAX_SLICES / subject->count);
	for (size_t i = 0; subject->files && i < subject->count; i++)
		put_plain_part(w, "memory", subject->files[i].analysis);
	if (subject->hang)
		put_plain_part(w, "hang", subject->hang->analysis);
	if (subject->run)
		put_run(w, subject->run->run, MAX_SLICES / 2);
	/* Before several runs stands a part that lists them. */
	if (runs > 0)
		tsi_jw_null(w);
	for (size_t i = 0; i < runs; i++)
		put_run(w, tscope_runs_get(subject->runs->runs, i), MAX_SLICES / 2 / runs);
	if (subject->diff)
		put_plain_part(w, "diff", tscope_diff_analysis(subject->diff->diff));
	tsi_jw_end_array(w);
}

/* ---- into the page ---- */

static void put_escaped(FILE *out, const char *json)
{
	for (size_t length; *json != '\0'; json += length) {
		length = strcspn(json, "<");
		fwrite(json, 1, length, out);
		if (json[length] == '<') {
			fputs("\\u003c", out);
			length++;
		}
	}
}

#if HAVE_ZLIB
static void put_base64(FILE *out, const unsigned char *bytes, size_t count)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				     "0123456789+/";

	for (size_t i = 0; i < count; i += 3) {
		uint32_t group = (uint32_t)bytes[i] << 16;
		char text[4] = { '=', '=', '=', '=' };

		group |= i + 1 < count ? (uint32_t)bytes[i + 1] << 8 : 0;
		group |= i + 2 < count ? bytes[i + 2] : 0;
		for (size_t k = 0; k < 4 && i + k <= count; k++)
			text[k] = digits[group >> (18 - 6 * k) & 63];
		fwrite(text, 1, sizeof(text), out);
	}
}

/* False where it could not be compressed: nothing is written. */
static bool put_compressed(FILE *out, const char *json, size_t length)
{
	uLongf count = compressBound((uLong)length);
	unsigned char *bytes = malloc(count);
	bool is_done = bytes && compress2(bytes, &count, (const Bytef *)json, (uLong)length,
					  Z_DEFAULT_COMPRESSION) == Z_OK;

	if (is_done) {
		fputs(" data-form=\"deflate\">", out);
		put_base64(out, bytes, count);
	}
	free(bytes);
	return is_done;
}
#else
static bool put_compressed(FILE *out, const char *json, size_t length)
{
	(void)out;
	(void)json;
	(void)length;
	return false;
}
#endif

bool tsi_html_data(FILE *out, const struct report_subject *subject)
{
	struct json_writer w = { .extent = JSON_BASELINE };
	char *json = NULL;
	size_t length = 0;

	w.out = open_memstream(&json, &length);
	if (w.out && subject)
		put_parts(&w, subject);
	if (!w.out || fclose(w.out) != 0 || !json || w.has_failed) {
		free(json);
		return false;
	}
	if (length > PLAIN_BYTES && put_compressed(out, json, length)) {
		free(json);
		return true;
	}
	fputs(" data-form=\"json\">", out);
	put_escaped(out, json);
	free(json);
	return true;
}
