/* SPDX-License-Identifier: MIT */
/*
 * decode/records/text_rows.c: rows and cells as text, "[a|b]" for a row of two cells, with "!" behind one
 * without a line end and "~" before one that is too long.
 */
#include "decode/records/text_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static void put_row(FILE *out, const struct text_row *row)
{
	struct csv_cells cells = tsi_csv_cells(row->text);
	const char *separator = "";
	struct str cell;

	fputs(row->is_too_long ? "~[" : "[", out);
	while (!row->is_too_long && tsi_csv_next(&cells, &cell)) {
		fprintf(out, "%s%.*s", separator, (int)cell.length, cell.data);
		separator = "|";
	}
	fputs(row->has_end ? "]" : "]!", out);
}

static char *read_rows(struct str text, bool has_quotes, size_t block_bytes)
{
	const struct input_options options = { .block_bytes = block_bytes, .single_thread = true };
	struct text_rows rows = { .has_quotes = has_quotes };
	struct text_row row;
	char *shown = NULL;
	size_t length;
	FILE *out = open_memstream(&shown, &length);

	assert_non_null(out);
	assert_int_equal(tsi_input_open_memory(&rows.in, text.data, text.length, &options, NULL),
			 TSCOPE_OK);
	while (tsi_text_rows_next(&rows, &row, NULL) == TSCOPE_OK)
		put_row(out, &row);
	tsi_input_close(rows.in);
	assert_int_equal(fclose(out), 0);
	return shown;
}

static void expect(struct str text, bool has_quotes, const char *expected)
{
	static const size_t block_sizes[] = { 0, 1, 2, 3, 64 };

	for (size_t i = 0; i < sizeof(block_sizes) / sizeof(block_sizes[0]); i++) {
		char *shown = read_rows(text, has_quotes, block_sizes[i]);

		assert_string_equal(shown, expected);
		free(shown);
	}
}

TEST(test_rows)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{ "", "" },
		{ "\n", "[]" },
		{ "a,b\n1,2\n", "[a|b][1|2]" },
		{ "a,b\r\n1,\r\n,\n", "[a|b][1|][|]" },
		{ "a,b\n1,2", "[a|b][1|2]!" },
		{ " a , b \n", "[a|b]" },
		/* Quotes, with separators, line ends and quotes in them. */
		{ "\"a,b\",\"c\nd\"\n1,2\n", "[a,b|c\nd][1|2]" },
		{ "\"a\"\"b\",\"\"\n", "[a\"\"b|]" },
		{ "\"\"\"\n\"\"\",1\n", "[\"\"\n\"\"|1]" },
		/* One within a cell is itself. */
		{ "5\" x,6\n7\n", "[5\" x|6][7]" },
		{ "5\"\n\"6\n7\",8\n", "[5\"][6\n7|8]" },
		/* Behind the second one a cell goes on as it likes. */
		{ "\"a\"b,c\n", "[\"a\"b|c]" },
		/* Quotes that do not end take the rest. */
		{ "a\n\"b,c\nd,e\n", "[a][\"b,c\nd,e]!" },
		{ "\"", "[\"]!" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect(tsi_str_of(cases[i].text), true, cases[i].expected);
}

TEST(test_lines)
{
	expect(TSI_STR("1 \"a\n2 b\"\n\n3"), false, "[1 \"a][2 b\"][][3]!");
}

TEST(test_long_rows)
{
	size_t length = 2 * (size_t)ROW_MAX_BYTES + 3;
	char *text = malloc(length), *shown;

	assert_non_null(text);
	memset(text, 'x', length);
	memcpy(text, "a\n", 2);
	memcpy(text + length - 3, "\nb\n", 3);
	shown = read_rows((struct str){ text, length }, true, 0);
	assert_string_equal(shown, "[a]~[][b]");
	free(shown);

	/* As much as is allowed, and one byte more. */
	text[2 + ROW_MAX_BYTES] = '\n';
	shown = read_rows((struct str){ text + 2, ROW_MAX_BYTES + 1 }, true, 0);
	assert_int_equal(strlen(shown), ROW_MAX_BYTES + 2);
	free(shown);
	text[2 + ROW_MAX_BYTES] = 'x';
	text[2 + ROW_MAX_BYTES + 1] = '\n';
	shown = read_rows((struct str){ text + 2, ROW_MAX_BYTES + 2 }, true, 0);
	assert_string_equal(shown, "~[]");
	free(shown);
	free(text);
}
