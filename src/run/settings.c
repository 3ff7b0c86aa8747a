/* SPDX-License-Identifier: MIT */
/*
 * What a job says of its environment and configuration, from JSON to sorted pairs of texts. The
 * JSON was written by anybody: the number of entries and the length of texts are limited.
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

#define NO_ROOM UINT32_MAX /* an id: the names are full */

/* The id of a text, or NO_ROOM. Without memory the arena says so. */
static uint32_t keep(struct intern *names, struct str text, struct arena *arena)
{
	uint32_t id = NO_ROOM;
	enum tscope_status status = tsi_intern_add(names, text, &id, NULL);

	arena->has_failed |= status == TSCOPE_E_NOMEM;
	return status == TSCOPE_OK ? id : NO_ROOM;
}

/* Frees what was made on the way, and says whether memory ran out. */
static enum tscope_status end_scratch(struct arena *scratch, struct tscope_error *err)
{
	enum tscope_status status = tsi_arena_status(scratch, err);

	tsi_arena_deinit(scratch);
	return status;
}

enum tscope_status tsi_settings_text(struct intern *names, struct str value, uint32_t *id,
				     struct tscope_error *err)
{
	struct arena arena = { 0 };
	struct json_text text = { .arena = &arena };

	if (!tsi_json_is_string(value))
		return TSCOPE_OK;
	tsi_json_text_add_unescaped(&text, tsi_json_unquote(value));
	if (!arena.has_failed) {
		cut(&text, 0, SETTING_MAX_NAME_BYTES);
		uint32_t kept = keep(names, all_of(&text), &arena);
		*id = kept == NO_ROOM ? *id : kept;
	}
	return end_scratch(&arena, err);
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

/* Puts settings in order, by name, and keeps the last of one name. */
static void sort_settings(struct step_settings *settings, const struct intern *names,
			  struct arena *arena)
{
	size_t count = settings->count;
	struct sorted *sorted = count ? tsi_arena_new(arena, count, sizeof(*sorted)) : NULL;

	if (!sorted)
		return;
	for (size_t i = 0; i < count; i++)
		sorted[i] = (struct sorted){
			tsi_intern_text(names, settings->items[i].name),
			settings->items[i],
			i,
		};
	qsort(sorted, count, sizeof(*sorted), compare);
	settings->count = 0;
	for (size_t i = 0; i < count; i++)
		if (i + 1 == count || sorted[i].setting.name != sorted[i + 1].setting.name)
			settings->items[settings->count++] = sorted[i].setting;
}

enum tscope_status tsi_settings_sort(struct step_settings *settings, const struct intern *names,
				     struct tscope_error *err)
{
	struct arena scratch = { 0 };

	sort_settings(settings, names, &scratch);
	return end_scratch(&scratch, err);
}

/* Without its texts, which had no room, it is nothing. */
static void add_setting(struct step_settings *settings, struct step_setting setting,
			struct arena *arena)
{
	if (setting.name == NO_ROOM || setting.value == NO_ROOM)
		return;
	if (tsi_array_reserve(&settings->items, &settings->capacity, settings->count + 1,
			      sizeof(*settings->items), NULL) == TSCOPE_OK)
		settings->items[settings->count++] = setting;
	else
		arena->has_failed = true;
}

/* Adds a setting of two texts, which are cut. */
static void add_texts(struct step_settings *settings, struct intern *names,
		      struct setting_texts *texts)
{
	struct step_setting setting = { 0 };

	if (texts->arena.has_failed)
		return;
	cut(&texts->name, 0, SETTING_MAX_NAME_BYTES);
	setting.is_text = cut(&texts->value, 0, SETTING_MAX_VALUE_BYTES) || texts->is_text;
	setting.name = keep(names, all_of(&texts->name), &texts->arena);
	setting.value = keep(names, all_of(&texts->value), &texts->arena);
	add_setting(settings, setting, &texts->arena);
}

/* ---- from JSON ---- */

struct reader {
	struct step_settings *settings;
	struct intern *names;
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
	add_texts(r->settings, r->names, texts);
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
	while (!r->texts.arena.has_failed && r->settings->count < MAX_SETTINGS &&
	       tsi_json_object_next(&members, &name, &value)) {
		take_member(r, name, value);
		r->name.length = start;
	}
}

enum tscope_status tsi_settings_read(struct step_settings *settings, struct intern *names,
				     struct str object, bool is_nested, struct tscope_error *err)
{
	struct reader reader = { .settings = settings, .names = names, .is_nested = is_nested };

	reader.name.arena = &reader.texts.arena;
	take_members(&reader, object);
	sort_settings(settings, names, &reader.texts.arena);
	return end_scratch(&reader.texts.arena, err);
}

/* ---- from texts, traces and other series ---- */

enum tscope_status tsi_settings_add(struct step_settings *settings, struct intern *names,
				    struct str name, struct str value, struct tscope_error *err)
{
	struct setting_texts texts = { 0 };

	begin_texts(&texts, true);
	tsi_json_text_add(&texts.name, name);
	tsi_json_text_add(&texts.value, value);
	add_texts(settings, names, &texts);
	return end_scratch(&texts.arena, err);
}

enum tscope_status tsi_settings_of_trace(struct step_series *steps,
					 const struct tscope_trace *trace, struct tscope_error *err)
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
	enum tscope_status status = TSCOPE_OK;

	for (size_t i = 0; status == TSCOPE_OK && i < TSI_COUNT_OF(rows); i++)
		if (rows[i].value.length > 0)
			status = tsi_settings_add(&steps->provenance.environment, &steps->names,
						  tsi_str_of(rows[i].name), rows[i].value, err);
	return status;
}

/*
 * Those of `from` go before the own ones, of which each is then the last of its name. A failure
 * leaves what was there.
 */
static void join_settings(struct step_settings *settings, struct intern *names,
			  const struct step_settings *from, const struct intern *from_names,
			  struct arena *arena)
{
	struct step_settings all = { 0 };

	for (size_t i = 0; i < from->count; i++) {
		const struct step_setting *item = &from->items[i];
		struct step_setting copy = {
			.name = keep(names, tsi_intern_text(from_names, item->name), arena),
			.value = keep(names, tsi_intern_text(from_names, item->value), arena),
			.is_text = item->is_text,
		};

		add_setting(&all, copy, arena);
	}
	for (size_t i = 0; i < settings->count; i++)
		add_setting(&all, settings->items[i], arena);
	sort_settings(&all, names, arena);
	if (arena->has_failed) {
		free(all.items);
		return;
	}
	free(settings->items);
	*settings = all;
}

enum tscope_status tsi_settings_take(struct step_series *steps, const struct step_series *from,
				     struct tscope_error *err)
{
	struct step_provenance *to = &steps->provenance;
	const struct step_provenance *other = &from->provenance;
	struct arena scratch = { 0 };

	if (isnan(to->started_s))
		to->started_s = other->started_s;
	if (isnan(to->wall_s))
		to->wall_s = other->wall_s;
	if (to->step_count < 0)
		to->step_count = other->step_count;
	join_settings(&to->environment, &steps->names, &other->environment, &from->names, &scratch);
	join_settings(&to->config, &steps->names, &other->config, &from->names, &scratch);
	if (to->run_name == 0)
		to->run_name = keep(&steps->names, tsi_intern_text(&from->names, other->run_name),
				    &scratch);
	if (to->run_name == NO_ROOM)
		to->run_name = 0;
	return end_scratch(&scratch, err);
}
