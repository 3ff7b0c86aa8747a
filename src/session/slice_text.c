/* SPDX-License-Identifier: MIT */
/*
 * Events and metadata as texts of which some values are replaced, and the rest is copied: a value
 * is known by where it stands in the text.
 */
#include "session/slice_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/sum.h"
#include "decode/json.h"

enum { MAX_DEPTH = 64 }; /* of what names are taken out of */

struct copy {
	struct gzip_out *out;
	const struct slice_form *form;
	const struct raw_event *event; /* NULL: metadata */
	const char *done;              /* up to here the text is written */
};

static void copy_to(struct copy *copy, const char *end)
{
	tsi_gzip_put(copy->out, (struct str){ copy->done, (size_t)(end - copy->done) });
	copy->done = end;
}

static void pass(struct copy *copy, struct str value)
{
	copy->done = value.data + value.length;
}

static void put(struct copy *copy, const char *text)
{
	tsi_gzip_put(copy->out, tsi_str_of(text));
}

/* ---- without names ---- */

static enum redacted_kind kind_of(const struct copy *copy, struct str key)
{
	if (tsi_str_is(key, "Call stack"))
		return REDACTED_STACK;
	if (!tsi_str_is(key, "name") || !copy->event)
		return REDACTED_TEXT;
	if (tsi_str_is(copy->event->cat, "kernel"))
		return REDACTED_KERNEL;
	return tsi_str_starts(copy->event->cat, "python") ? REDACTED_FRAME : REDACTED_NAME;
}

static void redact_string(struct copy *copy, enum redacted_kind kind, struct str value)
{
	struct str inside = tsi_json_unquote(value);

	copy_to(copy, inside.data);
	tsi_redact(copy->out, copy->form->redaction, kind, inside);
	pass(copy, inside);
}

/* The value of a key, with all that is in it; no deeper than tsi_json_check() let it be. */
static void redact_value(struct copy *copy, struct str key,
			 struct str value) // NOLINT(misc-no-recursion)
{
	struct json_cursor items;
	struct str item, name;

	if (tsi_is_public_key(key) || tsi_str_is(key, "deviceProperties")) {
		return;
	} else if (tsi_is_shape_key(key) && !copy->form->redaction->keeps_shapes) {
		copy_to(copy, value.data);
		put(copy, "[]");
		pass(copy, value);
	} else if (tsi_json_is_string(value)) {
		redact_string(copy, kind_of(copy, key), value);
	} else if (value.length > 0 && *value.data == '[') {
		tsi_json_array_open(&items, value);
		while (tsi_json_array_next(&items, &item))
			redact_value(copy, key, item);
	} else {
		tsi_json_object_open(&items, value);
		while (tsi_json_object_next(&items, &name, &item))
			redact_value(copy, name, item);
	}
}

/* Members of an event that are no names: words and numbers of the format itself. */
static bool is_of_format(const struct raw_event *event, struct str key)
{
	return tsi_str_is(key, "ph") || tsi_str_is(key, "cat") || tsi_str_is(key, "ts") ||
	       tsi_str_is(key, "dur") || tsi_str_is(key, "bp") || tsi_str_is(key, "s") ||
	       tsi_str_is(key, "id") || tsi_str_is(key, "id2") || tsi_str_is(key, "bind_id") ||
	       (event->phase == 'M' && tsi_str_is(key, "name"));
}

static void redact_member(struct copy *copy, struct str key, struct str value)
{
	if (!tsi_str_is(key, "pid") && !tsi_str_is(key, "tid")) {
		if (!is_of_format(copy->event, key))
			redact_value(copy, key, value);
	} else if (tsi_json_is_string(value)) {
		redact_string(copy, REDACTED_NAME, value);
	}
}

/* ---- one of several ranks ---- */

int64_t tsi_slice_time(const struct slice_rank *rank, int64_t ns)
{
	if (rank->world)
		return tsi_narrow(
			(tsi_wide)tsi_world_time(rank->world, rank->index,
						 tsi_narrow((tsi_wide)ns + rank->base_ns)) -
			rank->shared_base_ns);
	return tsi_narrow((tsi_wide)ns + rank->base_ns - rank->shared_base_ns);
}

