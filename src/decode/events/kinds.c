/* SPDX-License-Identifier: MIT */
/*
 * Learning kinds: see kinds.h. Happens once for each kind, but where little repeats it is still
 * what takes longest: so the scanner says where the event's members are, and those of args are
 * found by their learned layout.
 */
#include "decode/events/kinds.h"

#include "base/hash.h"
#include "decode/events/event_field.h"
#include "decode/events/kind_match.h"
#include "decode/events/members.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
	FIRST_CREDIT = 4096 * 8,
	LEARNING_COST = 8,  /* matches that pay for learning one event */
	MAX_COMPARED = 128, /* kinds of one name that a new one is compared with */
};

/* A number in an event's text. */
struct number {
	uint32_t at, length; /* in the text */
	uint64_t key;        /* hash of its key */
	uint32_t digest;     /* hash of its text, never 0 */
	uint16_t arg;
	uint8_t slot; /* SLOT_END: not cut out */
};

/* An event that may become a kind. */
struct sample {
	struct kinds *kinds;
	struct str text;
	struct number numbers[MAX_KIND_NUMBERS];
	unsigned count;
	uint64_t args; /* bit per number of a key in args that the sink asks for */
	bool is_unfit;
};

struct kinds *tsi_kinds_new(unsigned lane, unsigned lane_count, unsigned (*arg_of)(struct str key))
{
	struct kinds *kinds = malloc(sizeof(*kinds));
	if (!kinds)
		return NULL;
	/* Megabytes of kinds and texts to come are written before they are read. */
	memset(kinds, 0, offsetof(struct kinds, kinds) + sizeof(kinds->kinds[0]));
	kinds->lane = lane;
	kinds->lane_count = lane_count;
	kinds->arg_of = arg_of;
	kinds->credit = FIRST_CREDIT;
	kinds->predicted = kinds->by_long;
	kinds->kinds[0].reach = SIZE_MAX;
	return kinds;
}

void tsi_kinds_free(struct kinds *kinds)
{
	free(kinds);
}

/* ---- keys whose numbers differ ------------------------------------------------------- */

static bool is_varying(const struct kinds *kinds, uint64_t key)
{
	for (unsigned i = 0; i < kinds->varying_count; i++)
		if (kinds->varying[i] == key)
			return true;
	return false;
}

static void add_varying(struct kinds *kinds, uint64_t key)
{
	if (kinds->varying_count < MAX_VARYING_KEYS && !is_varying(kinds, key))
		kinds->varying[kinds->varying_count++] = key;
}

/* ---- the numbers of an event --------------------------------------------------------- */

/* The key before a value of an object; of one with escaped quotes its end, which serves as well. */
static struct str key_before(const char *value)
{
	const char *end = value - 1, *from;
	while (*end != '"')
		end--;
	for (from = end; from[-1] != '"'; from--)
		;
	return (struct str){ from, (size_t)(end - from) };
}

static void add_number(struct sample *sample, struct str value, enum kind_slot slot, uint64_t key,
		       unsigned arg)
{
	if (sample->count == MAX_KIND_NUMBERS) {
		sample->is_unfit = true;
		return;
	}
	sample->numbers[sample->count++] = (struct number){
		.at = (uint32_t)(value.data - sample->text.data),
		.length = (uint32_t)value.length,
		.key = key,
		.digest = 1 | (uint32_t)tsi_hash(value),
		.arg = (uint16_t)arg,
		.slot = (uint8_t)slot,
	};
}

/* Is the whole value a number as match_number() takes them? */
static bool is_number(struct str value)
{
	bool may_be = value.data[0] == '-' || tsi_is_digit(value.data[0]);
	return may_be && match_any_number(value.data) == value.data + value.length;
}

/* Does a number of args say what the event is? These have few values, so each gets its kinds. */
static bool is_place(struct str key)
{
	return tsi_str_is(key, "device") || tsi_str_is(key, "stream") ||
	       tsi_str_is(key, "Device Id") || tsi_str_is(key, "Device Type");
}

