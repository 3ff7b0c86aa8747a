/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_PLAIN_PICKLE_H
#define TSCOPE_DECODE_PLAIN_PICKLE_H

#include "decode/plain/plain.h"
#include "input/input.h"

/*
 * The plain data of a Python pickle (protocols 0 to 5). Nothing is ever imported, called or
 * constructed; what asks for it is refused, with the name of the opcode and the byte where it
 * stands.
 */

/* Limits of a hostile file; 0: the defaults in pickle_read.c. */
struct pickle_options {
	size_t max_stack; /* values that wait for their container */
	size_t max_marks; /* containers open at a time */
	size_t max_memo;  /* values that can be referred to */
	struct plain_limits plain;
};

/*
 * Reads one pickle from the position of `in`, and on to the end of the input to see that
 * nothing follows. The caller frees.
 * Fails with TSCOPE_E_EMPTY (no byte), TSCOPE_E_FORMAT (no pickle), TSCOPE_E_DAMAGED (ends too
 * early, or an opcode cannot do what it says), TSCOPE_E_UNSUPPORTED (asks for more than plain
 * data), TSCOPE_E_LIMIT, or as the input does.
 */
TSI_MUST_CHECK
enum tscope_status tsi_pickle_read(struct plain **ret, struct input *in,
				   const struct pickle_options *options, struct tscope_error *err);

/* As the file says; 0 where it does not. */
unsigned tsi_pickle_protocol(const struct plain *plain);

#endif