static void put_rank(struct copy *copy)
{
	char text[40];

	snprintf(text, sizeof(text), "\"rank %" PRId64 " ", copy->form->rank->number);
	put(copy, text);
}

/* Digits, quotes around them or a text: behind "rank 3 " it is this rank's alone. */
static void put_of_rank(struct copy *copy, struct str value, bool is_process)
{
	struct str inside = tsi_json_unquote(value);

	copy_to(copy, value.data);
	put_rank(copy);
	if (is_process && copy->form->redaction)
		tsi_redact(copy->out, copy->form->redaction, REDACTED_NAME, inside);
	else
		tsi_gzip_put(copy->out, inside);
	put(copy, "\"");
	pass(copy, value);
}

static void put_time(struct copy *copy, struct str value)
{
	int64_t ns = tsi_slice_time(copy->form->rank, copy->event->ts_ns);
	uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	char text[40];

	snprintf(text, sizeof(text), "%s%" PRIu64 ".%03u", ns < 0 ? "-" : "", size / 1000,
		 (unsigned)(size % 1000));
	copy_to(copy, value.data);
	put(copy, text);
	pass(copy, value);
}

/* "python" of rank 3 is the process "rank 3 python". */
static void put_process_name(struct copy *copy, struct str args)
{
	struct json_cursor members;
	struct str key, value;

	tsi_json_object_open(&members, args);
	while (tsi_json_object_next(&members, &key, &value))
		if (tsi_str_is(key, "name") && tsi_json_is_string(value))
			put_of_rank(copy, value, true);
}

/* False: the value is not the rank's matter. */
static bool place_member(struct copy *copy, struct str key, struct str value)
{
	const struct raw_event *event = copy->event;
	bool is_plain = value.length > 0 && *value.data != '{' && *value.data != '[';

	if (tsi_str_is(key, "pid") && is_plain)
		put_of_rank(copy, value, true);
	else if ((tsi_str_is(key, "id") || tsi_str_is(key, "bind_id")) && is_plain)
		put_of_rank(copy, value, false);
	else if (tsi_str_is(key, "ts") && event->has_ts && event->phase != 'M')
		put_time(copy, value);
	else if (tsi_str_is(key, "args") && event->phase == 'M' &&
		 tsi_str_is(event->name, "process_name"))
		put_process_name(copy, value);
	else
		return false;
	return true;
}

/* ---- both ---- */

static bool is_readable(const struct slice_form *form, struct str text)
{
	return !form->redaction || tsi_json_check(text, MAX_DEPTH, NULL) == TSCOPE_OK;
}

void tsi_slice_event(struct gzip_out *out, const struct raw_event *event,
		     const struct slice_form *form)
{
	struct copy copy = { out, form, event, event->text.data };
	struct json_cursor members;
	struct str key, value;

	if (!is_readable(form, event->text))
		return;
	tsi_gzip_put(out, TSI_STR(",\n"));
	if (!form->rank && !form->redaction) {
		tsi_gzip_put(out, event->text);
		return;
	}
	copy_to(&copy, event->text.data + 1);
	if (form->rank && event->pid.length == 0) {
		put(&copy, "\"pid\": ");
		put_rank(&copy);
		put(&copy, "0\", ");
	}
	tsi_json_object_open(&members, event->text);
	while (tsi_json_object_next(&members, &key, &value)) {
		if (form->rank && place_member(&copy, key, value))
			continue;
		if (form->redaction)
			redact_member(&copy, key, value);
	}
	copy_to(&copy, event->text.data + event->text.length);
}

void tsi_slice_value(struct gzip_out *out, struct str key, struct str value,
		     const struct slice_form *form)
{
	struct copy copy = { out, form, NULL, value.data };

	if (!is_readable(form, value)) {
		tsi_gzip_put(out, TSI_STR("null"));
		return;
	}
	if (form->redaction)
		redact_value(&copy, key, value);
	copy_to(&copy, value.data + value.length);
}
