/* SPDX-License-Identifier: MIT */
/*
 * A document that no facts stand behind: what a renderer finds in it, what the text renderer makes
 * of it, and which reporters are refused.
 */
#include "fail_alloc.h"
#include "report/reporter.h"

#include "base/attributes.h"
#include "check.h"

#include <stdlib.h>
#include <string.h>

static struct tscope_value integer(int64_t value)
{
	return (struct tscope_value){ .kind = TSCOPE_VALUE_INT, .integer = value };
}

static void add_table(struct doc *doc)
{
	static const struct doc_column columns[] = {
		{ "kernel", TSCOPE_UNIT_TEXT, .least = 20 },
		{ "count", TSCOPE_UNIT_COUNT, .width = 8 },
		{ "total", TSCOPE_UNIT_NS, .width = 11 },
		{ "never", TSCOPE_UNIT_NS, .width = 11 },
	};
	static const char *const names[] = { "gemm", "softmax\033[2J" };
	struct doc_table *table = tsi_doc_table(doc, columns, TSI_COUNT_OF(columns));

	for (size_t i = 0; i < TSI_COUNT_OF(names); i++) {
		struct doc_row *row = tsi_doc_row(doc, table);

		if (!row)
			return;
		row->cells[0].text = names[i];
		row->cells[1].value = integer(1200 + (int64_t)i);
		row->cells[2].value = integer(5000000);
	}
	table->more_count = 3;
}

static void add_changes(struct doc *doc)
{
	struct doc_changes *changes = tsi_doc_changes(doc, "line of the step");
	struct doc_change *row = tsi_doc_change(doc, changes,
						&(struct doc_change){ .name = "compute",
								      .word = "slower",
								      .a = integer(1000000),
								      .b = integer(3000000),
								      .change = integer(2000000),
								      .unit = TSCOPE_UNIT_NS,
								      .is_cost = true });

	tsi_doc_change_note(doc, row, "in place of ", "sgemm + relu");
	tsi_doc_changes_more(changes, 1);
}

static bool get_square(const void *source, size_t index, double *value)
{
	(void)source;
	*value = (double)(index * index);
	return true;
}

static void build(struct doc *doc)
{
	struct doc_line *figures;

	tsi_doc_name(doc, DOC_PART, NULL, "run/\033trace.json");
	tsi_doc_line(doc, DOC_LOSS, DOC_BAD, "DAMAGED", "gzip member %d: truncated", 1);
	(void)tsi_doc_add(doc,
			  &(struct doc_node){
				  .kind = DOC_NODE_SECTION,
				  .section = { .title = "KERNELS", .summary = "12", .rank = -1 } });
	figures = tsi_doc_items(doc, DOC_FIGURES, DOC_PLAIN, NULL);
	tsi_doc_figure(doc, figures, "taking", integer(1500000), TSCOPE_UNIT_NS);
	tsi_doc_item(doc, figures, "%d kinds", 2);
	tsi_doc_meter(doc, &(struct doc_meter){ .label = "busy",
						.part = 1,
						.whole = 4,
						.shown = 2500,
						.tone = DOC_GOOD,
						.unit = TSCOPE_UNIT_NS });
	tsi_doc_series(doc, &(struct doc_series){ "", get_square, 4 });
	tsi_doc_note(doc, "a remark with more words than a line of so few columns has room for");
	add_table(doc);
	add_changes(doc);
}

/* The caller frees it. */
static char *render(const struct doc *doc, const struct tscope_report_options *options)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	tsi_reporter_text.write(out, doc, options);
	assert_int_equal(fclose(out), 0);
	return text;
}

TEST(the_page_escapes_every_text)
{
	static const char hostile[] = "</script><img onerror='x\x1b'>";
	struct doc doc = { 0 };
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	tsi_doc_name(&doc, DOC_PART, hostile, hostile);
	tsi_doc_line(&doc, DOC_DIAGNOSTIC, DOC_BAD, hostile, "%s", hostile);
	tsi_doc_meter(&doc, &(struct doc_meter){ .label = hostile, .part = 1, .whole = 2 });
	(void)tsi_doc_add(&doc,
			  &(struct doc_node){ .kind = DOC_NODE_INPUT,
					      .input = { hostile, hostile, hostile, 1, true } });
	tsi_doc_note(&doc, "%s", hostile);
	assert_non_null(out);
	tsi_reporter_html.write(out, &doc, &(struct tscope_report_options){ 0 });
	assert_int_equal(fclose(out), 0);
	assert_non_null(strstr(text, "<h1><span class=\"badge\">&lt;/script&gt;&lt;img "
				     "onerror=&#39;x\\u001b&#39;&gt;</span>"));
	assert_null(strstr(text, "<img"));
	free(text);
	tsi_arena_deinit(&doc.arena);
}

