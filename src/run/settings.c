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

static enum tscope_status keep(struct intern *names, struct str text, uint32_t *id,
			       struct tscope_error *err)
{
	enum tscope_status status = tsi_intern_add(names, text, id, err);

	if (status != TSCOPE_E_LIMIT)
		return status;
	*id = NO_ROOM;
	return TSCOPE_OK;
}

enum tscope_status tsi_settings_text(struct intern *names, struct str value, uint32_t *id,
				     struct tscope_error *err)
{
	struct arena arena = { 0 };
	struct json_text text = { .arena = &arena };
	uint32_t kept;

	if (!tsi_json_is_string(value))
		return TSCOPE_OK;
	tsi_json_text_add_unescaped(&text, tsi_json_unquote(value));
	enum tscope_status status = tsi_arena_status(&arena, err);
	if (status == TSCOPE_OK) {
		cut(&text, 0, SETTING_MAX_NAME_BYTES);
		status = keep(names, all_of(&text), &kept, err);
	}
	if (status == TSCOPE_OK && kept != NO_ROOM)
		*id = kept;
	tsi_arena_deinit(&arena);
	return status;
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

enum tscope_status tsi_settings_sort(struct step_settings *settings, const struct intern *names,
				     struct tscope_error *err)
{
	size_t count = settings->count;
	struct sorted *sorted;

