/* SPDX-License-Identifier: MIT */
/*
 * Which Python frames are rows where the caller does not want all: those that are long, and those
 * whose name shows what their thread waits for. They name causes and places; nothing is measured
 * by them. Each name is asked about once.
 */
#include "decode/json.h"
#include "model/trace/build.h"

enum {
	MAX_NAMES = 1 << 16,
	MAX_NAME_CHARS = 1024,
};

/* As the name stands in the file. */
static bool ask(struct builder *b, struct str name, bool escaped)
{
	uint64_t bad_escapes = 0;

	if (escaped) {
		if (!tsi_builder_reserve(b, &b->text, &b->text_capacity, name.length, 1))
			return false;
		name.length = tsi_json_unescape(name, b->text, &bad_escapes);
		name.data = b->text;
	}
	return b->options.is_telling_frame(name);
}

static bool is_telling(struct builder *b, const struct raw_event *event)
{
	size_t known_count = b->frame_names.count;

	if (known_count >= MAX_NAMES || event->name.length > MAX_NAME_CHARS)
		return ask(b, event->name, event->name_escaped);
	uint32_t id = tsi_builder_id(b, &b->frame_names, event->name);
	if (!tsi_builder_reserve(b, &b->frame_tells, &b->frame_tells_capacity, b->frame_names.count,
				 sizeof(*b->frame_tells)))
		return false;
	if (b->frame_names.count > known_count)
		b->frame_tells[id] = ask(b, event->name, event->name_escaped);
	return b->frame_tells[id];
}

bool tsi_chooses_frames(const struct builder *b)
{
	return !b->options.python && b->options.is_telling_frame;
}

bool tsi_keeps_frame(struct builder *b, const struct raw_event *event)
{
	if (!tsi_chooses_frames(b))
		return b->options.python;
	if (!event->has_dur || !tsi_is_good_time(event) || b->drops_frames ||
	    event->dur_ns < TELLING_FRAME_NS)
		return false;
	if (event->dur_ns >= LONG_FRAME_NS)
		return true;
	b->is_dull_frame = !is_telling(b, event);
	return !b->is_dull_frame;
}
