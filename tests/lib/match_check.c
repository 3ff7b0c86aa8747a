/* SPDX-License-Identifier: MIT */
/* Matches groups and ops of small worlds, and writes what came of it as text. */
#include "match_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

void test_text_add(struct test_text *text, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text->length += (size_t)vsnprintf(text->bytes + text->length,
					  sizeof(text->bytes) - text->length, format, args);
	va_end(args);
	assert_true(text->length < sizeof(text->bytes));
}

static void add_count(struct test_text *text, uint64_t count, const char *what)
{
	if (count > 0)
		test_text_add(text, " %" PRIu64 " %s", count, what);
}

static void add_groups(struct test_text *text, const struct world *world)
{
	for (size_t i = 0; i < world->group_count; i++) {
		const struct process_group *group = &world->groups[i];

		test_text_add(text, "%s:", group->name);
		add_count(text, group->matched_count, "matched");
		add_count(text, group->mismatched_count, "mismatched");
		add_count(text, group->missing_count, "missing");
		add_count(text, group->surplus_count, "surplus");
		add_count(text, group->cut_count, "cut");
		test_text_add(text, "\n");
	}
}

/* Each match as the starts of its members by rank, as they stand in the text of the test. */
static void add_matches(struct test_text *text, const struct world *world)
{
	for (size_t i = 0; i < world->match_count; i++) {
		const struct match *match = &world->matches[i];

		for (uint32_t k = 0; k < match->member_count; k++) {
			const struct match_member *member =
				&world->members[match->first_member + k];

			assert_int_equal(world->match_of_op[member->rank][member->op], i);
			test_text_add(text, "%s%" PRId64, k > 0 ? "=" : "",
				      world->logs[member->rank].ops[member->op].start_ns);
		}
		test_text_add(text, i + 1 < world->match_count ? " " : "\n");
	}
}

void find_matches(struct test_world *w)
{
	assert_int_equal(test_stage(tsi_world_find_groups, w->world, NULL), TSCOPE_OK);
	assert_int_equal(test_stage(tsi_world_find_matches, w->world, NULL), TSCOPE_OK);
}

struct test_world *match_world(const struct match_case *c, const char *members)
{
	struct test_text *text = calloc(1, sizeof(*text));

	assert_non_null(text);
	for (const char *line = c->ranks; *line; line += *line == '\n') {
		char *rest;
		long start = strtol(line, &rest, 10);

		if (rest != line)
			test_text_add(text, "all_reduce %ld %ld group=g ranks=%s", start, start + 9,
				      members);
		line = rest + strcspn(rest, "\n");
		test_text_add(text, "%.*s\n", (int)(line - rest), rest);
	}
	struct test_world *w = test_world_of_logs(text->bytes);
	free(text);
	return w;
}

void check_matches(const struct match_case *cases, size_t count, const char *members)
{
	for (size_t i = 0; i < count; i++) {
		struct test_world *w = match_world(&cases[i], members);
		struct test_text *text = calloc(1, sizeof(*text));

		assert_non_null(text);
		find_matches(w);
		add_groups(text, w->world);
		add_matches(text, w->world);
		if (strcmp(text->bytes, cases[i].expected) != 0)
			fail_msg("case %zu:\n%s\nis not\n%s", i, text->bytes, cases[i].expected);
		free(text);
	}
}
