/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_KIND_MATCH_H
#define TSCOPE_DECODE_KIND_MATCH_H

#include "decode/kinds.h"
#include "decode/number.h"
#include "decode/simd.h"
#include "input/input.h"

/*
 * Reading events of known kind, and predicting the kind: see kinds.h. Compiled with scan.c for each
 * instruction set.
 */

enum { KIND_TRIES = 8 }; /* kinds of one name that are compared */

/* Behind the number at p, "-12.5"; NULL for every other form. A number's reach may be read. */
static inline const char *match_number(const char *p)
{
	enum { DIGITS = 17 }; /* and up to seven more */
	p += *p == '-';
	const char *behind = skip_digits(p, p + DIGITS);
	if (tsi_unlikely(behind == p))
		return NULL;
	if (tsi_likely(*behind != '.'))
		return behind;
	p = behind + 1;
	behind = skip_digits(p, p + DIGITS);
	return behind == p ? NULL : behind;
}

/* Does the text of a piece stand at p? */
static inline bool match_piece(const struct kind_piece *piece, const char *p, const char *text)
{
	for (unsigned block = 0; block < piece->blocks; block++, p += 32, text += 32)
		if (simd_equal32(p, text) != UINT32_MAX)
			return false;
	return (~simd_equal32(p, text) & piece->mask) == 0;
}

/* Points the event's texts into the event that was matched; piece i began at at[i]. */
static inline void take_texts(const struct kind *kind, const char *const at[],
			      struct raw_event *event)
{
	struct str *texts[KIND_TEXT_COUNT] = { &event->name, &event->cat, &event->pid,
					       &event->tid,  &event->id,  &event->args };
	for (unsigned i = 0; i < KIND_TEXT_COUNT; i++) {
		const char *from = at[kind->from[i].piece] + kind->from[i].offset;
		const char *to = at[kind->to[i].piece] + kind->to[i].offset;
		*texts[i] = (struct str){ from, (size_t)(to - from) };
	}
	for (unsigned i = 0; i < event->number_count; i++)
		event->numbers[i].at -= (uint32_t)(event->args.data - at[0]);
}

/*
 * Reads the event at p if it is one of this kind: gives its end, the white space before the
 * next one included; else NULL, with *event in any state.
 */
static inline const char *match_kind(const struct kind *kind, const char *p, const char *end,
				     struct raw_event *event)
{
	const char *at[MAX_KIND_NUMBERS + 1], *start = p, *text = kind->text;
	const struct kind_piece *piece = kind->pieces;
	int64_t unused;
	if ((size_t)(end - p) + TSI_INPUT_PADDING < kind->reach)
		return NULL;
	event->ts_ns = event->dur_ns = 0;
	event->number_count = 0;
	for (unsigned i = 0;; i++, piece++) {
		if (!match_piece(piece, p, text))
			return NULL;
		at[i] = p;
		text += 32 * (piece->blocks + 1);
		p += 32 * piece->blocks + piece->tail;
		const char *number = p;
		if (piece->slot == SLOT_NUMBER) {
			p = match_number(p);
			if (tsi_unlikely(!p))
				return NULL;
			if (piece->arg)
				event->numbers[event->number_count++] = (struct raw_number){
					.at = (uint32_t)(number - start),
					.length = (uint16_t)(p - number),
					.arg = piece->arg,
				};
			continue;
		}
		if (piece->slot == SLOT_END)
			break;
		p = parse_plain_ns(p, p + KIND_NUMBER_REACH,
				   piece->slot == SLOT_TS    ? &event->ts_ns
				   : piece->slot == SLOT_DUR ? &event->dur_ns
							     : &unused);
		if (tsi_unlikely(!p))
			return NULL;
	}
	if (tsi_unlikely(p > end))
		return NULL;
	event->phase = kind->phase;
	event->has_ts = kind->has_ts;
	event->has_dur = kind->has_dur;
	event->name_escaped = kind->name_escaped;
	event->kind = kind->number;
	take_texts(kind, at, event);
	return p;
}

static inline uint16_t *kind_by_short(struct kinds *kinds)
{
	uint32_t last_three = (uint32_t)kinds->history << 8;
	return &kinds->by_short[last_three * 0x9e3779b1u >> (32 - KIND_SHORT_BITS)];
}

/* An event of this kind came: what will the next one be? */
static inline void follow_kind(struct kinds *kinds, unsigned index)
{
	kinds->history = (kinds->history << 8) + index * 0x9e3779b1u;
	uint64_t hash = kinds->history * 0x9e3779b97f4a7c15u;
	kinds->predicted = &kinds->by_long[hash >> (64 - KIND_LONG_BITS)];
}

/* What was predicted was wrong. */
static inline void correct_kind(struct kinds *kinds, unsigned index)
{
	*kinds->predicted = *kind_by_short(kinds) = (uint16_t)index;
	follow_kind(kinds, index);
}

/* Reads the event at p if it is of the kind that was predicted. */
static inline const char *match_predicted(struct kinds *kinds, const char *p, const char *end,
					  struct raw_event *event, const struct kind **kind)
{
	unsigned index = *kinds->predicted;
	const char *behind = index ? match_kind(&kinds->kinds[index - 1], p, end, event) : NULL;
	if (tsi_likely(behind != NULL)) {
		follow_kind(kinds, index);
	} else {
		unsigned second = *kind_by_short(kinds);
		if (!second || second == index)
			return NULL;
		behind = match_kind(&kinds->kinds[second - 1], p, end, event);
		if (!behind)
			return NULL;
		index = second;
		correct_kind(kinds, index);
	}
	*kind = &kinds->kinds[index - 1];
	kinds->credit++;
	return behind;
}

static inline uint64_t load_64(const char *p)
{
	uint64_t bytes;
	memcpy(&bytes, p, 8);
	return bytes;
}

/* The chain of a name, told from others by its length and a few of its bytes. */
static inline uint16_t *kind_by_name(struct kinds *kinds, struct str name)
{
	uint64_t hash = name.length;
	if (name.length >= 8) {
		const char *end = name.data + name.length;
		hash = (hash ^ load_64(name.data)) * 0x9e3779b97f4a7c15u;
		hash = (hash ^ hash >> 32 ^ load_64(name.data + (name.length - 8) / 2)) *
		       0x9e3779b97f4a7c15u;
		hash ^= hash >> 32 ^ load_64(end - 8);
	} else {
		for (size_t i = 0; i < name.length; i++)
			hash = hash << 8 | (unsigned char)name.data[i];
	}
	return &kinds->by_name[hash * 0x9e3779b97f4a7c15u >> (64 - KIND_NAME_BITS)];
}

/* Reads the event at p if it is of one of the kinds known to have this name; the last one first. */
static inline const char *match_named(struct kinds *kinds, struct str name, const char *p,
				      const char *end, struct raw_event *event,
				      const struct kind **kind)
{
	uint16_t *first = kind_by_name(kinds, name), *link = first;
	for (unsigned tries = 0; *link && tries < KIND_TRIES; tries++) {
		unsigned index = *link;
		struct kind *tried = &kinds->kinds[index - 1];
		const char *behind = match_kind(tried, p, end, event);
		if (behind) {
			*link = tried->next;
			tried->next = *first;
			*first = (uint16_t)index;
			correct_kind(kinds, index);
			kinds->credit++;
			*kind = tried;
			return behind;
		}
		link = &tried->next;
	}
	return NULL;
}

#endif
