/* SPDX-License-Identifier: MIT */
/*
 * Reports that were saved as JSON: whatever is written of the files in testdata/ is read back as
 * the same facts, tables and findings, and what is no such report is refused with a remedy.
 */
#include "analyze/saved_report.h"
#include "decode/foreign.h"

#include "base/attributes.h"
#include "check.h"
#include "fail_alloc.h"
#include "packed.h"
#include "report/json_parts.h"

#include <stdlib.h>
#include <string.h>
#include <tscope/tscope.h>

_Static_assert(SAVED_SCHEMA_VERSION == (int)JSON_SCHEMA_VERSION, "what is written must be read");

/* ---- reading ------------------------------------------------------------------------------- */

static enum tscope_status read_bytes(struct saved_report *report, const void *data, size_t length,
				     size_t block_bytes, struct tscope_error *err)
{
	struct input_options options = { .block_bytes = block_bytes, .single_thread = true };
	struct input *in;

	*report = (struct saved_report){ 0 };
	enum tscope_status status = tsi_input_open_memory(&in, data, length, &options, err);
	if (status != TSCOPE_OK)
		return status;
	status = tsi_saved_report_read(report, in, err);
	tsi_input_close(in);
	return status;
}

static struct saved_report read_good(const char *text)
{
	struct saved_report report;
	struct tscope_error err = { 0 };

	assert_true(tsi_is_saved_report(tsi_str_of(text)));
	if (read_bytes(&report, text, strlen(text), 0, &err) != TSCOPE_OK)
		fail_msg("%s", err.message);
	return report;
}

/* ---- what is written is read again ---------------------------------------------------------- */

/* Facts and findings of an analysis as the report has them. To be freed. */
static char *facts_text(const struct tscope_analysis *analysis)
{
	struct tscope_diagnosis *diagnosis;
	struct json_writer w = { 0 };
	char *text = NULL;
	size_t length = 0;

	w.out = open_memstream(&text, &length);
	assert_non_null(w.out);
	assert_int_equal(tscope_diagnose(&diagnosis, analysis, NULL, NULL), TSCOPE_OK);
	tsi_jw_object(&w);
	tsi_json_facts(&w, analysis, TSCOPE_WHOLE_TRACE);
	tsi_json_findings(&w, diagnosis);
	tsi_jw_key(&w, "not_evaluated");
	tsi_jw_array(&w);
	for (size_t i = 0; i < tscope_diagnosis_not_evaluated_count(diagnosis); i++) {
		struct tscope_not_evaluated missed = tscope_diagnosis_not_evaluated(diagnosis, i);
		tsi_json_not_evaluated(&w, &missed);
	}
	tsi_jw_end_array(&w);
	tsi_jw_end_object(&w);
	assert_int_equal(fclose(w.out), 0);
	tscope_diagnosis_free(diagnosis);
	return text;
}

static double number_of(struct tscope_value value)
{
	return value.kind == TSCOPE_VALUE_INT ? (double)value.integer : value.real;
}

/* JSON has numbers only: what is counted in whole ones comes back so, without unit as real. */
static bool is_same_number(enum tscope_unit unit, struct tscope_value computed,
			   struct tscope_value saved)
{
	bool is_counted =
		unit == TSCOPE_UNIT_COUNT || unit == TSCOPE_UNIT_NS || unit == TSCOPE_UNIT_BYTES;

	if (is_counted)
		return computed.kind == TSCOPE_VALUE_REAL && saved.kind == TSCOPE_VALUE_INT &&
		       number_of(computed) == number_of(saved);
	return unit == TSCOPE_UNIT_NUMBER && computed.kind == TSCOPE_VALUE_INT &&
	       saved.kind == TSCOPE_VALUE_REAL && number_of(computed) == number_of(saved);
}

static void check_kind(const char *place, const struct tscope_fact_def *def,
		       struct tscope_value computed, struct tscope_value saved)
{
	if (computed.kind != saved.kind && !is_same_number(def->unit, computed, saved))
		fail_msg("%s.%s: was of kind %d, is of kind %d", place, def->name,
			 (int)computed.kind, (int)saved.kind);
}

