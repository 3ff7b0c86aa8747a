/* SPDX-License-Identifier: MIT */
/* The reader of plain data in YAML: what finetuning-scheduler writes, and what is refused. */
#include "decode/plain/plain_reader.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "config.h"
#include "plain_reading.h"

extern const struct plain_reader tsi_plain_reader_yaml;
static const struct plain_reader *const reader = &tsi_plain_reader_yaml;

#define DEFAULTDICT "!!python/object/apply:collections.defaultdict"

TEST(test_taste)
{
	static const struct {
		const char *head;
		bool is_yaml;
	} heads[] = {
		{ DEFAULTDICT "\nargs:\n", true },
		{ "\xef\xbb\xbf" DEFAULTDICT "\n", true },
		{ "--- " DEFAULTDICT "\n", true },
		{ "%YAML 1.1\n---\n", true },
		{ "---\na: 1\n", true },
		{ "0.training_step.0.end:\n  rss: 1\n", true },
		{ "0.training_step.0.start: {}", true },
		{ "# a comment\n\n  # another\n---\na: 1\n", true },
		{ "---\r\na: 1\r\n", true },
		{ "'0.training_step.0.end':\n  rss: 1\n", true },
		{ "? 0.training_step.0.end\n: rss: 1\n", true },
		{ "# a comment alone", false },
		{ "0: 1\n", false },
		{ "0.training step.0.end: 1\n", false },
		{ "12:00:01 train.start: x\n", false },
		{ "a.start:\n", false },
		{ "----\n", false },
		{ "{a: 1}", false },
		{ "", false },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(heads); i++)
		if ((reader->taste(tsi_str_of(heads[i].head)) > 0) != heads[i].is_yaml)
			fail_msg("%s", heads[i].head);
}

#if HAVE_YAML