TEST(the_text_renderer_lays_it_out)
{
	static const char expected[] = "run/\\x1btrace.json\n"
				       "DAMAGED  gzip member 1: truncated\n"
				       "\n"
				       "* KERNELS  12\n"
				       "  taking 1.500 ms | 2 kinds\n"
				       "  busy               2.500 us   25.0 %  ##......\n"
				       "  __=#\n"
				       "  a remark with more words than a line of so few\n"
				       "  columns has room for\n"
				       "\n"
				       "  kernel                        count      total\n"
				       "  gemm                          1,200   5.000 ms\n"
				       "  softmax\\x1b[2J                1,201   5.000 ms\n"
				       "  ~ and 3 more\n"
				       "\n"
				       "  line of the step                        change\n"
				       "  compute              slower          +2.000 ms\n"
				       "      in place of sgemm\n"
				       "      in place of relu\n"
				       "  ~ and 1 more\n";
	struct doc doc = { 0 };
	char *text;

	build(&doc);
	assert_int_equal(tsi_arena_status(&doc.arena, NULL), TSCOPE_OK);
	text = render(&doc, &(struct tscope_report_options){ .ascii = true, .width = 48 });
	assert_string_equal(text, expected);
	free(text);
	text = render(&doc, &(struct tscope_report_options){ .width = 120 });
	assert_non_null(strstr(text, "1.000 ms    3.000 ms    +2.000 ms"));
	assert_non_null(strstr(text, "▁▁▄█"));
	free(text);
	tsi_arena_deinit(&doc.arena);
}

/* What another renderer needs: values with their units, and texts as the input has them. */
TEST(it_keeps_values_and_raw_texts)
{
	const struct doc_node *node;
	struct doc doc = { 0 };

	build(&doc);
	node = doc.first;
	assert_int_equal(node->kind, DOC_NODE_NAME);
	assert_string_equal(node->name.text, "run/\033trace.json");
	while (node->kind != DOC_NODE_LINE || node->line.role != DOC_FIGURES)
		node = node->next;
	assert_int_equal(node->line.items[0].value.integer, 1500000);
	assert_int_equal(node->line.items[0].unit, TSCOPE_UNIT_NS);
	assert_string_equal(node->line.items[1].text, "2 kinds");
	while (node->kind != DOC_NODE_TABLE)
		node = node->next;
	assert_int_equal(node->table.column_count, 4);
	assert_string_equal(node->table.rows[1].cells[0].text, "softmax\033[2J");
	assert_int_equal(node->table.rows[1].cells[1].value.integer, 1201);
	tsi_arena_deinit(&doc.arena);
}

TEST(running_out_of_memory_is_told_at_the_end)
{
	struct alloc_sweep sweep = { 0 };
	while (alloc_sweep_next(&sweep)) {
		struct doc doc = { 0 };

		alloc_sweep_start(&sweep);
		build(&doc);
		alloc_sweep_check(&sweep, tsi_arena_status(&doc.arena, &sweep.err));
		tsi_arena_deinit(&doc.arena);
	}
}

static void write_nothing(FILE *out, const struct doc *doc,
			  const struct tscope_report_options *options)
{
	(void)out;
	(void)doc;
	(void)options;
}

static void write_no_facts(FILE *out, const struct report_subject *subject,
			   const struct tscope_report_options *options)
{
	(void)out;
	(void)subject;
	(void)options;
}

TEST(a_reporter_without_its_slot_is_refused)
{
	static const struct reporter sound = { .format = { .name = "sound", .readers = "tests" },
					       .write = write_nothing };
	static const struct reporter empty = { .format = { .name = "empty", .readers = "nobody" } };
	static const struct reporter both = { .format = { .name = "both", .readers = "tests" },
					      .write = write_nothing,
					      .write_facts = write_no_facts };
	const struct reporter *reporters[] = { &sound, &sound };
	struct tscope_error err;

	assert_int_equal(tsi_check_reporters(reporters, 2, &err), TSCOPE_OK);
	assert_int_equal(tscope_report_check(&err), TSCOPE_OK);
	reporters[1] = &empty;
	assert_int_equal(tsi_check_reporters(reporters, 2, &err), TSCOPE_E_INTERNAL);
	assert_string_equal(err.message, "the report format empty has neither of .write and "
					 ".write_facts; it needs one");
	reporters[1] = &both;
	assert_int_equal(tsi_check_reporters(reporters, 2, &err), TSCOPE_E_INTERNAL);
	assert_string_equal(err.message, "the report format both has both of .write and "
					 ".write_facts; it needs one");
}

TEST(formats_are_known_by_name)
{
	size_t count = 0, format;

	while (tscope_report_format(count)) {
		assert_true(tscope_report_format_parse(tscope_report_format(count)->name, &format));
		assert_int_equal(format, count);
		count++;
	}
	assert_true(count > TSCOPE_REPORT_JSON);
	assert_string_equal(tscope_report_format(TSCOPE_REPORT_TEXT)->name, "text");
	assert_string_equal(tscope_report_format(TSCOPE_REPORT_JSON)->name, "json");
	assert_null(tscope_report_format(SIZE_MAX));
}
