/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_EVENTS_KIND_MATCH_H
#define TSCOPE_DECODE_EVENTS_KIND_MATCH_H

#include "base/hash.h"
#include "decode/events/kinds.h"
#include "decode/number.h"
#include "decode/simd.h"
#include "input/input.h"

/*
 * Reading events of known kind, and predicting the kind: see kinds.h. Compiled with scan.c for each
 * instruction set.
 */

enum { KIND_TRIES = 32 }; /* kinds of one name that are compared */

/* Behind the number at p, "-12.5"; NULL for every other form. A number's reach may be read. */
static inline const char *match_any_number(const char *p)
{
	enum { DIGITS = 17 }; /* and up to seven more */
	p += *p == '-';
	const char *behind = skip_digits(p, p + DIGITS);
	if (behind == p || *behind != '.')
		return behind == p ? NULL : behind;
	p = behind + 1;
	behind = skip_digits(p, p + DIGITS);
	return behind == p ? NULL : behind;
}

/*
 * Behind the usual number, of up to fifteen digits alone; NULL for every other. As many as the one
 * before had, which is in *last, are assumed and need no other look (see assume_digits()).
 */
static inline const char *match_usual(const char *p, unsigned digits, uint8_t *last)
{
	unsigned assumed = *last;
	if (tsi_likely(digits == assumed)) {
		TSI_HIDE(assumed);
		digits = assumed;
	} else if (digits - 1 < 15) {
		*last = (uint8_t)digits;
	} else {
		return NULL;
	}
	return tsi_likely(p[digits] != '.') ? p + digits : NULL;
}

static inline const char *match_number(const char *p, uint8_t *last)
{
	const char *behind = match_usual(p, digits_at_16(p), last);
	return tsi_likely(behind != NULL) ? behind : match_any_number(p);
}

/* Matches a number, and returns its value if it is all digits, else UINT64_MAX. */
static inline const char *match_value(const char *p, uint8_t *last, uint64_t *value)
{
	const char *behind = match_usual(p, take_16_digits(p, value), last);
	if (tsi_likely(behind != NULL))
		return behind;
	*value = UINT64_MAX;
	return match_any_number(p);
}

/* A text of the event whose pieces begin at at[]. */
static inline struct str text_at(const struct kind_text *text, const char *const at[])
{
	const char *from = at[text->from_piece] + text->from;
	return (struct str){ from, (size_t)(at[text->to_piece] + text->to - from) };
}

/* As text_at(), if all of it is in the first piece. */
static inline struct str text_in(const struct kind_text *text, const char *first)
{
	return (struct str){ first + text->from, text->length };
}

/* An event that was read as one of a kind. */
struct kind_event {
	const struct kind *kind;
	struct raw_repeat repeat;
	const char *at[MAX_KIND_NUMBERS + 1]; /* where its pieces begin */
};

/* All of it. */
static inline void take_whole(const struct kind_event *read, struct raw_event *event)
{
	const struct kind *kind = read->kind;
	const struct kind_text *texts = kind->texts;
	const char *const *at = read->at;
	*event = (struct raw_event){
		.phase = kind->phase,
		.has_ts = kind->has_ts,
		.has_dur = kind->has_dur,
		.name_escaped = kind->name_escaped,
		.ts_ns = read->repeat.ts_ns,
		.dur_ns = read->repeat.dur_ns,
		.kind = kind->number,
	};
	if (kind->is_simple) {
		event->name = text_in(&texts[0], at[0]);
		event->cat = text_in(&texts[1], at[0]);
		event->pid = text_in(&texts[2], at[0]);
		event->tid = text_in(&texts[3], at[0]);
		event->id = (struct str){ at[0], 0 };
	} else {
		event->name = text_at(&texts[0], at);
		event->cat = text_at(&texts[1], at);
		event->pid = text_at(&texts[2], at);
		event->tid = text_at(&texts[3], at);
		event->id = text_at(&texts[4], at);
	}
	event->args = text_at(&texts[5], at);
}