static void check_cells(const struct tscope_analysis *computed, const struct tscope_analysis *saved,
			size_t analyzer, size_t table)
{
	const struct tscope_table_def *def = &tscope_analyzer(analyzer)->tables[table];
	size_t rows = tscope_analysis_row_count(computed, analyzer, table, TSCOPE_WHOLE_TRACE);

	assert_int_equal(tscope_analysis_row_count(saved, analyzer, table, TSCOPE_WHOLE_TRACE),
			 rows);
	for (size_t row = 0; row < rows; row++)
		for (size_t i = 0; i < def->column_count; i++)
			check_kind(def->name, &def->columns[i],
				   tscope_analysis_cell(computed, analyzer, table,
							TSCOPE_WHOLE_TRACE, row, i),
				   tscope_analysis_cell(saved, analyzer, table, TSCOPE_WHOLE_TRACE,
							row, i));
}

/* The reading of what was written: the same text again, of values of the same kinds. */
static void check_same(const struct tscope_analysis *computed, const struct tscope_analysis *saved)
{
	char *expected = facts_text(computed), *found = facts_text(saved);

	assert_string_equal(found, expected);
	free(expected);
	free(found);
	for (size_t i = 0; i < tscope_analyzer_count(); i++) {
		const struct tscope_analyzer_def *def = tscope_analyzer(i);
		for (size_t fact = 0; fact < def->fact_count; fact++)
			check_kind(def->id, &def->facts[fact],
				   tscope_analysis_fact(computed, i, fact, TSCOPE_WHOLE_TRACE),
				   tscope_analysis_fact(saved, i, fact, TSCOPE_WHOLE_TRACE));
		for (size_t table = 0; table < def->table_count; table++)
			check_cells(computed, saved, i, table);
	}
}

/* A report of one of the three commands, and where its figures came from. */
struct written {
	char *text;
	struct tscope_run *run;
	struct tscope_trace *trace;
	struct tscope_timeline *timeline;
	struct tscope_memory *memory;
	struct tscope_analysis *analysis;
	struct tscope_diagnosis *diagnosis;
};

static const char *path_of(const char *name)
{
	static char path[1024];

	snprintf(path, sizeof(path), "%s/%s", testdata, name);
	return path;
}

static const struct tscope_report_options as_json = { .format = TSCOPE_REPORT_JSON,
						      .all_rows = true };

static void write_run(FILE *out, struct written *w, const char *path,
		      const struct tscope_report_options *options)
{
	assert_int_equal(tscope_run_open(&w->run, &path, 1, NULL, NULL), TSCOPE_OK);
	assert_int_equal(tscope_diagnose(&w->diagnosis, tscope_run_analysis(w->run), NULL, NULL),
			 TSCOPE_OK);
	struct tscope_run_report what = { w->run, w->diagnosis, NULL, 0 };
	assert_int_equal(tscope_report_write_run(out, &what, options, NULL), TSCOPE_OK);
}

static void write_trace(FILE *out, struct written *w, const char *path,
			const struct tscope_report_options *options)
{
	static const struct tscope_analysis_options with_python = { .python = true };

	assert_int_equal(tscope_trace_open(&w->trace, path, NULL, NULL), TSCOPE_OK);
	assert_int_equal(tscope_timeline_build(&w->timeline, w->trace, NULL, NULL), TSCOPE_OK);
	assert_int_equal(tscope_analyze(&w->analysis, w->trace, w->timeline, &with_python, NULL),
			 TSCOPE_OK);
	assert_int_equal(tscope_diagnose(&w->diagnosis, w->analysis, NULL, NULL), TSCOPE_OK);
	struct tscope_trace_report what = { w->analysis, w->diagnosis, NULL, 0 };
	assert_int_equal(tscope_report_write(out, &what, 1, options, NULL), TSCOPE_OK);
}

static void write_memory(FILE *out, struct written *w, const char *path,
			 const struct tscope_report_options *options)
{
	static const struct tscope_analysis_options analysis_options = { 0 };

	assert_int_equal(tscope_memory_open(&w->memory, path, NULL, NULL), TSCOPE_OK);
	assert_int_equal(
		tscope_memory_analyze(&w->analysis, w->memory, NULL, &analysis_options, NULL),
		TSCOPE_OK);
	assert_int_equal(tscope_diagnose(&w->diagnosis, w->analysis, NULL, NULL), TSCOPE_OK);
	struct tscope_memory_report what = { w->memory, w->analysis, w->diagnosis, NULL, 0 };
	assert_int_equal(tscope_report_write_memory(out, &what, 1, options, NULL), TSCOPE_OK);
}

