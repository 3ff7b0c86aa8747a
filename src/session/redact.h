/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_SESSION_REDACT_H
#define TSCOPE_SESSION_REDACT_H

#include "base/keyed_hash.h"
#include "session/gzip_out.h"

/*
 * Names that say something of whoever wrote the program become keyed hashes: equal names stay
 * equal, and nobody without the key learns more. Names of PyTorch, of CUDA and of the libraries
 * below them stay, since figures rest on them.
 */
struct redaction {
	struct hash_key key;
	bool keeps_shapes;
};

enum redacted_kind {
	REDACTED_NAME,   /* of a span on the host, of a counter … */
	REDACTED_KERNEL, /* keeps what kind of kernel it is */
	REDACTED_FRAME,  /* "file.py(12): function": both are hashed, the line stays */
	REDACTED_STACK,  /* frames, with semicolons between */
	REDACTED_TEXT,   /* of a value: stays where it holds no letters */
};

/* Writes what stands for a text: JSON text between quotes, as is the result. */
void tsi_redact(struct gzip_out *out, const struct redaction *redaction, enum redacted_kind kind,
		struct str text);

/* Whether the string at this key, of args or metadata, is a word out of a fixed list. */
bool tsi_is_public_key(struct str key);

/* Whether the value at this key holds shapes of tensors, or what was passed beside them. */
bool tsi_is_shape_key(struct str key);

#endif