static unsigned no_arg_of(struct str key)
{
	(void)key;
	return 0;
}

static void find_arg_numbers(struct sample *sample, const struct scan_isa *isa, struct str args)
{
	struct kinds *kinds = sample->kinds;
	struct members members = tsi_members_open(isa, &kinds->args_layout,
						  kinds->arg_of ? kinds->arg_of : no_arg_of, args);
	struct str value;
	unsigned arg;
	while (tsi_members_next(&members, &arg, &value)) {
		uint64_t bit = arg ? (uint64_t)1 << arg % 64 : 0;
		sample->is_unfit |= (sample->args & bit) != 0;
		sample->args |= bit;
		if (!is_number(value))
			continue;
		struct str key = key_before(value.data);
		if (!is_place(key))
			add_number(sample, value, arg ? SLOT_ASKED : SLOT_NUMBER, tsi_hash(key),
				   arg);
	}
}

/* A member of the event itself. */
static void find_member_numbers(struct sample *sample, const struct kind_member *member)
{
	struct str value = member->value;
	switch ((enum event_field)member->field) {
	case FIELD_TS:
		add_number(sample, value, SLOT_TS, 0, 0);
		break;
	case FIELD_DUR:
		add_number(sample, value, SLOT_DUR, 0, 0);
		break;
	case FIELD_TDUR:
		add_number(sample, value, SLOT_TIME, 0, 0);
		break;
	case FIELD_ID:
	case FIELD_OTHER:
		if (is_number(value))
			add_number(sample, value, SLOT_NUMBER, tsi_hash(key_before(value.data)), 0);
		break;
	default: /* what says what the event is */
		break;
	}
}

/* tdur stands in for a missing dur. */
static void settle_duration(struct sample *sample, const struct raw_event *event)
{
	struct number *tdur = NULL;
	for (unsigned i = 0; i < sample->count; i++) {
		if (sample->numbers[i].slot == SLOT_DUR)
			return;
		if (sample->numbers[i].slot == SLOT_TIME)
			tdur = &sample->numbers[i];
	}
	if (tdur && event->has_dur)
		tdur->slot = SLOT_DUR;
}

static void find_numbers(struct sample *sample, const struct scan_isa *isa,
			 const struct kind_source *source, const struct raw_event *event)
{
	for (unsigned i = 0; i < source->member_count; i++) {
		const struct kind_member *member = &source->members[i];
		if (member->field == FIELD_ARGS)
			find_arg_numbers(sample, isa, member->value);
		else
			find_member_numbers(sample, member);
	}
	settle_duration(sample, event);
}

/* Hash of the text without the numbers. */
static uint64_t shape_of(const struct sample *sample)
{
	uint64_t hash = 0;
	uint32_t at = 0;
	for (unsigned i = 0; i <= sample->count; i++) {
		bool is_last = i == sample->count;
		const struct number *number = &sample->numbers[i];
		size_t end = is_last ? sample->text.length : number->at;
		hash = hash * 31 + tsi_hash((struct str){ sample->text.data + at, end - at });
		at = is_last ? 0 : number->at + number->length;
	}
	return hash;
}

/* Remembers the keys of the numbers in which the event differs from a kind. False: none does. */
static bool find_differences(struct sample *sample, const struct kind *kind)
{
	bool are_different = false;
	for (unsigned i = 0; i < sample->count; i++) {
		const struct number *number = &sample->numbers[i];
		if (!kind->digests[i] || kind->digests[i] == number->digest)
			continue;
		add_varying(sample->kinds, number->key);
		are_different = true;
	}
	return are_different;
}