typedef void write_report(FILE *out, struct written *w, const char *path,
			  const struct tscope_report_options *options);

static struct written write_file(write_report *write, const char *name,
				 const struct tscope_report_options *options)
{
	struct written w = { 0 };
	size_t length = 0;
	FILE *out = open_memstream(&w.text, &length);

	assert_non_null(out);
	write(out, &w, path_of(name), options);
	assert_int_equal(fclose(out), 0);
	return w;
}

static void written_deinit(struct written *w)
{
	tscope_diagnosis_free(w->diagnosis);
	tscope_analysis_free(w->analysis);
	tscope_timeline_free(w->timeline);
	tscope_trace_free(w->trace);
	tscope_memory_free(w->memory);
	tscope_run_free(w->run);
	free(w->text);
}

/* Those that every build reads. */
TEST(test_runs)
{
	static const char *const names[] = { "run_healthy", "run_sick",        "run_mixed",
					     "run_memory",  "run_rerun",       "two_steps.json",
					     "flops.json",  "flops_part.json", "cpu_only.json",
					     "era_a.json",  "oom.pickle",      "leak_b.pickle" };

	for (size_t i = 0; i < TSI_COUNT_OF(names); i++) {
		struct written w = write_file(write_run, names[i], &as_json);
		struct saved_report report = read_good(w.text);

		assert_int_equal(report.rank_count, tscope_run_rank_count(w.run));
		check_same(tscope_run_analysis(w.run), report.analysis);
		for (size_t rank = 0; rank < report.rank_count; rank++) {
			assert_int_equal(report.ranks[rank].number,
					 tscope_run_rank_number(w.run, rank));
			check_same(tscope_run_rank_analysis(w.run, rank),
				   report.ranks[rank].analysis);
		}
		assert_false(report.is_cut);
		tsi_saved_report_deinit(&report);
		written_deinit(&w);
	}
}

/* A trace or a file about memory has one rank, whose figures are those of the whole. */
TEST(test_single_files)
{
	static const struct {
		const char *name;
		write_report *write;
	} cases[] = {
		{ "two_steps.json", write_trace },
		{ "flops.json", write_trace },
		{ "bare_array_cut.json", write_trace },
		{ "era_d.json", write_trace },
		{ "rocm.json", write_trace },
		{ "unescaped_quotes.json", write_trace },
		{ "oom.pickle", write_memory },
		{ "leak_a.pickle", write_memory },
		{ "snapshot.html", write_memory },
		{ "fsdp_mem_rank_0_training_step_1.log", write_memory },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct written w = write_file(cases[i].write, cases[i].name, &as_json);
		struct saved_report report = read_good(w.text);

		check_same(w.analysis, report.analysis);
		assert_int_equal(report.rank_count, 1);
		assert_ptr_equal(report.ranks[0].analysis, report.analysis);
		assert_int_equal(report.ranks[0].number,
				 w.memory ? tscope_memory_info(w.memory)->rank
					  : tscope_trace_info(w.trace)->rank);
		assert_false(report.is_cut);
		tsi_saved_report_deinit(&report);
		written_deinit(&w);
	}
}

/* two_steps.json has more than one kernel and more than one operator. */
TEST(test_cut_rankings)
{
	struct tscope_report_options options = as_json;
	options.top = 1;
	struct written w = write_file(write_run, "two_steps.json", &options);
	struct saved_report report = read_good(w.text);

	assert_true(report.is_cut);
	tsi_saved_report_deinit(&report);
	written_deinit(&w);
}

/* As a baseline in a repository may be kept. */
TEST(test_compressed)
{
	struct written w = write_file(write_run, "run_sick", &as_json);

	for (const struct codec *codec = codecs; codec->name; codec++) {
		struct bytes packed = { 0 };
		struct saved_report report;

		codec->add(&packed, w.text, strlen(w.text));
		assert_int_equal(read_bytes(&report, packed.data, packed.length, 0, NULL),
				 TSCOPE_OK);
		check_same(tscope_run_analysis(w.run), report.analysis);
		tsi_saved_report_deinit(&report);
		bytes_reset(&packed);
	}
	written_deinit(&w);
}

