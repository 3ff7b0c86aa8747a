/* SPDX-License-Identifier: MIT */
/*
 * Environment and configuration of a job, from JSON to sorted pairs of texts. The JSON was written
 * by anybody: the number of entries and the length of texts are limited.
 */
#include "run/settings.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "decode/json.h"
#include "decode/json_normal.h"

/* FNV-1a */
static uint64_t hash_text(struct str text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < text.length; i++)
		hash = (hash ^ (unsigned char)text.data[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* Cuts what stands behind `start` to so many bytes, what is said of the rest included. */
static bool cut(struct json_text *text, size_t start, size_t max_bytes)
{
	char rest[64];

	if (text->length - start <= max_bytes)
		return false;
	struct str whole = { text->chars + start, text->length - start };
	size_t rest_length = (size_t)snprintf(rest, sizeof(rest), "… (%zu bytes, %016" PRIx64 ")",
					      whole.length, hash_text(whole));
	size_t kept = max_bytes - rest_length;
	while (kept > 0 && ((unsigned char)whole.data[kept] & 0xc0) == 0x80)
		kept--; /* not within a character */
	memcpy(text->chars + start + kept, rest, rest_length);
	text->length = start + kept + rest_length;
	return true;
}

static struct str all_of(const struct json_text *text)
{
	return (struct str){ text->chars, text->length };
}

/* Frees what was made on the way, and keeps whether memory ran out. */
static void end_scratch(struct step_series *steps, struct arena *scratch)
{
	steps->has_failed |= scratch->has_failed;
	tsi_arena_deinit(scratch);
}

void tsi_settings_text(struct step_series *steps, struct str value, uint32_t *id)
{
	struct arena arena = { 0 };
	struct json_text text = { .arena = &arena };

	if (!tsi_json_is_string(value))
		return;
	tsi_json_text_add_unescaped(&text, tsi_json_unquote(value));
	if (!arena.has_failed) {
		cut(&text, 0, SETTING_MAX_NAME_BYTES);
		uint32_t kept = tsi_steps_name(steps, all_of(&text));
		*id = kept == NO_ROW ? *id : kept;
	}
	end_scratch(steps, &arena);
}

/* ---- settings ---- */

/* The texts of one setting after the other, in one place. */
struct setting_texts {
	struct arena arena;
	struct json_text name, value;
	bool is_text;
};

static void begin_texts(struct setting_texts *texts, bool is_text)
{
	texts->name.arena = texts->value.arena = &texts->arena;
	texts->name.length = texts->value.length = 0;
	texts->is_text = is_text;
}

/* A setting while its kind is sorted. */
struct sorted {
	struct str name;
	struct step_setting setting;
	size_t order; /* in which it came */
};

static int compare(const void *left, const void *right)
{
	const struct sorted *a = left, *b = right;
	int order = tsi_str_compare(a->name, b->name);

	return order ? order : (a->order > b->order) - (a->order < b->order);
}

void tsi_settings_sort(struct step_series *steps, struct step_settings *settings)
{
	struct arena scratch = { 0 };
	size_t count = settings->count;
	struct sorted *sorted = count ? tsi_arena_new(&scratch, count, sizeof(*sorted)) : NULL;

	for (size_t i = 0; sorted && i < count; i++)
		sorted[i] = (struct sorted){
			tsi_intern_text(&steps->names, settings->items[i].name),
			settings->items[i],
			i,
		};
	if (sorted) {
		qsort(sorted, count, sizeof(*sorted), compare);
		settings->count = 0;
	}
	for (size_t i = 0; sorted && i < count; i++)
		if (i + 1 == count || sorted[i].setting.name != sorted[i + 1].setting.name)
			settings->items[settings->count++] = sorted[i].setting;
	end_scratch(steps, &scratch);
}

/* Without its texts, which had no room, it is nothing. */
static void add_setting(struct step_series *steps, struct step_settings *settings,
			struct step_setting setting)
{
	if (setting.name == NO_ROW || setting.value == NO_ROW)
		return;
	if (tsi_array_reserve(&settings->items, &settings->capacity, settings->count + 1,
			      sizeof(*settings->items), NULL) == TSCOPE_OK)
		settings->items[settings->count++] = setting;
	else
		steps->has_failed = true;
}

/* Adds a setting of two texts, which are cut. */
static void add_texts(struct step_series *steps, struct step_settings *settings,
		      struct setting_texts *texts)
{
	struct step_setting setting = { 0 };

	if (texts->arena.has_failed)
		return;
	cut(&texts->name, 0, SETTING_MAX_NAME_BYTES);
	setting.is_text = cut(&texts->value, 0, SETTING_MAX_VALUE_BYTES) || texts->is_text;
	setting.name = tsi_steps_name(steps, all_of(&texts->name));
	setting.value = tsi_steps_name(steps, all_of(&texts->value));
	add_setting(steps, settings, setting);
}

/* ---- from JSON ---- */

struct reader {
	struct step_series *steps;
	struct step_settings *settings;
	struct setting_texts texts; /* and their arena for all */
	struct json_text name;      /* with those of the objects that it is in */
	bool is_nested;
};

static void take_value(struct reader *r, struct str value)
{
	struct setting_texts *texts = &r->texts;

	begin_texts(texts, tsi_json_is_string(value));
	tsi_json_text_add(&texts->name, all_of(&r->name));
	if (texts->is_text)
		tsi_json_text_add_unescaped(&texts->value, tsi_json_unquote(value));
	else
		tsi_json_normalize(&texts->value, value);
	add_texts(r->steps, r->settings, texts);
}

static void take_members(struct reader *r, struct str object);

static void take_member(struct reader *r, struct str name, struct str value)
{
	size_t start = r->name.length;

	tsi_json_text_add_unescaped(&r->name, name);
	if (r->texts.arena.has_failed)
		return;
	/* So that names within names do not grow with the input. */
	cut(&r->name, start, SETTING_MAX_NAME_BYTES);
	if (!r->is_nested || value.data[0] != '{') {
		take_value(r, value);
	} else {
		tsi_json_text_add(&r->name, TSI_STR("."));
		take_members(r, value);
	}
}

/* As deep as tsi_json_check() let the text be. */
static void take_members(struct reader *r, struct str object)
{
	struct json_cursor members;
	struct str name, value;
	size_t start = r->name.length;

	tsi_json_object_open(&members, object);
	while (!r->texts.arena.has_failed && !r->steps->has_failed &&
	       r->settings->count < MAX_SETTINGS && tsi_json_object_next(&members, &name, &value)) {
		take_member(r, name, value);
		r->name.length = start;
	}
}

void tsi_settings_read(struct step_series *steps, struct step_settings *settings, struct str object,
		       bool is_nested)
{
	struct reader reader = { .steps = steps, .settings = settings, .is_nested = is_nested };

	reader.name.arena = &reader.texts.arena;
	take_members(&reader, object);
	end_scratch(steps, &reader.texts.arena);
	tsi_settings_sort(steps, settings);
}

/* ---- from texts, traces and other series ---- */

void tsi_settings_add(struct step_series *steps, struct step_settings *settings, struct str name,
		      struct str value)
{
	struct setting_texts texts = { 0 };

	begin_texts(&texts, true);
	tsi_json_text_add(&texts.name, name);
	tsi_json_text_add(&texts.value, value);
	add_texts(steps, settings, &texts);
	end_scratch(steps, &texts.arena);
}

void tsi_settings_of_trace(struct step_series *steps, const struct tscope_trace *trace)
{
	const struct {
		const char *name;
		struct str value;
	} rows[] = {
		/* by name */
		{ "trace.backend", tsi_str_of(trace->info.backend) },
		{ "trace.cuda_runtime_version",
		  tsi_intern_text(&trace->names, trace->cuda_runtime_version) },
		{ "trace.gpu", tsi_str_of(trace->info.device_name) },
		{ "trace.hip_runtime_version",
		  tsi_intern_text(&trace->names, trace->hip_runtime_version) },
		{ "trace.nccl_version", tsi_intern_text(&trace->names, trace->nccl_version) },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(rows); i++)
		if (rows[i].value.length > 0)
			tsi_settings_add(steps, &steps->provenance.environment,
					 tsi_str_of(rows[i].name), rows[i].value);
}

/* Those of `from` go before the own ones, of which each is then the last of its name. */
static void join_settings(struct step_series *steps, struct step_settings *settings,
			  const struct step_settings *from, const struct intern *from_names)
{
	struct step_settings all = { 0 };

	for (size_t i = 0; i < from->count; i++) {
		const struct step_setting *item = &from->items[i];
		struct step_setting copy = {
			.name = tsi_steps_name(steps, tsi_intern_text(from_names, item->name)),
			.value = tsi_steps_name(steps, tsi_intern_text(from_names, item->value)),
			.is_text = item->is_text,
		};

		add_setting(steps, &all, copy);
	}
	for (size_t i = 0; i < settings->count; i++)
		add_setting(steps, &all, settings->items[i]);
	tsi_settings_sort(steps, &all);
	free(settings->items);
	*settings = all;
}

void tsi_settings_take(struct step_series *steps, const struct step_series *from)
{
	struct step_provenance *to = &steps->provenance;
	const struct step_provenance *other = &from->provenance;

	if (isnan(to->started_s))
		to->started_s = other->started_s;
	if (isnan(to->wall_s))
		to->wall_s = other->wall_s;
	if (to->step_count < 0)
		to->step_count = other->step_count;
	if (steps->has_failed || from->has_failed)
		return;
	join_settings(steps, &to->environment, &other->environment, &from->names);
	join_settings(steps, &to->config, &other->config, &from->names);
	if (to->run_name == 0)
		to->run_name =
			tsi_steps_name(steps, tsi_intern_text(&from->names, other->run_name));
	if (to->run_name == NO_ROW)
		to->run_name = 0;
}