static const struct plain_reading cases[] = {
	/* the statistics */
	PLAIN_GOOD(DEFAULTDICT "\n"
			       "args:\n"
			       "- !!python/name:builtins.dict ''\n"
			       "dictitems:\n"
			       "  0.training_step.0.end:\n"
			       "    active.all.allocated: 123\n"
			       "    npp_diff: null\n"
			       "    ? a.long.name\n"
			       "    : 1.0e-05\n"
			       "  0.training_step.0.start: {}\n",
		   "{'0.training_step.0.end': {'active.all.allocated': 123, 'npp_diff': None, "
		   "'a.long.name': 1.0000000000000001e-05}, '0.training_step.0.start': {}}"),
	PLAIN_GOOD(DEFAULTDICT "\n- !!python/name:builtins.dict ''\n", "{}"),
	PLAIN_GOOD(DEFAULTDICT "\n- !!python/name:__builtin__.dict ''\n", "{}"),
	PLAIN_GOOD(DEFAULTDICT "\nargs: []\n", "{}"),
	PLAIN_GOOD(DEFAULTDICT "\nargs: []\ndictitems: [1]\n", "{}"),
	PLAIN_GOOD("a: " DEFAULTDICT "\n  dictitems: {b: 1}\n", "{'a': {'b': 1}}"),

	/* containers */
	PLAIN_GOOD("- 1\n- [2, [3]]\n- {a: 4, b: }\n", "[1, [2, [3]], {'a': 4, 'b': None}]"),
	PLAIN_GOOD("a: 1\nb: 2\na: 3\n", "{'a': 3, 'b': 2}"),
	PLAIN_GOOD("? [1]\n: 2\n", "{[1]: 2}"),
	PLAIN_GOOD("%YAML 1.1\n--- !!map\na: !!seq [1]\n", "{'a': [1]}"),
	PLAIN_GOOD("\xef\xbb\xbf"
		   "a: 1\n",
		   "{'a': 1}"),

	/* scalars */
	PLAIN_GOOD("[~, null, Null, NULL, '', \"\"]", "[None, None, None, None, '', '']"),
	PLAIN_GOOD("[true, yes, On, false, NO, off]", "[True, True, True, False, False, False]"),
	PLAIN_GOOD("['true', \"1\", 'null', nUll, y]", "['true', '1', 'null', 'nUll', 'y']"),
	PLAIN_GOOD("[0, -0, +1, -5, 9223372036854775807, 18446744073709551615]",
		   "[0, 0, 1, -5, 9223372036854775807, 18446744073709551615u]"),
	PLAIN_GOOD("[2.5, .5, +.5, -.5, 1., 1.e3, 1e5, 25E-1, 18446744073709551616]",
		   "[2.5000000000000000, 0.50000000000000000, 0.50000000000000000, "
		   "-0.50000000000000000, 1.0000000000000000, 1000.0000000000000, "
		   "100000.00000000000, 2.5000000000000000, 1.8446744073709552e+19]"),
	PLAIN_GOOD("[.inf, +.INF, -.Inf]", "[inf, inf, -inf]"),
	PLAIN_GOOD("..............................................................",
		   "'..............................................................'"),
	PLAIN_GOOD("-.1............................................................",
		   "'-.1............................................................'"),
	/* of another base, or no number at all */
	PLAIN_GOOD("[0x1F, 010, 1_0, 1:30, 1e, e1, ., -, +, --1, 1.5.2, -.]",
		   "['0x1F', '010', '1_0', '1:30', '1e', 'e1', '.', '-', '+', '--1', '1.5.2', "
		   "'-.']"),
	PLAIN_GOOD("[!!str 1, !!int '1', !!float \"1.5\", !!null '', !!bool 'yes', ! 1]",
		   "['1', 1, 1.5000000000000000, None, True, '1']"),
	PLAIN_GOOD("a: |\n  x\n  y\n", "{'a': 'x\\x0ay\\x0a'}"),

	/* names for values */
	PLAIN_GOOD("[&a [1], *a, &b 2, *b, &a 3, *a]", "[[1], [1], 2, 2, 3, 3]"),
	PLAIN_REFUSED("[*a]", DAMAGED, "YAML: line 1: *a: no value before it has that name"),
	PLAIN_REFUSED("\n&a [*a]", DAMAGED, "YAML: line 2: *a: no value before it has that name"),

	/* more than plain data */
	PLAIN_REFUSED("!!python/object/apply:os.system\n- ls\n", UNSUPPORTED,
		      "YAML: line 1: a value tagged !!python/object/apply:os.system; only plain "
		      "data is read"),
	PLAIN_REFUSED("a:\n  !!python/object/new:x.Y\n  state: 1\n", UNSUPPORTED,
		      "YAML: line 2: a value tagged !!python/object/new:x.Y; only plain data is "
		      "read"),
	PLAIN_REFUSED("- !!python/name:os.system ''\n", UNSUPPORTED,
		      "YAML: line 1: a value tagged !!python/name:os.system; only plain data is "
		      "read"),
	PLAIN_REFUSED("- " DEFAULTDICT " x\n", UNSUPPORTED,
		      "YAML: line 1: a value tagged " DEFAULTDICT "; only plain data is read"),
	PLAIN_REFUSED("- !!python/tuple [1]\n", UNSUPPORTED,
		      "YAML: line 1: a value tagged !!python/tuple; only plain data is read"),
	PLAIN_REFUSED("- !x 1\n", UNSUPPORTED,
		      "YAML: line 1: a value tagged !x; only plain data is read"),

	/* what is no YAML */
	PLAIN_REFUSED("", EMPTY, "no YAML: no document"),
	PLAIN_REFUSED("# nothing\n", EMPTY, "no YAML: no document"),
	PLAIN_REFUSED("a: 1\nb: c: d\n", DAMAGED,
		      "YAML: line 2: mapping values are not allowed in this context"),
	PLAIN_REFUSED("a: 1\n\tb: 2\n", DAMAGED,
		      "YAML: line 2: found a tab character that violates indentation"),
	PLAIN_REFUSED("a: 'x\n", DAMAGED, "YAML: line 2: found unexpected end of stream"),
	PLAIN_BAD("a: \xff\n", DAMAGED, 3, "YAML: invalid leading UTF-8 octet"),
};

TEST(test_cases)
{
	plain_check_readings(reader, cases, TSI_COUNT_OF(cases));
}

static const char statistics[] = DEFAULTDICT "\n"
					     "args:\n"
					     "- !!python/name:builtins.dict ''\n"
					     "dictitems:\n"
					     "  0.f.0.end: &a {rss: 1, x: [1.5, 'y']}\n"
					     "  0.f.0.start: *a\n";