/* The kind that the event is of though it was not tried; 0: none. Looks for what differs, too. */
static unsigned find_kind(struct sample *sample, struct str name, uint64_t shape)
{
	struct kinds *kinds = sample->kinds;
	unsigned index = *kind_by_name(kinds, name);
	for (unsigned i = 0; index && i < MAX_COMPARED; i++) {
		const struct kind *kind = &kinds->kinds[index];
		bool is_alike = kind->shape == shape && kind->digest_count == sample->count;
		if (is_alike && !find_differences(sample, kind))
			return index;
		index = kind->next;
	}
	return 0;
}

/* Leaves in the text the numbers that do not differ, or are too many to pass on. */
static void choose_slots(struct sample *sample)
{
	unsigned reported = 0;
	for (unsigned i = 0; i < sample->count; i++) {
		struct number *number = &sample->numbers[i];
		bool is_asked = number->slot == SLOT_ASKED;
		if (number->slot < SLOT_TIME_COUNT)
			continue;
		if (!is_varying(sample->kinds, number->key) ||
		    (is_asked && reported == MAX_RAW_NUMBERS))
			number->slot = SLOT_END;
		else
			reported += is_asked;
	}
}

/* ---- a new kind ---------------------------------------------------------------------- */

/* Room for so many bytes, in which all kinds are forgotten where there is none. */
static char *take_room(struct kinds *kinds, size_t bytes)
{
	bytes = (bytes + 7) / 8 * 8;
	if (kinds->count == MAX_KINDS_KEPT || bytes > KIND_TEXT_BYTES - kinds->text_used) {
		memset(kinds->by_long, 0, sizeof(kinds->by_long));
		memset(kinds->by_short, 0, sizeof(kinds->by_short));
		memset(kinds->by_name, 0, sizeof(kinds->by_name));
		kinds->count = 0;
		kinds->text_used = 0;
	}
	char *room = kinds->text + kinds->text_used;
	kinds->text_used += bytes;
	return room;
}

/* Cuts the text at its slots. */
static unsigned cut(const struct sample *sample, struct kind_piece *pieces, uint32_t *begins)
{
	unsigned count = 0;
	uint32_t at = 0;
	for (unsigned i = 0; i <= sample->count; i++) {
		bool is_last = i == sample->count;
		const struct number *number = &sample->numbers[i];
		if (!is_last && number->slot == SLOT_END)
			continue;
		uint32_t length = (is_last ? (uint32_t)sample->text.length : number->at) - at;
		uint32_t blocks = (length - 1) / 32 * 32;
		begins[count] = at;
		pieces[count++] = (struct kind_piece){
			.mask = UINT32_MAX >> (32 - (length - blocks)),
			.blocks = (uint16_t)blocks,
			.tail = (uint8_t)(length - blocks),
			.slot = (uint8_t)(is_last ? SLOT_END : number->slot),
			.arg = (uint16_t)(is_last ? 0 : number->arg),
			.last_digits = UINT8_MAX, /* none has so many */
		};
		at = is_last ? 0 : number->at + number->length;
	}
	return count;
}

/* The piece that a place of the text is in, or ends. */
static uint8_t piece_of(uint32_t at, const uint32_t *begins, unsigned count)
{
	unsigned piece = 0; /* of most texts */
	while (piece + 1 < count && begins[piece + 1] <= at)
		piece++;
	return (uint8_t)piece;
}

static void place_texts(struct kind *kind, const struct sample *sample,
			const struct raw_event *event, const uint32_t *begins, unsigned count)
{
	const struct str texts[KIND_TEXT_COUNT] = { event->name, event->cat, event->pid,
						    event->tid,  event->id,  event->args };
	for (unsigned i = 0; i < KIND_TEXT_COUNT; i++) {
		if (!texts[i].data)
			continue; /* begins and ends where the event does */
		uint32_t from = (uint32_t)(texts[i].data - sample->text.data);
		uint32_t to = from + (uint32_t)texts[i].length;
		struct kind_text *text = &kind->texts[i];
		text->from_piece = piece_of(from, begins, count);
		text->from = (uint16_t)(from - begins[text->from_piece]);
		text->to_piece = piece_of(to, begins, count);
		text->to = (uint16_t)(to - begins[text->to_piece]);
		text->length = (uint16_t)texts[i].length;
	}
	kind->is_simple = event->id.length == 0;
	for (unsigned i = 0; i < KIND_TEXT_COUNT - 1; i++)
		kind->is_simple &= kind->texts[i].to_piece == 0;
}