/* ---- documents, as a test wrote them ------------------------------------------------------- */

/* Schema 1 had at the root what later stands in runs[0]. */
#define SAVED_BY(schema)                                                                           \
	"{\"schema_version\": " #schema ", \"tool\": {\"name\": \"tscope\", \"version\": "         \
	"\"0.2\"}, "
#define HEAD SAVED_BY(1)

/* "3:6 ": its number and step_time.count. */
static size_t show_rank(const struct saved_rank *rank, char *text, size_t size)
{
	struct tscope_value count;
	enum tscope_unit unit;

	assert_true(tscope_analysis_find(rank->analysis, "step_time.count", &count, &unit));
	int number = (int)rank->number;
	if (count.kind != TSCOPE_VALUE_INT)
		return (size_t)snprintf(text, size, "%d:- ", number);
	return (size_t)snprintf(text, size, "%d:%d ", number, (int)count.integer);
}

TEST(test_ranks)
{
	static const struct {
		const char *rest, *ranks; /* number and step_time.count of each */
	} cases[] = {
		{ "\"ranks\": [{\"rank\": 2, \"facts\": {\"step_time\": {\"count\": 5}}}, "
		  "{\"rank\": null, \"facts\": {}}, {\"rank\": 0}]",
		  "-1:- 0:- 2:5 " },
		{ "\"ranks\": [{\"rank\": 12, \"facts\": {\"step_time\": {\"count\": 5}}}, "
		  "{\"rank\": 3, \"facts\": {\"step_time\": {\"count\": 6}}}]",
		  "3:6 12:5 " },
		{ "\"ranks\": []", "-1:9 " },
		{ "\"ranks\": 4", "-1:9 " },
		{ "\"trace\": {\"rank\": 5}", "5:9 " },
		{ "\"trace\": {\"rank\": null}, \"inputs\": [{\"rank\": 6}]", "6:9 " },
		{ "\"inputs\": [{\"rank\": 6}, {\"rank\": 7}]", "-1:9 " },
		{ "\"inputs\": [{\"rank\": -6}]", "-1:9 " },
	};

	for (size_t i = 0; i < 2 * TSI_COUNT_OF(cases); i++) {
		char text[512], found[128] = "";
		size_t length = 0;

		snprintf(text, sizeof(text), "%s\"facts\": {\"step_time\": {\"count\": 9}}, %s}%s",
			 i % 2 ? SAVED_BY(2) "\"runs\": [{" : HEAD, cases[i / 2].rest,
			 i % 2 ? "]}" : "");
		struct saved_report report = read_good(text);
		for (size_t rank = 0; rank < report.rank_count; rank++)
			length += show_rank(&report.ranks[rank], found + length,
					    sizeof(found) - length);
		assert_string_equal(found, cases[i / 2].ranks);
		assert_string_equal(report.saved_by, "tscope 0.2");
		tsi_saved_report_deinit(&report);
	}
}

#define BYTES_64 "a long name of sixty-four bytes, of which there are more than o "
#define BYTES_256 BYTES_64 BYTES_64 BYTES_64 BYTES_64

