/* SPDX-License-Identifier: MIT */
/* run/run_json.c: what is taken of a run.json, and that half of one gives nothing. */
#include "run/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attributes.h"
#include "check.h"

#define NOTHING "rank -1 of -1 flops 0 peak 0"

/* "rank 1 of 2 flops 0 peak 0", then what is said of budgets. */
static void show(char *text, size_t size, const struct step_series *steps)
{
	snprintf(text, size, "rank %" PRId64 " of %" PRId64 " flops %g peak %g%s%s%s%s",
		 steps->rank, steps->world_size, steps->flops_per_step, steps->peak_flops,
		 steps->has_start ? " start" : "", steps->has_point_to_point ? " p2p" : "",
		 steps->doubt ? " doubt " : "", steps->doubt ? steps->doubt : "");
}

static bool read_text(struct step_series *steps, struct str text)
{
	tsi_steps_init(steps);
	enum tscope_status status = tsi_run_json_read(text, steps, NULL);
	assert_true(status == TSCOPE_OK || status == TSCOPE_E_FORMAT);
	return status == TSCOPE_OK;
}

TEST(test_members)
{
	static const struct {
		const char *text;
		bool is_read;
		const char *expected;
	} cases[] = {
		{ "{\"name\":\"run\",\"rank\":3,\"world_size\":8,\"flops_per_step\":2.5e12,"
		  "\"peak_flops\":1e14,\"config\":{\"rank\":9},\"n_steps\":4}\n",
		  true, "rank 3 of 8 flops 2.5e+12 peak 1e+14" },
		{ "{}", true, NOTHING },
		{ " { \"rank\" : 0 , \"loss\" : NaN } ", true, "rank 0 of -1 flops 0 peak 0" },
		/* As os.environ has it. */
		{ "{\"rank\":\"1\",\"world_size\":\"2\"}", true, "rank 1 of 2 flops 0 peak 0" },
		{ "{\"tscope\":{\"has_start\":true,\"point_to_point\":true,\"doubt\":\"x\"}}", true,
		  NOTHING " start p2p doubt x" },
		{ "{\"tscope\":{\"doubt\":\"a\\u0020\\\"b\\\"\"}}", true,
		  NOTHING " doubt a \"b\"" },
		{ "{\"tscope\":{\"has_start\":false,\"point_to_point\":0,\"doubt\":7}}", true,
		  NOTHING },
		{ "{\"has_start\":true,\"tscope\":[]}", true, NOTHING },
		/* No such ranks, no such speeds. */
		{ "{\"rank\":-1,\"world_size\":0,\"flops_per_step\":0,\"peak_flops\":-1}", true,
		  NOTHING },
		{ "{\"rank\":null,\"world_size\":[8],\"flops_per_step\":NaN,"
		  "\"peak_flops\":Infinity}",
		  true, NOTHING },
		{ "{\"rank\":99999999999999999999,\"peak_flops\":1e999}", true, NOTHING },
		/* No object. */
		{ "", false, NOTHING },
		{ " \n", false, NOTHING },
		{ "[1]", false, NOTHING },
		{ "7", false, NOTHING },
		{ "{\"rank\":3,\"world_size\":8", false, NOTHING },
		{ "{\"rank\":3}{\"rank\":4}", false, NOTHING },
		{ "{\"rank\":3,,}", false, NOTHING },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct step_series steps;
		char actual[200];
		bool is_read =
			read_text(&steps, (struct str){ cases[i].text, strlen(cases[i].text) });

		show(actual, sizeof(actual), &steps);
		if (is_read != cases[i].is_read || strcmp(actual, cases[i].expected) != 0)
			fail_msg("%s: %d, %s", cases[i].text, is_read, actual);
		tsi_steps_deinit(&steps);
	}
}

TEST(test_no_text)
{
	struct step_series steps;

	assert_false(read_text(&steps, (struct str){ 0 }));
	tsi_steps_deinit(&steps);
}

/* What is known already stays. */
TEST(test_known_stays)
{
	struct step_series steps;
	char actual[200];

	assert_true(read_text(&steps, TSI_STR("{\"rank\":1,\"peak_flops\":5,"
					      "\"tscope\":{\"doubt\":\"first\"}}")));
	assert_int_equal(
		tsi_run_json_read(TSI_STR("{\"rank\":2,\"world_size\":4,\"peak_flops\":6,"
					  "\"tscope\":{\"has_start\":true,\"doubt\":\"second\"}}"),
				  &steps, NULL),
		TSCOPE_OK);
	show(actual, sizeof(actual), &steps);
	assert_string_equal(actual, "rank 1 of 4 flops 0 peak 5 start doubt first");
	tsi_steps_deinit(&steps);
}

/* A run that was killed while it wrote: only the whole file counts. */
TEST(test_truncated_anywhere)
{
	static const char text[] =
		"{\"rank\": 3, \"world_size\": 8,\n \"env\": {\"a\": [1, \"\\n\"]},"
		" \"peak_flops\": 1e14, \"tscope\": {\"has_start\": true}}";

	for (size_t length = 0; length < sizeof(text); length++) {
		struct step_series steps;
		char actual[200];
		bool is_whole = length + 1 == sizeof(text);
		/* A copy of just this length: a read beyond its end is then seen. */
		char *copy = malloc(length + 1);

		assert_non_null(copy);
		memcpy(copy, text, length);
		assert_int_equal(read_text(&steps, (struct str){ copy, length }), is_whole);
		show(actual, sizeof(actual), &steps);
		assert_string_equal(actual,
				    is_whole ? "rank 3 of 8 flops 0 peak 1e+14 start" : NOTHING);
		tsi_steps_deinit(&steps);
		free(copy);
	}
}

TEST(test_depth_limit)
{
	char text[200];

	/* The object is level 1, so that 63 brackets inside it are 64 levels. */
	for (int brackets = 63; brackets <= 64; brackets++) {
		struct step_series steps;
		int length = snprintf(text, sizeof(text), "{\"rank\":1,\"a\":");

		memset(text + length, '[', (size_t)brackets);
		memset(text + length + brackets, ']', (size_t)brackets);
		strcpy(text + length + 2 * brackets, "}");
		assert_int_equal(read_text(&steps, (struct str){ text, strlen(text) }),
				 brackets == 63);
		tsi_steps_deinit(&steps);
	}
}

/* Takes every name that a series has room for. */
static void fill_names(struct step_series *steps)
{
	uint32_t id;

	for (int name = 0; name < 1 << 16; name++)
		(void)!tsi_intern_add(&steps->names, (struct str){ (char *)&name, sizeof(name) },
				      &id, NULL);
}

/* The words of a doubt may be lost, the doubt may not. */
TEST(test_doubt_without_room)
{
	static const struct {
		int length;
		bool is_full, is_kept;
	} cases[] = { { 4096, false, true }, { 4097, false, false }, { 4096, true, false } };
	char words[4097], text[4200];

	memset(words, 'x', sizeof(words));
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct step_series steps;

		snprintf(text, sizeof(text), "{\"tscope\":{\"doubt\":\"%.*s\"}}", cases[i].length,
			 words);
		tsi_steps_init(&steps);
		if (cases[i].is_full)
			fill_names(&steps);
		assert_int_equal(
			tsi_run_json_read((struct str){ text, strlen(text) }, &steps, NULL),
			TSCOPE_OK);
		if (cases[i].is_kept)
			assert_int_equal(strlen(steps.doubt), cases[i].length);
		else
			assert_string_equal(steps.doubt,
					    "run.json says that device times cannot be believed");
		tsi_steps_deinit(&steps);
	}
}