/* Copies the pieces, what they hold, and the digests of what was not cut out. */
static void fill(struct kind *kind, char *room, const struct sample *sample,
		 const struct kind_piece *pieces, const uint32_t *begins, unsigned count)
{
	memcpy(room, pieces, count * sizeof(*pieces));
	kind->pieces = (struct kind_piece *)(void *)room;
	room += count * sizeof(*pieces);

	uint32_t *digests = (uint32_t *)(void *)room;
	for (unsigned i = 0; i < sample->count; i++)
		digests[i] = sample->numbers[i].slot == SLOT_END ? sample->numbers[i].digest : 0;
	kind->digests = digests;
	kind->digest_count = (uint16_t)sample->count;
	room += sample->count * sizeof(*digests);

	kind->text = room;
	for (unsigned i = 0; i < count; i++) {
		size_t length = (size_t)pieces[i].blocks + pieces[i].tail;
		memcpy(room, sample->text.data + begins[i], length);
		room += length;
	}
}

static unsigned add_kind(const struct sample *sample, uint64_t shape, struct raw_event *event)
{
	struct kinds *kinds = sample->kinds;
	struct kind_piece pieces[MAX_KIND_NUMBERS + 1];
	uint32_t begins[MAX_KIND_NUMBERS + 1];
	unsigned count = cut(sample, pieces, begins);
	size_t text = 0;
	for (unsigned i = 0; i < count; i++)
		text += (size_t)pieces[i].blocks + pieces[i].tail;
	char *room =
		take_room(kinds, count * sizeof(*pieces) + sample->count * sizeof(uint32_t) + text);
	unsigned index = ++kinds->count;
	struct kind *kind = &kinds->kinds[index];
	uint16_t *first = kind_by_name(kinds, event->name);
	size_t end = sample->text.length;
	while (tsi_is_space(sample->text.data[end - 1]))
		end--;
	*kind = (struct kind){
		.shape = shape,
		.number = kinds->arg_of && kinds->reported < MAX_KINDS
				  ? ++kinds->reported * kinds->lane_count + kinds->lane
				  : 0,
		.reach = text + KIND_TEXT_REACH + (count - 1) * (size_t)KIND_NUMBER_REACH,
		.next = *first,
		.space = (uint16_t)(sample->text.length - end),
		.phase = event->phase,
		.has_ts = event->has_ts,
		.has_dur = event->has_dur,
		.name_escaped = event->name_escaped,
	};
	*first = (uint16_t)index;
	fill(kind, room, sample, pieces, begins, count);
	place_texts(kind, sample, event, begins, count);
	event->kind = kind->number;
	return index;
}

unsigned tsi_kinds_learn(struct kinds *kinds, const struct scan_isa *isa,
			 const struct kind_source *source, struct raw_event *event)
{
	struct str text = source->text;
	if (kinds->credit < LEARNING_COST || text.length > MAX_KIND_BYTES)
		return 0;
	kinds->credit -= LEARNING_COST;
	struct sample sample = { .kinds = kinds, .text = text };
	find_numbers(&sample, isa, source, event);
	if (sample.is_unfit)
		return 0;
	uint64_t shape = shape_of(&sample);
	unsigned index = find_kind(&sample, event->name, shape);
	if (index) {
		/* Only hashes were compared; and the window may end too soon to decide. */
		struct kind_event read;
		if (match_kind(&kinds->kinds[index], text.data, source->end, &read, NULL))
			event->kind = read.kind->number;
		return index;
	}
	choose_slots(&sample);
	return add_kind(&sample, shape, event);
}
