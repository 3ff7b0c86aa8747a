/* SPDX-License-Identifier: MIT */
/* run/settings.c: which pairs of texts come of a JSON object, and where its limits are. */
#include "run/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fail_alloc.h"

/* "name=value" of each, a value that is JSON in brackets of its own: "name=<1>". */
static void show(char *text, size_t size, const struct step_settings *settings,
		 const struct intern *names)
{
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < settings->count; i++) {
		const struct step_setting *setting = &settings->items[i];

		length += (size_t)snprintf(
			text + length, size - length, "%s%s=%s%s%s", i ? " " : "",
			tsi_intern_text(names, setting->name).data, setting->is_text ? "" : "<",
			tsi_intern_text(names, setting->value).data, setting->is_text ? "" : ">");
		assert_true(length < size);
	}
}

static void read_config(struct step_series *steps, const char *json, bool is_nested)
{
	tsi_steps_init(steps);
	tsi_settings_read(steps, &steps->provenance.config, tsi_str_of(json), is_nested);
	assert_false(steps->has_failed);
}

static void check(const char *json, bool is_nested, const char *expected)
{
	struct step_series steps;
	char actual[400];

	read_config(&steps, json, is_nested);
	show(actual, sizeof(actual), &steps.provenance.config, &steps.names);
	assert_string_equal(actual, expected);
	tsi_steps_deinit(&steps);
}

TEST(pairs_by_name)
{
	check("{}", true, "");
	check("[1]", true, "");
	check("", true, "");
	check("{\"b\":1,\"a\":\"1\",\"B\":null}", false, "B=<null> a=1 b=<1>");
	check("{\"e\":{\"b\":{\"c\":2},\"a\":\"x\"}}", false, "e=<{\"a\":\"x\",\"b\":{\"c\":2}}>");
	check("{\"e\":{\"b\":{\"c\":2},\"a\":\"x\"}}", true, "e.a=x e.b.c=<2>");
	check("{\"e\":{},\"f\":[{\"b\":1,\"a\":2}]}", true, "f=<[{\"a\":2,\"b\":1}]>");
	check("{\"\":{\"\":1}}", true, ".=<1>");
	/* Of one name the last, as Python's json has it. */
	check("{\"a\":1,\"\\u0061\":2,\"b\":3}", false, "a=<2> b=<3>");
	check("{\"e.a\":1,\"e\":{\"a\":2}}", true, "e.a=<2>");
}

/* A text of so many x and a y, read as the value of "a" or as the name of a 1. */
static struct str read_long(struct step_series *steps, size_t length, bool is_name)
{
	const struct step_settings *settings = &steps->provenance.config;
	char *json = malloc(length + 32);

	assert_non_null(json);
	size_t start = (size_t)sprintf(json, "{\"%s", is_name ? "" : "a\":\"");
	memset(json + start, 'x', length - 1);
	json[start + length - 1] = 'y';
	strcpy(json + start + length, is_name ? "\":\"1\"}" : "\"}");
	read_config(steps, json, false);
	free(json);
	assert_int_equal(settings->count, 1);
	return tsi_intern_text(&steps->names,
			       is_name ? settings->items[0].name : settings->items[0].value);
}

TEST(what_is_too_long_is_cut)
{
	static const struct {
		size_t length;
		bool is_name;
	} cases[] = { { SETTING_MAX_VALUE_BYTES, false }, { SETTING_MAX_NAME_BYTES, true } };

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct step_series steps;
		size_t limit = cases[i].length;
		char rest[64];

		struct str text = read_long(&steps, limit, cases[i].is_name);
		assert_int_equal(text.length, limit);
		assert_int_equal(text.data[limit - 1], 'y');
		tsi_steps_deinit(&steps);

		text = read_long(&steps, limit + 1, cases[i].is_name);
		assert_int_equal(text.length, limit);
		snprintf(rest, sizeof(rest), "xxx… (%zu bytes, ", limit + 1);
		assert_true(tsi_str_find(text, tsi_str_of(rest)) > 0);
		assert_int_equal(text.data[limit - 1], ')');
		tsi_steps_deinit(&steps);
	}
}

/* Two that differ only where they are cut off are not the same. */
TEST(what_is_cut_still_differs)
{
	char json[2][6000], *start;
	struct step_series steps;
	struct step_settings *settings[2] = { &steps.provenance.environment,
					      &steps.provenance.config };

	tsi_steps_init(&steps);
	for (size_t i = 0; i < 2; i++) {
		start = json[i] + sprintf(json[i], "{\"a\":[\"");
		memset(start, 'z', 5000);
		sprintf(start + 5000, "%zu\"]}", i);
		tsi_settings_read(&steps, settings[i], tsi_str_of(json[i]), false);
		/* What is left of it is JSON no more. */
		assert_true(settings[i]->items[0].is_text);
	}
	assert_int_not_equal(settings[0]->items[0].value, settings[1]->items[0].value);
	tsi_steps_deinit(&steps);
}