/* Each form in which the three commands say it; what is no text or number is passed over. */
TEST(test_damage)
{
	static const struct {
		const char *rest, *damage; /* with ' for " */
		uint64_t dropped_count;
	} cases[] = {
		{ "'inputs': [{'path': 'a', 'damage': null, 'dropped_count': 0}]", "", 0 },
		{ "'inputs': [{'path': 'a', 'dropped_count': 2, 'dropped': {'x': 2}}, "
		  "{'path': 'b', 'damage': {'message': 'cut', 'offset': 7}, 'dropped_count': 3}]",
		  "b: cut", 5 },
		{ "'inputs': [{'path': 'a', 'damage': {'message': 'cut'}}], "
		  "'problems': [{'path': 'b', 'reason': 'torn'}, {'path': 'c', 'reason': 'r'}]",
		  "a: cut, and 2 more", 0 },
		{ "'problems': [{'path': 'c', 'reason': 'no gzip'}]", "c: no gzip", 0 },
		/* A trace alone. */
		{ "'inputs': [{'path': 't', 'dropped': {'x': 2, 'y': 5}}], "
		  "'damage': {'message': 'cut'}",
		  "t: cut", 7 },
		{ "'traces': [{'facts': {}, 'damage': {'message': 'cut'}}], "
		  "'inputs': [{'path': 't', 'dropped': {}}]",
		  "t: cut", 0 },
		{ "'damage': {'message': 'cut'}", ": cut", 0 },
		/* Since schema 2. */
		{ "'runs': [{'facts': {}, 'inputs': [{'path': 'a', 'dropped_count': 2}], "
		  "'problems': [{'path': 'c', 'reason': 'torn'}]}], 'problems': []",
		  "c: torn", 2 },
		/* Not as they should be. */
		{ "'inputs': [{}, 4, {'path': 'a', 'damage': {'message': 5}, 'dropped': 3}, "
		  "{'dropped': {'x': -1, 'y': null, 'z': 1}}], 'problems': {'a': 1}",
		  "", 1 },
		{ "'inputs': [{'dropped_count': 18446744073709551615}, {'dropped_count': 4}]", "",
		  UINT64_MAX },
		{ "'inputs': [{'path': '" BYTES_256 "', 'damage': {'message': '" BYTES_256
		  "'}}], 'problems': [{'path': 'c', 'reason': 'r'}]",
		  /* 200 bytes of the path, 240 of what it is */
		  BYTES_64 BYTES_64 BYTES_64 "a long n: " BYTES_64 BYTES_64 BYTES_64
					     "a long name of sixty-four bytes, of which there , "
					     "and 1 more",
		  0 },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		char text[2048];

		snprintf(text, sizeof(text), HEAD "\"facts\": {}, %s}", cases[i].rest);
		for (char *quote = text; (quote = strchr(quote, '\'')) != NULL;)
			*quote = '"';
		struct saved_report report = read_good(text);
		assert_string_equal(report.damage, cases[i].damage);
		assert_int_equal(report.dropped_count, cases[i].dropped_count);
		tsi_saved_report_deinit(&report);
	}
}

/* ---- what is none --------------------------------------------------------------------------- */

