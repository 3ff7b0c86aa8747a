/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_BASE_CODEC_H
#define TSCOPE_BASE_CODEC_H

#include "base/arena.h"
#include "base/intern.h"

/*
 * Structs to bytes and back: one description of the fields serves both directions, so that what is
 * written is what is read.
 *
 *	static const struct field op_fields[] = {
 *		TSI_FIELD(struct rank_op, start_ns, FIELD_RISING, 0),
 *		TSI_FIELD(struct rank_op, group, 0, LIMIT_GROUPS),
 *	};
 *
 *	tsi_code_list(codec, &log->ops, &log->op_count, &TSI_LIST_OF(struct rank_op, op_fields));
 *
 * Lists are written column by column, integers as varints of 7 bits a byte, the lowest first,
 * signed ones with the sign in the lowest bit, reals as 8 bytes, lowest first.
 *
 * Bytes that are read may say anything: what they count is checked against the bytes that are left
 * before there is room made for it, and each number against its limit. Errors are sticky, as is the
 * lack of memory; everything read after it is zero or empty.
 */
enum { CODEC_LIMIT_COUNT = 16 };

struct codec {
	bool is_reading;
	const unsigned char *first, *at, *end; /* reading */
	unsigned char *bytes;                  /* written so far */
	size_t count, capacity;
	uint64_t limits[CODEC_LIMIT_COUNT]; /* set by the caller before what they limit is read */
	const char *wrong;                  /* what is wrong with the bytes, static; or NULL */
	size_t wrong_at;                    /* where, from their beginning */
	bool has_failed;                    /* there was no memory */
};

enum field_flag {
	FIELD_NEAR = 1,   /* written as the difference to the item before */
	FIELD_RISING = 2, /* likewise, and never below it */
	FIELD_ROW = 4,    /* UINT32_MAX is allowed beside what is below the limit */
};

enum field_kind {
	FIELD_INT64,
	FIELD_UINT64,
	FIELD_INT32,
	FIELD_UINT32,
	FIELD_UINT8,
	FIELD_BOOL,
	FIELD_REAL
};

struct field {
	uint16_t offset, bytes; /* of the member, which may be an array */
	uint8_t kind;           /* enum field_kind */
	uint8_t flags;          /* enum field_flag */
	uint8_t limit;          /* index in codec.limits, which the value is below; 0: none */
};

#define TSI_FIELD(type, member, flags, limit)                                                      \
	{                                                                                          \
		offsetof(type, member), sizeof(((type *)0)->member),                               \
			TSI_FIELD_KIND(((type *)0)->member), flags, limit                          \
	}

/* clang-format off */
#define TSI_FIELD_KIND(value) _Generic((value), \
	int64_t: FIELD_INT64, int64_t *: FIELD_INT64, \
	uint64_t: FIELD_UINT64, uint64_t *: FIELD_UINT64, \
	int32_t: FIELD_INT32, uint32_t: FIELD_UINT32, \
	uint8_t: FIELD_UINT8, bool: FIELD_BOOL, \
	double: FIELD_REAL, double *: FIELD_REAL)
/* clang-format on */

struct field_list {
	const struct field *fields;
	size_t field_count, item_bytes;
};

#define TSI_LIST_OF(type, fields)                                                                  \
	((struct field_list){ (fields), sizeof(fields) / sizeof((fields)[0]), sizeof(type) })

void tsi_codec_write(struct codec *codec);
void tsi_codec_read(struct codec *codec, const void *bytes, size_t count);
void tsi_codec_deinit(struct codec *codec);

/* Remembers the first thing that is wrong with what is read. what is static. */
void tsi_codec_refuse(struct codec *codec, const char *what);

/*
 * TSCOPE_OK; TSCOPE_E_NOMEM; TSCOPE_E_DAMAGED: what is wrong, or that bytes are left over where all
 * was read.
 */
TSI_MUST_CHECK
enum tscope_status tsi_codec_status(const struct codec *codec, struct tscope_error *err);

static inline bool tsi_codec_is_good(const struct codec *codec)
{
	return !codec->wrong && !codec->has_failed;
}

void tsi_code_uint(struct codec *codec, uint64_t *number);
void tsi_code_real(struct codec *codec, double *real);

/* A count of things of which each takes so many bytes at least. 0 where that cannot be. */
void tsi_code_count(struct codec *codec, size_t *count, size_t least_bytes);

/* The fields of one struct. */
void tsi_code_struct(struct codec *codec, void *item, const struct field_list *list);

/*
 * An array: items points to the pointer to it, which reading sets. From the arena, or where that
 * is NULL to be freed with free().
 */
void tsi_code_list(struct codec *codec, void *items, size_t *count, const struct field_list *list,
		   struct arena *arena);

/* A text or NULL; what is read goes to the arena. */
void tsi_code_text(struct codec *codec, const char **text, struct arena *arena);

/* A text in a char array. */
void tsi_code_chars(struct codec *codec, char *text, size_t size);

/* All texts but the empty one; the set that is read has no other. */
void tsi_code_names(struct codec *codec, struct intern *names);

/* A text or NULL that may come often: it is written where it comes first. */
void tsi_code_word(struct codec *codec, const char **text, struct intern *words);

#endif
