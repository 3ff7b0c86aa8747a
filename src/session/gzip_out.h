/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_SESSION_GZIP_OUT_H
#define TSCOPE_SESSION_GZIP_OUT_H

#include "base/attributes.h"
#include "base/str.h"

#include <stdio.h>
#include <tscope/error.h>

/* A stream that bytes go to, compressed or not. */
struct gzip_out;

/* TSCOPE_E_UNSUPPORTED: compress, and this build has no zlib. The stream stays the caller's. */
TSI_MUST_CHECK
enum tscope_status tsi_gzip_open(struct gzip_out **ret, FILE *out, bool compress,
				 struct tscope_error *err);

/* A failed write stays with the stream. */
void tsi_gzip_put(struct gzip_out *gzip, struct str bytes);

/* Writes what is left and frees. TSCOPE_E_WRITE: some of it could not be written. */
TSI_MUST_CHECK
enum tscope_status tsi_gzip_close(struct gzip_out *gzip, struct tscope_error *err);

#endif