	if (tsi_array_new(&sorted, count, sizeof(*sorted), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; i < count; i++)
		sorted[i] = (struct sorted){
			tsi_intern_text(names, settings->items[i].name),
			settings->items[i],
			i,
		};
	if (count > 0)
		qsort(sorted, count, sizeof(*sorted), compare);
	settings->count = 0;
	for (size_t i = 0; i < count; i++)
		if (i + 1 == count || sorted[i].setting.name != sorted[i + 1].setting.name)
			settings->items[settings->count++] = sorted[i].setting;
	free(sorted);
	return TSCOPE_OK;
}

/* Without its texts, which had no room, it is nothing. */
static enum tscope_status add_setting(struct step_settings *settings, struct step_setting setting,
				      struct tscope_error *err)
{
	if (setting.name == NO_ROOM || setting.value == NO_ROOM)
		return TSCOPE_OK;
	if (tsi_array_reserve(&settings->items, &settings->capacity, settings->count + 1,
			      sizeof(*settings->items), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	settings->items[settings->count++] = setting;
	return TSCOPE_OK;
}

/* Adds a setting of two texts, which are cut. */
static enum tscope_status add_texts(struct step_settings *settings, struct intern *names,
				    struct setting_texts *texts, struct tscope_error *err)
{
	struct step_setting setting = { 0 };

	if (tsi_arena_status(&texts->arena, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	cut(&texts->name, 0, SETTING_MAX_NAME_BYTES);
	setting.is_text = cut(&texts->value, 0, SETTING_MAX_VALUE_BYTES) || texts->is_text;
	enum tscope_status status = keep(names, all_of(&texts->name), &setting.name, err);
	if (status == TSCOPE_OK)
		status = keep(names, all_of(&texts->value), &setting.value, err);
	return status == TSCOPE_OK ? add_setting(settings, setting, err) : status;
}

/* ---- from JSON ---- */

struct reader {
	struct step_settings *settings;
	struct intern *names;
	struct arena arena;
	struct json_text name; /* with those of the objects that it is in */
	struct setting_texts texts;
	bool is_nested;
};

static enum tscope_status take_value(struct reader *r, struct str value, struct tscope_error *err)
{
	struct setting_texts *texts = &r->texts;

	begin_texts(texts, tsi_json_is_string(value));
	tsi_json_text_add(&texts->name, all_of(&r->name));
	if (texts->is_text)
		tsi_json_text_add_unescaped(&texts->value, tsi_json_unquote(value));
	else
		tsi_json_normalize(&texts->value, value);
	return add_texts(r->settings, r->names, texts, err);
}

static enum tscope_status take_members(struct reader *r, struct str object,
				       struct tscope_error *err);

static enum tscope_status take_member(struct reader *r, struct str name, struct str value,
				      struct tscope_error *err)
{
	size_t start = r->name.length;

	tsi_json_text_add_unescaped(&r->name, name);
	if (tsi_arena_status(&r->arena, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	/* So that names within names do not grow with the input. */
	cut(&r->name, start, SETTING_MAX_NAME_BYTES);
	if (!r->is_nested || value.data[0] != '{')
		return take_value(r, value, err);
	tsi_json_text_add(&r->name, TSI_STR("."));
	return take_members(r, value, err);
}

/* As deep as tsi_json_check() let the text be. */
static enum tscope_status take_members(struct reader *r, struct str object,
				       struct tscope_error *err)
{
	struct json_cursor members;
	struct str name, value;
	enum tscope_status status = TSCOPE_OK;
	size_t start = r->name.length;

	tsi_json_object_open(&members, object);
	while (status == TSCOPE_OK && r->settings->count < MAX_SETTINGS &&
	       tsi_json_object_next(&members, &name, &value)) {
		status = take_member(r, name, value, err);
		r->name.length = start;
	}
	return status;
}

enum tscope_status tsi_settings_read(struct step_settings *settings, struct intern *names,
				     struct str object, bool is_nested, struct tscope_error *err)
{
	struct reader reader = { .settings = settings, .names = names, .is_nested = is_nested };

	reader.name.arena = &reader.arena;
	enum tscope_status status = take_members(&reader, object, err);
	if (status == TSCOPE_OK)
		status = tsi_arena_status(&reader.arena, err);
	tsi_arena_deinit(&reader.arena);
	tsi_arena_deinit(&reader.texts.arena);
	return status == TSCOPE_OK ? tsi_settings_sort(settings, names, err) : status;
}

/* ---- from texts, traces and other series ---- */

enum tscope_status tsi_settings_add(struct step_settings *settings, struct intern *names,
				    struct str name, struct str value, struct tscope_error *err)
{
	struct setting_texts texts = { 0 };

	begin_texts(&texts, true);
	tsi_json_text_add(&texts.name, name);
	tsi_json_text_add(&texts.value, value);
	enum tscope_status status = add_texts(settings, names, &texts, err);
	tsi_arena_deinit(&texts.arena);
	return status;
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

static enum tscope_status copy_setting(struct step_settings *settings, struct intern *names,
				       const struct step_setting *from,
				       const struct intern *from_names, struct tscope_error *err)
{
	struct step_setting setting = { .is_text = from->is_text };
	enum tscope_status status =
		keep(names, tsi_intern_text(from_names, from->name), &setting.name, err);

	if (status == TSCOPE_OK)
		status = keep(names, tsi_intern_text(from_names, from->value), &setting.value, err);
	return status == TSCOPE_OK ? add_setting(settings, setting, err) : status;
}

/* Those of `from` go before the own ones, of which each is then the last of its name. */
static enum tscope_status join_settings(struct step_settings *settings, struct intern *names,
					const struct step_settings *from,
					const struct intern *from_names, struct tscope_error *err)
{
	struct step_settings all = { 0 };
	enum tscope_status status = TSCOPE_OK;

	for (size_t i = 0; status == TSCOPE_OK && i < from->count; i++)
		status = copy_setting(&all, names, &from->items[i], from_names, err);
	for (size_t i = 0; status == TSCOPE_OK && i < settings->count; i++)
		status = add_setting(&all, settings->items[i], err);
	if (status == TSCOPE_OK)
		status = tsi_settings_sort(&all, names, err);
	if (status != TSCOPE_OK) {
		free(all.items);
		return status;
	}
	free(settings->items);
	*settings = all;
	return TSCOPE_OK;
}

enum tscope_status tsi_settings_take(struct step_series *steps, const struct step_series *from,
				     struct tscope_error *err)
{
	struct step_provenance *to = &steps->provenance;
	const struct step_provenance *other = &from->provenance;

	if (isnan(to->started_s))
		to->started_s = other->started_s;
	if (isnan(to->wall_s))
		to->wall_s = other->wall_s;
	if (to->step_count < 0)
		to->step_count = other->step_count;
	enum tscope_status status = join_settings(&to->environment, &steps->names,
						  &other->environment, &from->names, err);
	if (status == TSCOPE_OK)
		status = join_settings(&to->config, &steps->names, &other->config, &from->names,
				       err);
	if (status == TSCOPE_OK && to->run_name == 0)
		status = keep(&steps->names, tsi_intern_text(&from->names, other->run_name),
			      &to->run_name, err);
	if (to->run_name == NO_ROOM)
		to->run_name = 0;
	return status;
}
