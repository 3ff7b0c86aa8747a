/* SPDX-License-Identifier: MIT */
#include "base/codec.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"

enum { VARINT_BITS = 7, VARINT_MORE = 0x80, MAX_SHIFT = 63 };

void tsi_codec_write(struct codec *codec)
{
	*codec = (struct codec){ 0 };
}

void tsi_codec_read(struct codec *codec, const void *bytes, size_t count)
{
	*codec = (struct codec){ .is_reading = true, .first = bytes, .at = bytes };
	codec->end = count > 0 ? codec->at + count : codec->at;
}

void tsi_codec_deinit(struct codec *codec)
{
	free(codec->bytes);
	*codec = (struct codec){ 0 };
}

static size_t bytes_left(const struct codec *codec)
{
	return codec->at == codec->end ? 0 : (size_t)(codec->end - codec->at);
}

void tsi_codec_refuse(struct codec *codec, const char *what)
{
	if (codec->wrong)
		return;
	codec->wrong = what;
	if (codec->at != codec->first)
		codec->wrong_at = (size_t)(codec->at - codec->first);
	codec->at = codec->end;
}

static void lack_memory(struct codec *codec)
{
	codec->has_failed = true;
	codec->at = codec->end;
}

enum tscope_status tsi_codec_status(const struct codec *codec, struct tscope_error *err)
{
	if (codec->has_failed)
		return tsi_fail_nomem(err);
	if (codec->wrong)
		return tsi_fail(err, codec->is_reading ? TSCOPE_E_DAMAGED : TSCOPE_E_INTERNAL,
				"%s (byte %zu)", codec->wrong, codec->wrong_at);
	if (bytes_left(codec) > 0)
		return tsi_fail(err, TSCOPE_E_DAMAGED, "%zu bytes more than it needs",
				bytes_left(codec));
	return TSCOPE_OK;
}

/* ---- bytes ---- */

/* Room for so many bytes; NULL without memory. */
static unsigned char *append(struct codec *codec, size_t count)
{
	size_t wanted = codec->count + count;

	if (codec->has_failed ||
	    tsi_array_reserve(&codec->bytes, &codec->capacity, wanted, 1, NULL) != TSCOPE_OK) {
		codec->has_failed = true;
		return NULL;
	}
	unsigned char *room = codec->bytes + codec->count;
	codec->count = wanted;
	return room;
}

/* So many of the bytes that are read; NULL where there are fewer. */
static const unsigned char *take(struct codec *codec, size_t count)
{
	const unsigned char *taken = codec->at;

	if (bytes_left(codec) < count) {
		tsi_codec_refuse(codec, "ends too early");
		return NULL;
	}
	codec->at = count > 0 ? taken + count : taken;
	return taken;
}

static void write_varint(struct codec *codec, uint64_t number)
{
	unsigned char bytes[10];
	size_t count = 0;

	for (; number >= VARINT_MORE; number >>= VARINT_BITS)
		bytes[count++] = (unsigned char)(number | VARINT_MORE);
	bytes[count++] = (unsigned char)number;
	unsigned char *room = append(codec, count);
	if (room)
		memcpy(room, bytes, count);
}

static uint64_t read_varint(struct codec *codec)
{
	uint64_t number = 0;

	for (unsigned shift = 0; codec->at != codec->end; shift += VARINT_BITS) {
		uint64_t byte = *codec->at++;

		if (shift > MAX_SHIFT || (shift == MAX_SHIFT && byte > 1))
			break;
		number |= (byte & (VARINT_MORE - 1)) << shift;
		if (byte < VARINT_MORE)
			return number;
	}
	tsi_codec_refuse(codec, "a number that does not end or is too large");
	return 0;
}

void tsi_code_uint(struct codec *codec, uint64_t *number)
{
	if (codec->is_reading)
		*number = read_varint(codec);
	else
		write_varint(codec, *number);
}

