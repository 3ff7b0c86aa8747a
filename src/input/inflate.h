/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_INPUT_INFLATE_H
#define TSCOPE_INPUT_INFLATE_H

#include "base/attributes.h"
#include "input/filter.h"

#include <stddef.h>
#include <stdint.h>
#include <tscope/error.h>

/*
 * Raw deflate data (RFC 1951), which gzip wraps. The build has one of two
 * implementations: inflate_isal.c, or inflate_zlib.c where ISA-L is missing,
 * which takes eleven times as long. For good data they do the same, byte for
 * byte. Damaged data is an error in both, but how many wrong bytes come out
 * before it is seen, and whether only the checksum shows it, may differ.
 */
struct inflate;

/* TSCOPE_E_UNSUPPORTED: a library that is loaded when it is needed cannot be. */
TSI_MUST_CHECK
enum tscope_status tsi_inflate_new(struct inflate **ret, struct tscope_error *err);
void tsi_inflate_free(struct inflate *inflate);

/* Forgets everything, for the next stream. */
void tsi_inflate_reset(struct inflate *inflate);

/* As decode of struct filter. *crc: the CRC-32 of all output since reset. */
enum tscope_status tsi_inflate_decode(struct inflate *inflate, struct filter_io *io, uint32_t *crc,
				      struct tscope_error *err);

enum { INFLATE_LEFTOVER_MAX = 8 };

/* After the end: bytes that were taken and lie behind it; gives their number. */
size_t tsi_inflate_leftover(const struct inflate *inflate,
			    unsigned char bytes[INFLATE_LEFTOVER_MAX]);

/* The CRC-32 of gzip, continued; begin with 0. */
uint32_t tsi_inflate_crc32(const struct inflate *inflate, uint32_t crc, const void *data,
			   size_t length);

#endif
