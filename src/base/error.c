/* SPDX-License-Identifier: MIT */
/*
 * Errors: how a failure is recorded where it happens and gains its place while
 * it climbs. Nothing here allocates, prints or exits.
 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

TSI_PRINTF(3, 0)
static enum tscope_status fail(struct tscope_error *err, enum tscope_status status,
			       const char *format, va_list args)
{
	if (!err)
		return status;
	err->status = status;
	err->has_offset = false;
	err->offset = 0;
	vsnprintf(err->message, sizeof(err->message), format, args);
	return status;
}

enum tscope_status tsi_fail(struct tscope_error *err, enum tscope_status status, const char *format,
			    ...)
{
	va_list args;
	va_start(args, format);
	fail(err, status, format, args);
	va_end(args);
	return status;
}

enum tscope_status tsi_fail_at(struct tscope_error *err, enum tscope_status status, uint64_t offset,
			       const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fail(err, status, format, args);
	va_end(args);
	if (err) {
		err->has_offset = true;
		err->offset = offset;
	}
	return status;
}

enum tscope_status tsi_fail_nomem(struct tscope_error *err)
{
	return tsi_fail(err, TSCOPE_E_NOMEM, "out of memory");
}

enum tscope_status tsi_fail_within(struct tscope_error *err, const char *format, ...)
{
	if (!err || err->status == TSCOPE_OK)
		return TSCOPE_E_INTERNAL;

	char place[sizeof(err->message)];
	va_list args;
	va_start(args, format);
	int place_length = vsnprintf(place, sizeof(place) - 2, format, args);
	va_end(args);
	if (place_length < 0)
		return err->status;

	size_t prefix = strlen(place);
	memcpy(place + prefix, ": ", 3);
	prefix += 2;
	size_t room = sizeof(err->message) - prefix;
	size_t kept = strnlen(err->message, room - 1);
	memmove(err->message + prefix, err->message, kept);
	memcpy(err->message, place, prefix);
	err->message[prefix + kept] = '\0';
	return err->status;
}

const char *tscope_status_text(enum tscope_status status)
{
	switch (status) {
	case TSCOPE_OK:
		return "success";
	case TSCOPE_END:
		return "end of data";
	case TSCOPE_E_NOMEM:
		return "out of memory";
	case TSCOPE_E_IO:
		return "input cannot be read";
	case TSCOPE_E_FORMAT:
		return "unknown format";
	case TSCOPE_E_UNSUPPORTED:
		return "unsupported input";
	case TSCOPE_E_DAMAGED:
		return "damaged input";
	case TSCOPE_E_LIMIT:
		return "limit exceeded";
	case TSCOPE_E_EMPTY:
		return "nothing to analyse";
	case TSCOPE_E_WRITE:
		return "output cannot be written";
	case TSCOPE_E_INTERNAL:
		return "internal error";
	}
	return "unknown status";
}
