/* SPDX-License-Identifier: MIT */
#include "base/print_text.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

void tsi_vprint_text(char *text, size_t room, const char *format, va_list arguments)
{
	vsnprintf(text, room, format, arguments);
	tsi_str_drop_partial(text);
}

void tsi_print_text(char *text, size_t room, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	tsi_vprint_text(text, room, format, arguments);
	va_end(arguments);
}

void tsi_vappend_text(char *text, size_t room, const char *format, va_list arguments)
{
	size_t length = strlen(text);

	tsi_vprint_text(text + length, room - length, format, arguments);
}

void tsi_append_text(char *text, size_t room, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	tsi_vappend_text(text, room, format, arguments);
	va_end(arguments);
}

void tsi_vjoin_text(char *text, size_t room, const char *joint, const char *format,
		    va_list arguments)
{
	if (*text != '\0')
		tsi_append_text(text, room, "%s", joint);
	tsi_vappend_text(text, room, format, arguments);
}

void tsi_join_text(char *text, size_t room, const char *joint, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	tsi_vjoin_text(text, room, joint, format, arguments);
	va_end(arguments);
}
