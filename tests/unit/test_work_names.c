/* SPDX-License-Identifier: MIT */
/* Who launches a kernel, as a table of facts tells; and names of several kernels made one. */
#include "diff/work_names.h"

#include <stdio.h>
#include <string.h>

#include "analyze/fact_sheet.h"
#include "check.h"
#include "fact_values.h"

static struct fact_sheet sheet;

static int begin(void **state)
{
	(void)state;
	sheet = (struct fact_sheet){ 0 };
	return 0;
}

static int end(void **state)
{
	(void)state;
	tsi_fact_sheet_deinit(&sheet);
	return 0;
}

/* ---- launchers ---- */

#define LAUNCHED "kernels.by_launcher counted=1 name="

static const char launched[] = LAUNCHED
	"gemm operator=aten::mm inputs=[[8,8],[8,8]] counted_ns=30\n" LAUNCHED
	"gemm operator=aten::addmm inputs=[[8]] counted_ns=40\n" LAUNCHED
	"even operator=aten::b inputs=[[1]] counted_ns=5\n" LAUNCHED
	"even operator=aten::a inputs=[[1]] counted_ns=5\n" LAUNCHED
	"bare operator=aten::fill_ counted_ns=7\n" LAUNCHED "orphan counted_ns=9\n" LAUNCHED
	"orphan operator=aten::late inputs=[[2]] counted_ns=1\n"
	"kernels.by_launcher operator=aten::nameless counted_ns=1\n";

static const char without_inputs[] = LAUNCHED "gemm operator=aten::addmm counted_ns=40\n";

static void check_launcher(const struct launcher_names *names, const char *kernel,
			   const char *expected)
{
	const char *launcher = tsi_launcher_name(names, kernel, &sheet);

	if (!expected)
		assert_null(launcher);
	else
		assert_string_equal(launcher, expected);
}

TEST_WITH(launchers_are_those_of_most_time, begin, end)
{
	struct tscope_analysis *facts = fact_values(launched);
	const struct tscope_analysis *const sides[] = { facts, facts };
	struct launcher_names names[TSCOPE_SIDE_COUNT];

	tsi_read_launchers(names, sides, tsi_sheet_scratch(&sheet));
	check_launcher(&names[TSCOPE_SIDE_B], "gemm", "aten::addmm [[8]]");
	check_launcher(&names[TSCOPE_SIDE_B], "even",
		       "aten::b [[1]]"); /* the first row of equal ones */
	check_launcher(&names[TSCOPE_SIDE_B], "bare", "aten::fill_");
	check_launcher(&names[TSCOPE_SIDE_B], "orphan", NULL); /* most of it no operator launched */
	check_launcher(&names[TSCOPE_SIDE_B], "unheard of", NULL);
	check_launcher(&names[TSCOPE_SIDE_B], "", NULL);
}

/* Where one side has no shapes the others' would match nothing. */
TEST_WITH(inputs_are_told_where_both_have_them, begin, end)
{
	const struct tscope_analysis *const sides[] = { fact_values(launched),
							fact_values(without_inputs) };
	struct launcher_names names[TSCOPE_SIDE_COUNT];

	tsi_read_launchers(names, sides, tsi_sheet_scratch(&sheet));
	check_launcher(&names[TSCOPE_SIDE_A], "gemm", "aten::addmm");
	check_launcher(&names[TSCOPE_SIDE_B], "gemm", "aten::addmm");
}

/* ---- joined names ---- */

enum { MANY = 11, LONG_CHARS = 2000 };

/* A copy, which the next call takes back. */
static const char *join(const struct work_item *items, size_t count)
{
	static char text[2 * LONG_CHARS];
	static const size_t in_order[MANY] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
	const char *joined = tsi_join_work_names(items, in_order, count, &sheet);

	assert_in_range(snprintf(text, sizeof(text), "%s", joined), 1, sizeof(text) - 1);
	return text;
}

TEST_WITH(few_names_are_joined, begin, end)
{
	static const struct work_item items[] = { { "a", NULL, false },
						  { "b", NULL, false },
						  { "c d", NULL, false } };
	static const size_t turned[] = { 2, 0 };

	assert_string_equal(join(items, 1), items[0].name);
	assert_string_equal(join(items, 2), "a + b");
	assert_string_equal(join(items, 3), "a + b + c d");
	assert_string_equal(tsi_join_work_names(items, turned, 2, &sheet), "c d + a");
}

TEST_WITH(many_names_are_counted, begin, end)
{
	struct work_item items[MANY];

	for (size_t i = 0; i < MANY; i++)
		items[i] = (struct work_item){ .name = "k" };
	assert_string_equal(join(items, 8), "k + k + k + k + k + k + k + k");
	assert_string_equal(join(items, MANY), "k + k + k + k + k + k + k + k + 3 more");
}

/* The end of a character of two bytes is cut off with its beginning. */
TEST_WITH(long_names_are_cut, begin, end)
{
	char name[LONG_CHARS + 1] = "";
	struct work_item items[MANY];
	const char *joined, *cut;

	for (size_t i = 0; i < LONG_CHARS; i += 2)
		memcpy(name + i, "é", 3);
	for (size_t i = 0; i < MANY; i++)
		items[i] = (struct work_item){ .name = name };
	assert_string_equal(join(items, 1), name);
	for (size_t count = 2; count <= MANY; count++) {
		joined = join(items, count);
		cut = strstr(joined, "… + é");
		assert_true(strlen(joined) < 640);
		assert_non_null(cut);
		assert_int_equal((cut - joined) % 2, 0);
		assert_true(cut - joined > 50);
		assert_int_equal(strstr(joined, " more") != NULL, count > 8);
	}
}
