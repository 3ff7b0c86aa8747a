/* SPDX-License-Identifier: MIT */
/*
 * Takes numbers and texts of a memray capture out of the input. Whoever reads a number need not
 * look where the input ends: there is always room to read one, at the end of the input in a
 * copy of its last bytes with zeros behind them, and one look afterwards shows whether it was
 * whole.
 */
#include "decode/records/memray_reader.h"
#include "decode/records/protobuf.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"

/* ---- errors ------------------------------------------------------------------------------ */

void tsi_memray_fail(struct memray_reader *r, enum tscope_status status, const char *format, ...)
{
	char text[sizeof(r->err.message)];
	va_list args;

	if (tsi_memray_has_failed(r))
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	tsi_fail_at(&r->err, status, r->record_offset, "%s: %s", r->record, text);
}

void tsi_memray_fail_cut(struct memray_reader *r)
{
	if (r->in_status >= 0)
		tsi_memray_fail(r, TSCOPE_E_DAMAGED, "truncated: the capture ends inside it");
	else if (!tsi_memray_has_failed(r))
		r->err = r->in_err;
}

/* ---- what is shown ----------------------------------------------------------------------- */

/* Sees that count bytes from r->at on are shown. False: there are fewer, or it failed. */
static bool show(struct memray_reader *r, size_t count)
{
	size_t available;

	if ((size_t)(r->end - r->at) >= count)
		return true;
	if (r->in_status != TSCOPE_OK)
		return false;
	tsi_input_consume(r->in, (size_t)(r->at - r->start));
	r->in_status = tsi_input_peek(r->in, count, &r->start, &available, &r->in_err);
	r->start_offset = tsi_input_offset(r->in);
	r->at = r->start;
	r->end = r->start + available;
	if (r->in_status == TSCOPE_E_NOMEM)
		tsi_memray_fail_cut(r);
	return available >= count && !tsi_memray_has_failed(r);
}

bool tsi_memray_refill(struct memray_reader *r)
{
	if (show(r, MEMRAY_ROOM))
		return true;
	if (tsi_memray_has_failed(r) || r->at == r->end)
		return false;
	if (r->start == r->tail)
		return true;

	size_t length = (size_t)(r->end - r->at);
	r->start_offset = tsi_memray_offset(r);
	memset(r->tail, 0, sizeof(r->tail));
	memcpy(r->tail, r->at, length);
	r->start = r->at = r->tail;
	r->end = r->tail + length;
	return true;
}

/* For a part of a record: there must be one. False: failed. */
static bool part(struct memray_reader *r)
{
	if (tsi_memray_has_failed(r))
		return false;
	if (tsi_likely(tsi_memray_room(r)))
		return true;
	tsi_memray_fail_cut(r);
	return false;
}

/* Moves on to p, unless that lies behind the end. */
static void move_to(struct memray_reader *r, const char *p)
{
	if (tsi_unlikely(p > r->end))
		tsi_memray_fail_cut(r);
	else
		r->at = p;
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

uint64_t tsi_memray_take_varint(struct memray_reader *r)
{
	bool is_bad = false;

	if (!part(r))
		return 0;
	const char *p = r->at;
	uint64_t value = tsi_memray_varint(&p, &is_bad);
	if (tsi_unlikely(is_bad && p <= r->end))
		tsi_memray_fail(r, TSCOPE_E_DAMAGED, "a number of more than 64 bits");
	else
		move_to(r, p);
	return tsi_memray_has_failed(r) ? 0 : value;
}

uint64_t tsi_memray_take_svarint(struct memray_reader *r)
{
	uint64_t folded = tsi_memray_take_varint(r);

	return (folded >> 1) ^ (0 - (folded & 1));
}

void tsi_memray_take_delta(struct memray_reader *r, uint64_t *field)
{
	*field += tsi_memray_take_svarint(r);
}

uint64_t tsi_memray_take_bytes(struct memray_reader *r, unsigned bytes)
{
	if (!part(r))
		return 0;
	uint64_t value = tsi_little_endian(r->at, bytes);
	move_to(r, r->at + bytes);
	return tsi_memray_has_failed(r) ? 0 : value;
}

struct str tsi_memray_take_text(struct memray_reader *r)
{
	size_t looked_at = 0;

	while (!tsi_memray_has_failed(r)) {
		size_t shown = (size_t)(r->end - r->at);
		const char *nul = memchr(r->at + looked_at, '\0', shown - looked_at);
		size_t length = nul ? (size_t)(nul - r->at) : shown;
		if (length > MEMRAY_MAX_TEXT_BYTES) {
			tsi_memray_fail(r, TSCOPE_E_LIMIT,
					"a text of more than %d bytes (limit: text bytes)",
					MEMRAY_MAX_TEXT_BYTES);
			break;
		}
		if (nul) {
			struct str text = { r->at, length };
			r->at = nul + 1;
			return text;
		}
		looked_at = shown;
		if (!show(r, shown + 1))
			tsi_memray_fail_cut(r);
	}
	return TSI_STR("");
}

struct str tsi_memray_take_block(struct memray_reader *r, size_t length)
{
	if (tsi_memray_has_failed(r))
		return TSI_STR("");
	if (!show(r, length)) {
		tsi_memray_fail_cut(r);
		return TSI_STR("");
	}
	struct str block = { r->at, length };
	r->at += length;
	return block;
}