/* Reads a number that the sink asks for; gives its end, or NULL. */
static TSI_INLINE const char *match_asked(struct kind_piece *piece, const char *p,
					  struct raw_repeat *repeat)
{
	struct raw_number *number = &repeat->numbers[repeat->number_count++];
	const char *behind = match_value(p, &piece->last_digits, &number->value);
	if (tsi_unlikely(!behind))
		return NULL;
	number->at = (uint32_t)(p - repeat->text);
	number->length = (uint16_t)(behind - p);
	number->arg = piece->arg;
	return behind;
}

/* Where an event was found not to be of a kind. */
struct mismatch {
	const char *at;   /* in the event, up to 32 bytes before it shows; NULL: in a number */
	const char *text; /* that should stand there: of the kind */
	unsigned piece;   /* it is in */
};

static inline const char *note_mismatch(struct mismatch *mismatch, const char *at, const char *text,
					unsigned piece)
{
	if (mismatch)
		*mismatch = (struct mismatch){ at, text, piece };
	return NULL;
}

/* Is the event at p one of this kind? Gives its end, or NULL. */
static TSI_INLINE const char *match_pieces(const struct kind *kind, const char *p,
					   int64_t times[SLOT_TIME_COUNT], struct kind_event *read,
					   struct mismatch *mismatch)
{
	struct kind_piece *piece = kind->pieces;
	const char *text = kind->text;
	for (unsigned i = 0;; i++, piece++) {
		read->at[i] = p;
		for (const char *last = text + piece->blocks; text != last; text += 32, p += 32)
			if (!simd_same32(p, text))
				return note_mismatch(mismatch, p, text, i);
		if (~simd_equal32(p, text) & piece->mask)
			return note_mismatch(mismatch, p, text, i);
		text += piece->tail;
		p += piece->tail;
		if (piece->slot == SLOT_END)
			return p;
		if (piece->slot == SLOT_NUMBER)
			p = match_number(p, &piece->last_digits);
		else if (piece->slot == SLOT_ASKED)
			p = match_asked(piece, p, &read->repeat);
		else if (piece->slot == SLOT_TS)
			p = take_plain_ns(p, &piece->last_digits, &times[SLOT_TS]);
		else /* how long something took has now more digits, now fewer */
			p = take_plain_ns(p, NULL, &times[piece->slot]);
		if (tsi_unlikely(!p))
			return note_mismatch(mismatch, NULL, NULL, 0);
	}
}

/*
 * Reads the event at p if it is one of this kind: gives its end, the white space before the
 * next one included; else NULL.
 */
static TSI_INLINE const char *match_kind(const struct kind *kind, const char *p, const char *end,
					 struct kind_event *read, struct mismatch *mismatch)
{
	int64_t times[SLOT_TIME_COUNT] = { 0 };
	if (tsi_unlikely((size_t)(end - p) + TSI_INPUT_PADDING < kind->reach))
		return note_mismatch(mismatch, NULL, NULL, 0);
	read->kind = kind;
	read->repeat.text = p;
	read->repeat.kind = kind->number;
	read->repeat.number_count = 0;
	const char *behind = match_pieces(kind, p, times, read, mismatch);
	if (!behind || tsi_unlikely(behind > end))
		return NULL;
	read->repeat.ts_ns = times[SLOT_TS];
	read->repeat.dur_ns = times[SLOT_DUR];
	return behind;
}

static inline uint16_t *kind_by_short(struct kinds *kinds)
{
	uint32_t last_three = (uint32_t)kinds->history << 20;
	return &kinds->by_short[last_three * 0x9e3779b1u >> (32 - KIND_SHORT_BITS)];
}

/* An event of this kind came: what will the next one be? */
static inline void follow_kind(struct kinds *kinds, unsigned index)
{
	kinds->history = (kinds->history << 4) + index * 0x9e3779b1u;
	uint64_t hash = kinds->history * 0x9e3779b97f4a7c15u;
	kinds->predicted = &kinds->by_long[hash >> (64 - KIND_LONG_BITS)];
}