static void code_bits(struct codec *codec, uint64_t *bits)
{
	const unsigned char *taken = codec->is_reading ? take(codec, sizeof(*bits)) : NULL;
	unsigned char *room = codec->is_reading ? NULL : append(codec, sizeof(*bits));

	if (codec->is_reading)
		*bits = 0;
	for (unsigned i = 0; i < sizeof(*bits); i++) {
		if (taken)
			*bits |= (uint64_t)taken[i] << (8 * i);
		else if (room)
			room[i] = (unsigned char)(*bits >> (8 * i));
	}
}

void tsi_code_real(struct codec *codec, double *real)
{
	uint64_t bits = 0;

	memcpy(&bits, real, sizeof(bits));
	code_bits(codec, &bits);
	memcpy(real, &bits, sizeof(bits));
}

void tsi_code_count(struct codec *codec, size_t *count, size_t least_bytes)
{
	uint64_t number = *count;

	tsi_code_uint(codec, &number);
	if (codec->is_reading && number > bytes_left(codec) / (least_bytes ? least_bytes : 1)) {
		tsi_codec_refuse(codec, "counts more than there is");
		number = 0;
	}
	*count = (size_t)number;
}

/* ---- numbers of fields ---- */

/* Small numbers of either sign as small ones without. */
static uint64_t fold(uint64_t number)
{
	return number << 1 ^ (number >> 63 ? UINT64_MAX : 0);
}

static uint64_t unfold(uint64_t folded)
{
	return folded >> 1 ^ (folded & 1 ? UINT64_MAX : 0);
}

static size_t size_of_kind(uint8_t kind)
{
	return kind <= FIELD_UINT64 || kind == FIELD_REAL ? 8 : kind <= FIELD_UINT32 ? 4 : 1;
}

/* A signed or unsigned number as its 64 bits. */
static uint64_t load_number(const struct field *field, const char *at)
{
	int32_t int32;
	uint32_t uint32;
	uint64_t number;

	switch ((enum field_kind)field->kind) {
	case FIELD_INT32:
		memcpy(&int32, at, sizeof(int32));
		return (uint64_t)(int64_t)int32;
	case FIELD_UINT32:
		memcpy(&uint32, at, sizeof(uint32));
		/* NO_ROW becomes 0, row n becomes n + 1. */
		return field->flags & FIELD_ROW ? (uint32_t)(uint32 + 1) : uint32;
	case FIELD_UINT8:
	case FIELD_BOOL:
		return (unsigned char)*at;
	default:
		memcpy(&number, at, sizeof(number));
		return number;
	}
}

static bool is_in_range(const struct codec *codec, const struct field *field, uint64_t number)
{
	int64_t as_signed = (int64_t)number;
	uint64_t extra = field->flags & FIELD_ROW ? 1 : 0;

	if (field->limit && number >= codec->limits[field->limit] + extra)
		return false;
	switch ((enum field_kind)field->kind) {
	case FIELD_INT32:
		return as_signed >= INT32_MIN && as_signed <= INT32_MAX;
	case FIELD_UINT32:
		return number <= UINT32_MAX;
	case FIELD_UINT8:
		return number <= UINT8_MAX;
	case FIELD_BOOL:
		return number <= 1;
	default:
		return true;
	}
}

static void store_number(const struct field *field, char *at, uint64_t number)
{
	int32_t int32 = (int32_t)number;
	uint32_t uint32 = (uint32_t)number - (field->flags & FIELD_ROW ? 1 : 0);

	switch ((enum field_kind)field->kind) {
	case FIELD_INT32:
		memcpy(at, &int32, sizeof(int32));
		break;
	case FIELD_UINT32:
		memcpy(at, &uint32, sizeof(uint32));
		break;
	case FIELD_UINT8:
	case FIELD_BOOL:
		*at = (char)number;
		break;
	default:
		memcpy(at, &number, sizeof(number));
	}
}

