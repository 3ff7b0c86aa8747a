/* SPDX-License-Identifier: MIT */
/*
 * Takes numbers and texts of a memray capture out of the input. Whoever reads a number need not
 * look where the input ends: there is always room to read one, at the end of the input in a
 * copy of its last bytes with zeros behind them, and one look afterwards tells whether it was
 * whole.
 */
#include "decode/records/memray_reader.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"

/* ---- errors ------------------------------------------------------------------------------ */

enum tscope_status tsi_memray_fail(struct memray_reader *r, enum tscope_status status,
				   const char *format, ...)
{
	char text[sizeof(r->err->message)];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return tsi_fail_at(r->err, status, r->record_offset, "%s: %s", r->record, text);
}

enum tscope_status tsi_memray_fail_cut(struct memray_reader *r)
{
	if (r->in_status < 0) {
		*r->err = r->in_err;
		return r->in_status;
	}
	return tsi_memray_fail(r, TSCOPE_E_DAMAGED, "truncated: the capture ends inside it");
}

/* ---- what is shown ----------------------------------------------------------------------- */

/* Sees that count bytes from r->at on are shown. TSCOPE_END: there are fewer. */
static enum tscope_status show(struct memray_reader *r, size_t count)
{
	size_t available;

	if ((size_t)(r->end - r->at) >= count)
		return TSCOPE_OK;
	if (r->in_status != TSCOPE_OK)
		return TSCOPE_END;
	tsi_input_consume(r->in, (size_t)(r->at - r->start));
	r->in_status = tsi_input_peek(r->in, count, &r->start, &available, &r->in_err);
	r->start_offset = tsi_input_offset(r->in);
	r->at = r->start;
	r->end = r->start + available;
	if (r->in_status == TSCOPE_E_NOMEM)
		return tsi_memray_fail_cut(r);
	return available >= count ? TSCOPE_OK : TSCOPE_END;
}

enum tscope_status tsi_memray_refill(struct memray_reader *r)
{
	enum tscope_status status = show(r, MEMRAY_ROOM);

	if (status != TSCOPE_END)
		return status;
	if (r->at == r->end)
		return TSCOPE_END;
	if (r->start == r->tail)
		return TSCOPE_OK;

	size_t length = (size_t)(r->end - r->at);
	r->start_offset = tsi_memray_offset(r);
	memset(r->tail, 0, sizeof(r->tail));
	memcpy(r->tail, r->at, length);
	r->start = r->at = r->tail;
	r->end = r->tail + length;
	return TSCOPE_OK;
}

/* For a part of a record: there must be one. */
static enum tscope_status part(struct memray_reader *r)
{
	enum tscope_status status = tsi_memray_room(r);

	return tsi_likely(status != TSCOPE_END) ? status : tsi_memray_fail_cut(r);
}

/* Moves on to p, unless that lies behind the end. */
static enum tscope_status move_to(struct memray_reader *r, const char *p)
{
	if (tsi_unlikely(p > r->end))
		return tsi_memray_fail_cut(r);
	r->at = p;
	return TSCOPE_OK;
}

uint64_t tsi_memray_long_varint(const char **at, bool *is_bad)
{
	const char *p = *at;
	uint64_t value = (unsigned char)*p & 0x7f;

	for (unsigned shift = 7; *p++ & 0x80; shift += 7) {
		if (shift > 63) {
			*is_bad = true;
			break;
		}
		value |= ((uint64_t)(unsigned char)*p & 0x7f) << shift;
	}
	*at = p;
	return value;
}

/* ---- taking ------------------------------------------------------------------------------ */

enum tscope_status tsi_memray_take_varint(struct memray_reader *r, uint64_t *value)
{
	enum tscope_status status = part(r);
	bool is_bad = false;

	if (status != TSCOPE_OK)
		return status;
	const char *p = r->at;
	*value = tsi_memray_varint(&p, &is_bad);
	if (is_bad && p <= r->end)
		return tsi_memray_fail(r, TSCOPE_E_DAMAGED, "a number of more than 64 bits");
	return move_to(r, p);
}

enum tscope_status tsi_memray_take_svarint(struct memray_reader *r, uint64_t *value)
{
	uint64_t folded;
	enum tscope_status status = tsi_memray_take_varint(r, &folded);

	if (status == TSCOPE_OK)
		*value = (folded >> 1) ^ (0 - (folded & 1));
	return status;
}

enum tscope_status tsi_memray_take_delta(struct memray_reader *r, uint64_t *field)
{
	uint64_t delta;
	enum tscope_status status = tsi_memray_take_svarint(r, &delta);

	if (status == TSCOPE_OK)
		*field += delta;
	return status;
}

enum tscope_status tsi_memray_take_bytes(struct memray_reader *r, unsigned bytes, uint64_t *value)
{
	enum tscope_status status = part(r);

	if (status != TSCOPE_OK)
		return status;
	*value = 0;
	for (unsigned i = 0; i < bytes; i++)
		*value |= (uint64_t)(unsigned char)r->at[i] << (8 * i);
	return move_to(r, r->at + bytes);
}

enum tscope_status tsi_memray_take_text(struct memray_reader *r, struct str *text)
{
	size_t looked_at = 0;

	for (;;) {
		size_t shown = (size_t)(r->end - r->at);
		const char *nul = memchr(r->at + looked_at, '\0', shown - looked_at);
		size_t length = nul ? (size_t)(nul - r->at) : shown;
		if (length > MEMRAY_MAX_TEXT_BYTES)
			return tsi_memray_fail(r, TSCOPE_E_LIMIT,
					       "a text of more than %d bytes (limit: text bytes)",
					       MEMRAY_MAX_TEXT_BYTES);
		if (nul) {
			*text = (struct str){ r->at, length };
			r->at = nul + 1;
			return TSCOPE_OK;
		}
		looked_at = shown;
		enum tscope_status status = show(r, shown + 1);
		if (status != TSCOPE_OK)
			return status == TSCOPE_END ? tsi_memray_fail_cut(r) : status;
	}
}

enum tscope_status tsi_memray_take_block(struct memray_reader *r, size_t length, struct str *block)
{
	enum tscope_status status = show(r, length);

	if (status != TSCOPE_OK)
		return status == TSCOPE_END ? tsi_memray_fail_cut(r) : status;
	*block = (struct str){ r->at, length };
	r->at += length;
	return TSCOPE_OK;
}
