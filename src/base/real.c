/* SPDX-License-Identifier: MIT */
/* Reals as text for machines: what is written is read back as the same double, anywhere. */
#include "base/real.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tsi_real_put_point(char *text)
{
	char *separator = text + strspn(text, "-0123456789");
	size_t length = strcspn(separator, "0123456789eE");

	if (*separator == '\0' || length == 0)
		return;
	*separator = '.';
	memmove(separator + 1, separator + length, strlen(separator + length) + 1);
}

void tsi_real_shortest(char text[REAL_TEXT_MAX], double value)
{
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, REAL_TEXT_MAX, "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	tsi_real_put_point(text);
}