/* ---- fields ---- */

/* A number after the one before it in its column. */
static void write_number(struct codec *codec, const struct field *field, uint64_t number,
			 const uint64_t *before)
{
	bool is_signed = field->kind == FIELD_INT64 || field->kind == FIELD_INT32;

	if (!is_in_range(codec, field, number))
		tsi_codec_refuse(codec, "a number beyond its limit was to be written");
	if (before && (field->flags & FIELD_RISING)) {
		if ((int64_t)number < (int64_t)*before)
			tsi_codec_refuse(codec, "falling numbers were to be written");
		write_varint(codec, number - *before);
	} else if (before && (field->flags & FIELD_NEAR)) {
		write_varint(codec, fold(number - *before));
	} else {
		write_varint(codec, is_signed ? fold(number) : number);
	}
}

static uint64_t read_number(struct codec *codec, const struct field *field, const uint64_t *before)
{
	bool is_signed = field->kind == FIELD_INT64 || field->kind == FIELD_INT32;
	uint64_t number = read_varint(codec);

	if (before && (field->flags & FIELD_RISING)) {
		if (number > (uint64_t)INT64_MAX - *before)
			tsi_codec_refuse(codec, "a number that is too large");
		number += *before;
	} else if (before && (field->flags & FIELD_NEAR)) {
		number = unfold(number) + *before;
	} else if (is_signed) {
		number = unfold(number);
	}
	if (is_in_range(codec, field, number) && !codec->wrong)
		return number;
	tsi_codec_refuse(codec, "a number beyond its limit");
	return 0;
}

/* One member of all items. An error leaves the rest of them as they were: zero. */
static void code_column(struct codec *codec, const struct field *field, char *at, size_t item_bytes,
			size_t count)
{
	uint64_t before = 0;

	for (size_t i = 0; i < count && tsi_codec_is_good(codec); i++, at += item_bytes) {
		if (field->kind == FIELD_REAL) {
			uint64_t bits = load_number(field, at);

			code_bits(codec, &bits);
			if (codec->is_reading)
				store_number(field, at, bits);
		} else if (codec->is_reading) {
			before = read_number(codec, field, i > 0 ? &before : NULL);
			if (!codec->wrong)
				store_number(field, at, before);
		} else {
			uint64_t number = load_number(field, at);

			write_number(codec, field, number, i > 0 ? &before : NULL);
			before = number;
		}
	}
}

static void code_columns(struct codec *codec, char *items, size_t count,
			 const struct field_list *list)
{
	for (size_t i = 0; i < list->field_count; i++) {
		const struct field *field = &list->fields[i];

		for (size_t part = 0; part < field->bytes; part += size_of_kind(field->kind))
			code_column(codec, field, items + field->offset + part, list->item_bytes,
				    count);
	}
}

void tsi_code_struct(struct codec *codec, void *item, const struct field_list *list)
{
	code_columns(codec, item, 1, list);
}

static size_t least_bytes_of(const struct field_list *list)
{
	size_t least = 0;

	for (size_t i = 0; i < list->field_count; i++) {
		const struct field *field = &list->fields[i];
		size_t size = size_of_kind(field->kind);

		least += field->kind == FIELD_REAL ? field->bytes : field->bytes / size;
	}
	return least;
}

void tsi_code_list(struct codec *codec, void *items, size_t *count, const struct field_list *list,
		   struct arena *arena)
{
	char *array = NULL;

	tsi_code_count(codec, count, least_bytes_of(list));
	if (*count == 0)
		return;
	if (!codec->is_reading)
		memcpy(&array, items, sizeof(array));
	else if (arena)
		array = tsi_arena_new(arena, *count, list->item_bytes);
	else if (tsi_array_new(&array, *count, list->item_bytes, NULL) != TSCOPE_OK)
		array = NULL;
	if (!array) {
		*count = 0;
		lack_memory(codec);
		return;
	}
	memcpy(items, &array, sizeof(array));
	code_columns(codec, array, *count, list);
}