TEST(test_taste)
{
	static const struct {
		const char *head;
		bool is_saved;
	} cases[] = {
		{ HEAD "\"inputs\": [", true },
		{ "\xef\xbb\xbf \r\n\t{ \"schema_version\" :1 ,\"tool\":{\"name\":\"tscope\"",
		  true },
		{ "{\"tool\":{\"version\":\"2\",\"name\":\"tscope\"},\"schema_version\":9,", true },
		{ "{\"inputs\":[{\"a\":\"}\"}],\"schema_version\":1,\"tool\":{\"name\":\"tscope\"}"
		  "}",
		  true },
		{ "", false },
		{ "{", false },
		{ "{\"schema_version\": 1}", false },
		{ "{\"tool\": {\"name\": \"tscope\"}}", false },
		{ "{\"schema_version\": 1, \"tool\": \"tscope\"}", false },
		{ "{\"schema_version\": 1, \"tool\": {\"name\": \"tscopes\"}}", false },
		{ "{\"schemaVersion\": 1, \"traceEvents\": [{\"args\": {\"schema_version\": 1, "
		  "\"tool\": {\"name\": \"tscope\"}}}",
		  false },
		{ "[{\"schema_version\": 1, \"tool\": {\"name\": \"tscope\"}}]", false },
		{ "x{\"schema_version\": 1, \"tool\": {\"name\": \"tscope\"}}", false },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		if (tsi_is_saved_report(tsi_str_of(cases[i].head)) != cases[i].is_saved)
			fail_msg("%s", cases[i].head);
}

TEST(test_refusals)
{
	static const struct {
		const char *text;
		enum tscope_status status;
		const char *message;
	} cases[] = {
		{ "[1]", TSCOPE_E_FORMAT, "no report of tscope: expected an object with" },
		{ "{\"schema_version\": 1, \"tool\": {\"name\": \"other\"}}", TSCOPE_E_FORMAT,
		  "no report of tscope: expected an object with schema_version and tool" },
		{ "{\"schema_version\": 0, \"tool\": {\"name\": \"tscope\"}, \"facts\": {}}",
		  TSCOPE_E_FORMAT, "no report of tscope" },
		{ "{\"schema_version\": \"1\", \"tool\": {\"name\": \"tscope\"}, \"facts\": {}}",
		  TSCOPE_E_FORMAT, "no report of tscope" },
		{ "{\"schema_version\": 3, \"tool\": {\"name\": \"tscope\", \"version\": \"9\"}}",
		  TSCOPE_E_UNSUPPORTED,
		  "saved by tscope 9 with schema_version 3: this tscope reads version 2; save it "
		  "again with this one" },
		{ HEAD "\"inputs\": []}", TSCOPE_E_FORMAT, "a report without facts" },
		{ HEAD "\"facts\": []}", TSCOPE_E_FORMAT, "a report without facts" },
		{ HEAD "\"traces\": [{\"facts\": {}}, {\"facts\": {}}, {\"facts\": {}}]}",
		  TSCOPE_E_UNSUPPORTED,
		  "holds 3 reports (traces), and one can be read: save each by itself" },
		{ HEAD "\"runs\": [{\"facts\": {}}, {\"facts\": {}}]}", TSCOPE_E_UNSUPPORTED,
		  "holds 2 reports (runs)" },
		{ HEAD "\"files\": []}", TSCOPE_E_UNSUPPORTED, "holds 0 reports (files)" },
		{ HEAD "\"files\": [7]}", TSCOPE_E_FORMAT, "a report without facts" },
		{ HEAD "\"sides\": {}, \"facts\": {\"step_change\": {}}}", TSCOPE_E_UNSUPPORTED,
		  "is a comparison itself; save a report (tscope report --format json)" },
		{ HEAD "\"facts\": {\"fact_changes\": null}}", TSCOPE_E_UNSUPPORTED,
		  "is a comparison itself" },
		{ HEAD "\"facts\": {}, \"ranks\": [{\"rank\": 3}, {\"rank\": 1}, {\"rank\": 3}]}",
		  TSCOPE_E_DAMAGED, "rank 3 is there twice" },
		{ HEAD "\"facts\": {}, \"ranks\": [{}, {\"rank\": 3}, 7]}", TSCOPE_E_DAMAGED,
		  "ranks without a number: expected at most one" },
		{ HEAD "\"facts\": {}}\n" HEAD "\"facts\": {}}", TSCOPE_E_DAMAGED,
		  "80 bytes follow the report: expected one report in a file" },
		{ HEAD "\"facts\": {x", TSCOPE_E_DAMAGED, "JSON: expected a key or }, found x" },
		{ "traceEvents", TSCOPE_E_FORMAT, "" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct saved_report report;
		struct tscope_error err = { 0 };
		enum tscope_status status =
			read_bytes(&report, cases[i].text, strlen(cases[i].text), 0, &err);

		if (status != cases[i].status ||
		    strncmp(err.message, cases[i].message, strlen(cases[i].message)) != 0)
			fail_msg("%s: %d, %s", cases[i].text, (int)status, err.message);
		tsi_saved_report_deinit(&report);
	}
}

static const char small[] =
	HEAD "\"facts\": {\"kernels\": {\"reliability\": \"r\", \"doubts\": {\"count\": \"d\"}, "
	     "\"count\": 3, \"by_name\": [{\"name\": \"a\"}, {\"name\": \"b\"}]}, "
	     "\"series\": {\"steps\": {\"step\": [1, 2]}}}, "
	     "\"ranks\": [{\"rank\": 1, \"facts\": {\"steps\": {\"count\": 4}}}, {\"rank\": 0}]}";

TEST(test_cut_files)
{
	for (size_t length = 1; length < sizeof(small) - 1; length++) {
		struct saved_report report;
		struct tscope_error err = { 0 };

		assert_int_equal(read_bytes(&report, small, length, 1 + length % 7, &err),
				 TSCOPE_E_DAMAGED);
		assert_non_null(strstr(err.message, "truncated"));
		assert_true(err.has_offset);
		assert_int_equal(err.offset, length);
		tsi_saved_report_deinit(&report);
	}
}

TEST(test_allocations)
{
	struct alloc_sweep sweep = { .at_least = 20 };
	while (alloc_sweep_next(&sweep)) {
		struct saved_report report;

		alloc_sweep_try(&sweep,
				read_bytes(&report, small, sizeof(small) - 1, 0, &sweep.err));
		tsi_saved_report_deinit(&report);
	}
}