/* 3-byte characters: 31 bytes of words stand behind the cut, which is not within one of them. */
TEST(characters_stay_whole)
{
	char json[1200] = "{\"";
	struct step_series steps;

	for (size_t i = 0; i < 100; i++)
		strcat(json, "\xe2\x82\xac");
	strcat(json, "\":1}");
	read_config(&steps, json, false);
	struct str name = tsi_intern_text(&steps.names, steps.provenance.config.items[0].name);
	ptrdiff_t end = tsi_str_find(name, TSI_STR("… (300 bytes, "));
	assert_true(end > 200 && end % 3 == 0);
	assert_true(name.length <= SETTING_MAX_NAME_BYTES);
	tsi_steps_deinit(&steps);
}

TEST(the_number_is_limited)
{
	static char json[MAX_SETTINGS * 16];
	struct step_series steps;
	const struct step_settings *settings = &steps.provenance.config;
	size_t length = 0;

	for (int i = 0; i <= MAX_SETTINGS; i++)
		length += (size_t)sprintf(json + length, "%c\"%05d\":1", i ? ',' : '{', i);
	strcpy(json + length, "}");
	read_config(&steps, json, true);
	assert_int_equal(settings->count, MAX_SETTINGS);
	assert_string_equal(
		tsi_intern_text(&steps.names, settings->items[MAX_SETTINGS - 1].name).data,
		"04095");
	tsi_steps_deinit(&steps);
}

/* Names have room for "", a and 1. */
TEST(without_room_it_is_left_out)
{
	struct step_series steps;
	uint32_t id = 7;
	char actual[100];

	tsi_steps_init(&steps);
	tsi_intern_deinit(&steps.names);
	assert_int_equal(tsi_intern_init(&steps.names, 3, NULL), TSCOPE_OK);
	tsi_settings_read(&steps, &steps.provenance.config,
			  TSI_STR("{\"a\":1,\"b\":1,\"1\":2,\"1\":\"a\"}"), true);
	show(actual, sizeof(actual), &steps.provenance.config, &steps.names);
	assert_string_equal(actual, "1=a a=<1>");
	tsi_settings_text(&steps, TSI_STR("\"c\""), &id);
	assert_int_equal(id, 7);
	tsi_settings_text(&steps, TSI_STR("1"), &id);
	assert_int_equal(id, 7);
	tsi_settings_text(&steps, TSI_STR("\"\\u0061\""), &id);
	assert_string_equal(tsi_intern_text(&steps.names, id).data, "a");
	assert_false(steps.has_failed);
	tsi_steps_deinit(&steps);
}

static void make_series(struct step_series *steps, const char *environment)
{
	tsi_steps_init(steps);
	tsi_settings_read(steps, &steps->provenance.environment, tsi_str_of(environment), true);
}

TEST(what_is_known_stays)
{
	struct step_series steps, from;
	char actual[100];

	make_series(&steps, "{\"b\":\"mine\",\"d\":1}");
	make_series(&from, "{\"a\":0,\"b\":\"other\",\"e\":\"x\"}");
	steps.provenance.started_s = 5;
	from.provenance.started_s = 6;
	from.provenance.wall_s = 7;
	from.provenance.step_count = 8;
	tsi_settings_text(&from, TSI_STR("\"run\""), &from.provenance.run_name);
	tsi_settings_take(&steps, &from);
	show(actual, sizeof(actual), &steps.provenance.environment, &steps.names);
	assert_string_equal(actual, "a=<0> b=mine d=<1> e=x");
	assert_true(steps.provenance.started_s == 5 && steps.provenance.wall_s == 7);
	assert_int_equal(steps.provenance.step_count, 8);
	assert_string_equal(tsi_intern_text(&steps.names, steps.provenance.run_name).data, "run");
	/* The other series may go. */
	tsi_steps_deinit(&from);
	show(actual, sizeof(actual), &steps.provenance.environment, &steps.names);
	assert_string_equal(actual, "a=<0> b=mine d=<1> e=x");
	tsi_steps_deinit(&steps);
}

TEST(every_allocation_may_fail)
{
	struct step_series from;

	make_series(&from, "{\"a\":0,\"b\":\"other\"}");
	struct alloc_sweep sweep = { .at_least = 2 };
	while (alloc_sweep_next(&sweep)) {
		struct step_series steps;

		make_series(&steps, "{\"b\":1}");
		alloc_sweep_start(&sweep);
		tsi_settings_take(&steps, &from);
		alloc_sweep_check(&sweep, tsi_steps_status(&steps, &sweep.err));
		if (!sweep.has_failed)
			assert_int_equal(steps.provenance.environment.count, 2);
		tsi_steps_deinit(&steps);
	}
	tsi_steps_deinit(&from);
}
