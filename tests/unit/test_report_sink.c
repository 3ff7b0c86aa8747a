/* SPDX-License-Identifier: MIT */
/* Texts of an input on their way into markup, and the source lines that stacks name. */
#include "report/parts.h"
#include "report/sink.h"

#include <stdlib.h>

#include "check.h"

static const struct escape of_xml = { "<&\\", (const char *const[]){ "&lt;", "&amp;", "[bs]" } };

TEST(escapes_leave_neither_markup_nor_what_is_unsafe)
{
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{ "", "" },
		{ "plain", "plain" },
		{ "<a&&b>", "&lt;a&amp;&amp;b>" },
		{ "µs", "µs" },
		{ "a\nb\033[2J", "a[bs]x0ab[bs]x1b[2J" },
		{ "\xE2\x80\xAE", "[bs]u202e" },            /* turns the direction of writing */
		{ "\xF3\xA0\x81\x81", "[bs]U000e0041" },    /* a tag, not seen */
		{ "\xEF\xBF\xBE<", "[bs]ufffe&lt;" },       /* no character */
		{ "\xEF\xB7\x90\xFF", "[bs]ufdd0[bs]xff" }, /* no character, no UTF-8 */
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		char *text = NULL;
		size_t length = 0;
		struct sink sink = { .out = open_memstream(&text, &length) }, counting = { 0 };

		assert_non_null(sink.out);
		tsi_sink_escape(&sink, &of_xml, tsi_str_of(cases[i].text));
		tsi_sink_escape(&counting, &of_xml, tsi_str_of(cases[i].text));
		assert_int_equal(fclose(sink.out), 0);
		assert_string_equal(text, cases[i].expected);
		assert_int_equal(sink.count, length);
		assert_int_equal(counting.count, length);
		free(text);
	}
}

TEST(a_frame_names_its_line)
{
	static const struct {
		const char *frame, *file; /* NULL: none */
		unsigned line;
	} cases[] = {
		{ "train.py(41): step", "train.py", 41 },
		{ "src/model.py:83:forward", "src/model.py", 83 },
		{ "/opt/a(1)/b.py(7): f", "/opt/a", 1 },
		{ "<string>(1): <module>", NULL, 0 },
		{ "nn.Module: Linear_3", NULL, 0 },
		{ "a.py(0): f", NULL, 0 },
		{ "a.py(99999999): f", NULL, 0 },
		{ "(4)", NULL, 0 },
		{ "", NULL, 0 },
		{ NULL, NULL, 0 },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct str file = { 0 };
		unsigned line = 0;

		assert_int_equal(tsi_source_place(cases[i].frame, &file, &line),
				 cases[i].file != NULL);
		if (!cases[i].file)
			continue;
		assert_true(tsi_str_equal(file, tsi_str_of(cases[i].file)));
		assert_int_equal(line, cases[i].line);
	}
}
