/* SPDX-License-Identifier: MIT */
/* Text reports as a terminal shows them: without escapes, in columns. */
#include "report_text.h"

#include <string.h>

void strip_escapes(char *text)
{
	char *out = text;

	for (char *in = text; *in != '\0'; in++) {
		if (*in == '\033')
			in = strchr(in, 'm');
		else
			*out++ = *in;
	}
	*out = '\0';
}

unsigned columns_of(const char *line, size_t length)
{
	unsigned columns = 0;

	for (size_t i = 0; i < length; i++)
		columns += ((unsigned char)line[i] & 0xC0) != 0x80;
	return columns;
}
