/* SPDX-License-Identifier: MIT */
/*
 * Which Python frames are rows where the caller does not want all: those that are long, those
 * whose name shows what their thread waits for, and however short those of modules and of the
 * user's code. They name causes and places; of others nothing is measured by them. Each name is
 * asked about once.
 */
#include "decode/json.h"
#include "model/trace/build.h"
#include "model/trace/python_name.h"

enum {
	MAX_NAMES = 1 << 16,
	MAX_NAME_CHARS = 1024,
};

/* Properties of a frame's name. */
struct frame_name {
	uint32_t cause_ns; /* frames that take so long may be causes; 0: nobody asked */
	uint8_t place;     /* enum frame_place */
};

/* The name without escapes. */
static struct str read_name(struct builder *b, const struct raw_event *event)
{
	struct str name = event->name;
	uint64_t bad_escapes = 0;

	if (!event->name_escaped)
		return name;
	if (!tsi_builder_reserve(b, &b->text, &b->text_capacity, name.length, 1))
		return name;
	name.length = tsi_json_unescape(name, b->text, &bad_escapes);
	name.data = b->text;
	return name;
}

static uint8_t place_of(struct builder *b, const struct raw_event *event)
{
	return (uint8_t)tsi_frame_place(read_name(b, event));
}

/* Most names belong to frames too short to matter. */
static struct frame_name ask(struct builder *b, struct frame_name known,
			     const struct raw_event *event)
{
	if (!known.cause_ns && event->dur_ns >= TELLING_FRAME_NS)
		known.cause_ns = b->options.is_telling_frame(read_name(b, event)) ? TELLING_FRAME_NS
										  : LONG_FRAME_NS;
	return known;
}

static struct frame_name find_name(struct builder *b, const struct raw_event *event)
{
	size_t known_count = b->frame_texts.count;

	/* The empty text is in every set from the start. */
	if (known_count >= MAX_NAMES || event->name.length > MAX_NAME_CHARS ||
	    event->name.length == 0) {
		struct frame_name name = { .place = place_of(b, event) };
		return ask(b, name, event);
	}
	uint32_t id = tsi_builder_id(b, &b->frame_texts, event->name);
	if (!tsi_builder_reserve(b, &b->frame_names, &b->frame_name_capacity, b->frame_texts.count,
				 sizeof(*b->frame_names)))
		return (struct frame_name){ .cause_ns = LONG_FRAME_NS };
	if (b->frame_texts.count > known_count)
		b->frame_names[id] = (struct frame_name){ .place = place_of(b, event) };
	b->frame_names[id] = ask(b, b->frame_names[id], event);
	return b->frame_names[id];
}

bool tsi_chooses_frames(const struct builder *b)
{
	return !b->options.python && b->options.is_telling_frame;
}

bool tsi_keeps_frame(struct builder *b, const struct raw_event *event)
{
	b->frame = (struct frame_traits){ .use = FRAME_ALL };
	if (!tsi_chooses_frames(b))
		return b->options.python;
	if (!event->has_dur || !tsi_is_good_time(event) || b->drops_frames)
		return false;
	struct frame_name name = find_name(b, event);
	b->frame_cause_ns = name.cause_ns ? name.cause_ns : TELLING_FRAME_NS;
	b->frame_least_ns = name.place ? 0 : b->frame_cause_ns;
	if (event->dur_ns < b->frame_least_ns)
		return false;
	b->frame.use = event->dur_ns >= b->frame_cause_ns ? FRAME_CHOSEN : FRAME_PLACE;
	b->frame.place = name.place;
	b->frame.is_uninformative = b->frame.use == FRAME_CHOSEN && name.cause_ns == LONG_FRAME_NS;
	return true;
}
