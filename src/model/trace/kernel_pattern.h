/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_TRACE_KERNEL_PATTERN_H
#define TSCOPE_MODEL_TRACE_KERNEL_PATTERN_H

#include "base/str.h"

/*
 * Words in a kernel's name. A name is looked at in two depths: "void a::b<c::d>(e)" is the function
 * a::b (head) with the template arguments c::d (head and arguments: deep). Text behind these, the
 * types of its parameters, is never asked: they say what is stored, not what is done. The head of
 * "ck_tile::kentry<256, 2, c::d<e>, f>" goes as far as c::d, which is what runs.
 *
 * A pattern is text, upper and lower case alike, that has to begin where a word begins: behind
 * anything but a letter, or with a capital behind a small letter ("norm" is in "fusedNorm2d" and
 * in "rms_norm", not in "abnormal"). These stand for more than themselves:
 *
 *	^x	x begins the name
 *	|x	x begins a part of a qualified name: "|nccl" is in "a::nccl", not in "my_nccl"
 *	*x	x anywhere, within a word, too
 *	x..y	x, and anywhere behind it y, which may be a *y
 *	?	any one character
 *	#	digits, at least one
 *
 * Mangled C++ names are read as they stand: a number before a name ends a word.
 */

enum name_depth { NAME_HEAD, NAME_DEEP };

struct kernel_name {
	struct str head, deep;
	bool is_mangled;
	struct letter_pairs pairs; /* of deep */
};

void tsi_kernel_name_read(struct kernel_name *ret, struct str name);

/* O(length of the name × length of the pattern), if all pairs of its letters are there. */
bool tsi_kernel_pattern_fits(struct str pattern, enum name_depth depth,
			     const struct kernel_name *name);

#endif
