/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_BASE_REAL_H
#define TSCOPE_BASE_REAL_H

/* Reals as text, with a decimal point in any locale. */
enum { REAL_TEXT_MAX = 48 }; /* room for any, with its NUL */

/* As few digits as read back as the same double (15, 16 or 17); value must be finite. */
void tsi_real_shortest(char text[REAL_TEXT_MAX], double value);

/* A locale may write its own decimal separator, of any length: puts a point in its place. */
void tsi_real_put_point(char *text);

#endif