/* A block ends where the file does: many cuts leave a document. */
TEST(test_cuts)
{
	plain_check_cuts(reader, statistics, sizeof(statistics) - 1, false);
}

TEST(test_allocations)
{
	plain_check_allocations(reader, statistics, sizeof(statistics) - 1);
}

/* Each list holds the one before it nine times: 9^30 leaves, were it a tree. */
TEST(test_is_no_tree)
{
	struct bytes data = { 0 };

	bytes_add_literal(&data, "--- \na0: &a0 []\n");
	for (int i = 1; i < 31; i++) {
		char text[128];
		bytes_add(&data, text,
			  (size_t)snprintf(
				  text, sizeof(text),
				  "a%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n", i,
				  i, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1,
				  i - 1));
	}
	struct plain *p = plain_read_good(reader, data.data, data.length);
	struct plain_value last = tsi_plain_find(p, tsi_plain_root(p), TSI_STR("a30"));
	assert_int_equal(tsi_plain_length(p, last), 9);
	assert_int_equal(tsi_plain_item(p, last, 0).word, tsi_plain_item(p, last, 8).word);
	/* The lists, the root, and the dict of names. */
	assert_int_equal(tsi_plain_object_count(p), 31 + 1 + 1);
	tsi_plain_free(p);
	bytes_reset(&data);
}

static void check_limit(const char *data, size_t length, const struct plain_limits *limits,
			const char *message)
{
	struct tscope_error err = { 0 };

	assert_null(plain_read(reader, data, length, limits, 0, &err));
	assert_int_equal(err.status, TSCOPE_E_LIMIT);
	assert_string_equal(err.message, message);
}

TEST(test_limits)
{
	static const struct plain_limits objects = { .max_objects = 2 };
	static const struct plain_limits texts = { .max_text_bytes = 100000 };
	static char long_text[400000];
	char deep[600];

	memset(deep, '[', sizeof(deep));
	check_limit(deep, sizeof(deep), NULL,
		    "YAML: line 1: values nested deeper than 512 (limit: nesting)");
	check_limit("[\n[],\n[],\n[]]", 13, &objects,
		    "YAML: line 4: more than 2 objects (limit: objects)");
	memset(long_text, 'x', sizeof(long_text));
	check_limit(long_text, sizeof(long_text), NULL,
		    "YAML: more than 65536 bytes before the first value (limit: bytes before a "
		    "value)");
	memcpy(long_text, "- x\n- ", 6);
	check_limit(long_text, sizeof(long_text), &texts,
		    "YAML: a text of more than 100000 bytes (limit: text bytes)");
	/* Directives, each of which libyaml compares with all others. */
	for (size_t i = 0; i < sizeof(long_text); i += 16) {
		char line[32];
		snprintf(line, sizeof(line), "%%TAG !%06zu! x\n", i);
		memcpy(long_text + i, line, 16);
	}
	check_limit(long_text, sizeof(long_text), NULL,
		    "YAML: more than 65536 bytes before the first value (limit: bytes before a "
		    "value)");
	/* As many bytes in short texts are fine. */
	for (size_t i = 0; i < sizeof(long_text); i += 4)
		memcpy(long_text + i, "- x\n", 4);
	struct tscope_error err = { 0 };
	struct plain *p = plain_read(reader, long_text, sizeof(long_text), &texts, 0, &err);
	assert_int_equal(tsi_plain_length(p, tsi_plain_root(p)), sizeof(long_text) / 4);
	tsi_plain_free(p);
}

TEST(test_further_documents)
{
	static const char several[] = "--- [1]\n--- 2\n...\n--- 3\n";
	struct plain *p = plain_read_good(reader, several, sizeof(several) - 1);

	assert_int_equal(tsi_plain_length(p, tsi_plain_root(p)), 1);
	assert_int_equal(tsi_plain_further_count(p), 2);
	assert_int_equal(tsi_plain_trailing_bytes(p), 0);
	tsi_plain_free(p);
}

#else

TEST(test_not_built_in)
{
	static const struct plain_reading one = PLAIN_REFUSED(
		"--- {}", UNSUPPORTED,
		"finetuning-scheduler's statistics (YAML): this build has no libyaml: give the "
		".pickle beside the .yaml, or build tscope with libyaml-dev");

	plain_check_readings(reader, &one, 1);
}

#endif