/* The prediction was wrong. */
static inline void correct_kind(struct kinds *kinds, unsigned index)
{
	*kinds->predicted = *kind_by_short(kinds) = (uint16_t)index;
	follow_kind(kinds, index);
}

/* Reads the event at p if it is of the kind that was predicted. */
static inline const char *match_predicted(struct kinds *kinds, const char *p, const char *end,
					  struct kind_event *read)
{
	unsigned predicted = *kinds->predicted, index = predicted;
	for (;;) {
		const char *behind = match_kind(&kinds->kinds[index], p, end, read, NULL);
		if (tsi_likely(behind != NULL)) {
			kinds->credit++;
			if (tsi_likely(index == predicted))
				follow_kind(kinds, index);
			else
				correct_kind(kinds, index);
			return behind;
		}
		unsigned second = *kind_by_short(kinds);
		if (second == index)
			return NULL;
		index = second;
	}
}

/* The chain of a name, distinguished by its length and a few of its bytes. */
static inline uint16_t *kind_by_name(struct kinds *kinds, struct str name)
{
	uint64_t hash = name.length;
	if (name.length >= 8) {
		const char *end = name.data + name.length;
		hash = (hash ^ tsi_load64(name.data)) * 0x9e3779b97f4a7c15u;
		hash = (hash ^ hash >> 32 ^ tsi_load64(name.data + (name.length - 8) / 2)) *
		       0x9e3779b97f4a7c15u;
		hash ^= hash >> 32 ^ tsi_load64(end - 8);
	} else {
		for (size_t i = 0; i < name.length; i++)
			hash = hash << 8 | (unsigned char)name.data[i];
	}
	return &kinds->by_name[hash * 0x9e3779b97f4a7c15u >> (64 - KIND_NAME_BITS)];
}

/*
 * May an event that is not of one kind be of another? Where their pieces before the mismatch are
 * equally long, the same place of the other must stand there: kinds of one name differ behind
 * much that is alike, and it is looked at once.
 */
static inline bool may_match(const struct kind *kind, const struct kind *failed,
			     const struct mismatch *mismatch)
{
	const struct kind_piece *piece = kind->pieces, *other = failed->pieces;
	ptrdiff_t at = mismatch->text - failed->text, begin = 0; /* in the text of either */
	for (unsigned i = 0; i < mismatch->piece; i++, piece++, other++) {
		if (piece->blocks != other->blocks || piece->tail != other->tail ||
		    piece->slot != other->slot)
			return true;
		begin += piece->blocks + piece->tail;
	}
	if (at - begin > piece->blocks)
		return true;
	uint32_t mask = at - begin < piece->blocks ? UINT32_MAX : piece->mask;
	return !(~simd_equal32(mismatch->at, kind->text + at) & mask);
}

/* Reads the event at p if it is of one of the kinds known to have this name; the last one first. */
static inline const char *match_named(struct kinds *kinds, struct str name, const char *p,
				      const char *end, struct kind_event *read)
{
	uint16_t *first = kind_by_name(kinds, name), *link = first;
	const struct kind *failed = &kinds->kinds[0];
	struct mismatch mismatch = { 0 };
	for (unsigned tries = 0; *link && tries < KIND_TRIES; tries++) {
		unsigned index = *link;
		struct kind *tried = &kinds->kinds[index];
		const char *behind = NULL;
		if (!mismatch.at || may_match(tried, failed, &mismatch)) {
			behind = match_kind(tried, p, end, read, &mismatch);
			failed = tried;
		}
		if (behind) {
			*link = tried->next;
			tried->next = *first;
			*first = (uint16_t)index;
			correct_kind(kinds, index);
			kinds->credit++;
			return behind;
		}
		link = &tried->next;
	}
	return NULL;
}

#endif
