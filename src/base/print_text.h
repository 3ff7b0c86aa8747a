/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_BASE_PRINT_TEXT_H
#define TSCOPE_BASE_PRINT_TEXT_H

#include <stdarg.h>
#include <stddef.h>

#include "base/attributes.h"

/*
 * Formatted text in a room of fixed size, cut where it does not fit. A text that would end within
 * a UTF-8 character, be it by a precision ("%.64s"), ends before it.
 */

TSI_PRINTF(3, 4) void tsi_print_text(char *text, size_t room, const char *format, ...);
TSI_PRINTF(3, 0)
void tsi_vprint_text(char *text, size_t room, const char *format, va_list arguments);

/* Behind what is there. */
TSI_PRINTF(3, 4) void tsi_append_text(char *text, size_t room, const char *format, ...);
TSI_PRINTF(3, 0)
void tsi_vappend_text(char *text, size_t room, const char *format, va_list arguments);

/* As tsi_append_text, after a joint unless the text is the first. */
TSI_PRINTF(4, 5)
void tsi_join_text(char *text, size_t room, const char *joint, const char *format, ...);
TSI_PRINTF(4, 0)
void tsi_vjoin_text(char *text, size_t room, const char *joint, const char *format,
		    va_list arguments);

#endif