/* ---- texts ---- */

/* Bytes that stand in what is read, or in the text that is written. */
static struct str code_bytes(struct codec *codec, struct str text)
{
	tsi_code_count(codec, &text.length, 1);
	if (codec->is_reading) {
		text.data = (const char *)take(codec, text.length);
		return text;
	}
	unsigned char *room = append(codec, text.length);
	if (room && text.length > 0)
		memcpy(room, text.data, text.length);
	return text;
}

void tsi_code_text(struct codec *codec, const char **text, struct arena *arena)
{
	uint64_t is_there = *text ? 1 : 0;

	tsi_code_uint(codec, &is_there);
	if (is_there > 1)
		tsi_codec_refuse(codec, "neither a text nor none");
	if (codec->is_reading)
		*text = NULL;
	if (!is_there || !tsi_codec_is_good(codec))
		return;
	struct str bytes = code_bytes(codec, tsi_str_of(*text ? *text : ""));
	if (codec->is_reading)
		*text = tsi_arena_copy(arena, bytes);
	codec->has_failed |= codec->is_reading && arena->has_failed;
}

void tsi_code_chars(struct codec *codec, char *text, size_t size)
{
	struct str bytes = code_bytes(codec, tsi_str_of(codec->is_reading ? "" : text));

	if (!codec->is_reading)
		return;
	*text = '\0';
	if (bytes.length >= size)
		tsi_codec_refuse(codec, "a text that is too long");
	if (!tsi_codec_is_good(codec) || bytes.length == 0)
		return;
	memcpy(text, bytes.data, bytes.length);
	text[bytes.length] = '\0';
}

static uint32_t add_name(struct codec *codec, struct intern *names, struct str text)
{
	uint32_t id = 0;
	enum tscope_status status =
		tsi_codec_is_good(codec) ? tsi_intern_add(names, text, &id, NULL) : TSCOPE_OK;

	if (status == TSCOPE_E_NOMEM)
		lack_memory(codec);
	else if (status != TSCOPE_OK)
		tsi_codec_refuse(codec, "too many names");
	return id;
}

void tsi_code_names(struct codec *codec, struct intern *names)
{
	size_t count = names->count > 0 ? names->count - 1 : 0;

	tsi_code_count(codec, &count, 1);
	for (size_t i = 1; i <= count && tsi_codec_is_good(codec); i++) {
		struct str text = { 0 };

		if (!codec->is_reading)
			text = tsi_intern_text(names, (uint32_t)i);
		text = code_bytes(codec, text);
		if (codec->is_reading && add_name(codec, names, text) != i)
			tsi_codec_refuse(codec, "a name that stands twice");
	}
}

void tsi_code_word(struct codec *codec, const char **text, struct intern *words)
{
	enum { NO_WORD, NEW_WORD, FIRST_WORD };
	uint64_t number = NO_WORD;

	if (!codec->is_reading && *text) {
		uint32_t id = tsi_intern_find(words, tsi_str_of(*text));

		number = id == UINT32_MAX ? NEW_WORD : FIRST_WORD + (uint64_t)id;
	}
	tsi_code_uint(codec, &number);
	if (number == NEW_WORD) {
		struct str bytes =
			code_bytes(codec, codec->is_reading ? TSI_STR("") : tsi_str_of(*text));

		number = FIRST_WORD + (uint64_t)add_name(codec, words, bytes);
	}
	if (!codec->is_reading)
		return;
	*text = NULL;
	if (number >= FIRST_WORD && number - FIRST_WORD >= words->count)
		tsi_codec_refuse(codec, "a word that was not said before");
	else if (number >= FIRST_WORD && tsi_codec_is_good(codec))
		*text = tsi_intern_text(words, (uint32_t)(number - FIRST_WORD)).data;
}
