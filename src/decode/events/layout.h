/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_EVENTS_LAYOUT_H
#define TSCOPE_DECODE_EVENTS_LAYOUT_H

#include "base/attributes.h"
#include "base/str.h"
#include "decode/simd.h"

/*
 * Learned layout of a writer's objects. The text between two values of an object,
 *
 *	,\n    "pid":
 *
 * is nearly always one that was there before, after the same text before it.
 * Such a text with the key in it is a glue; it knows those that followed it.
 * A chain that matches costs one or two comparisons of 32 bytes per member
 * instead of reading white space, quotes and key; where none matches, the
 * member is read the general way and its glue is learned. Any order of keys
 * and any white space is learned like any other, and nothing is believed
 * unseen: a glue either stands there byte for byte or it does not.
 */
enum {
	GLUE_BYTES = 64,
	GLUE_NEXT = 6,    /* different glues remembered after one */
	GLUE_COUNT = 256, /* in all; later ones are not learned */
	GLUE_END = 0xff,  /* field of the brace that closes the object */
};

struct glue {
	char text[GLUE_BYTES];
	uint32_t mask[2]; /* bit per byte of text that counts */
	uint8_t length;
	uint8_t field;           /* what the reader calls this key, or GLUE_END */
	uint8_t next[GLUE_NEXT]; /* glues that followed, the last one first; 0: none */
};

/* All zero is a layout of which nothing is known yet. */
struct layout {
	struct glue glues[GLUE_COUNT]; /* [0] stands for the beginning of an object */
	unsigned glue_count;           /* learned; they are [1 … glue_count] */
};

/*
 * The glue at p, of those known to follow glue `before`; 0: none. 64 bytes
 * behind p may be read. Writers print objects of a kind in a row, so the one
 * that matches is put first.
 */
static inline unsigned layout_match(struct layout *layout, unsigned before, const char *p)
{
	uint8_t *next = layout->glues[before].next;
	for (unsigned slot = 0; slot < GLUE_NEXT && next[slot]; slot++) {
		unsigned index = next[slot];
		const struct glue *glue = &layout->glues[index];
		if (~simd_equal32(p, glue->text) & glue->mask[0])
			continue;
		if (glue->mask[1] && (~simd_equal32(p + 32, glue->text + 32) & glue->mask[1]))
			continue;
		if (slot) {
			next[slot] = next[0];
			next[0] = (uint8_t)index;
		}
		return index;
	}
	return 0;
}

/* Remembers a text as a glue that follows `before`; its index, or 0 where it is not kept. */
static inline unsigned layout_learn(struct layout *layout, unsigned before, struct str text,
				    unsigned field)
{
	struct glue *parent = &layout->glues[before];
	if (text.length > GLUE_BYTES || layout->glue_count == GLUE_COUNT - 1 ||
	    parent->next[GLUE_NEXT - 1])
		return 0;
	unsigned index = ++layout->glue_count;
	struct glue *glue = &layout->glues[index];
	uint64_t mask = text.length < 64 ? ((uint64_t)1 << text.length) - 1 : UINT64_MAX;
	*glue = (struct glue){
		.mask = { (uint32_t)mask, (uint32_t)(mask >> 32) },
		.length = (uint8_t)text.length,
		.field = (uint8_t)field,
	};
	memcpy(glue->text, text.data, text.length);
	unsigned slot = 0;
	while (parent->next[slot])
		slot++;
	parent->next[slot] = (uint8_t)index;
	return index;
}

#endif
