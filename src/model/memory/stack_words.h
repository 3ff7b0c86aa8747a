/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_MEMORY_STACK_WORDS_H
#define TSCOPE_MODEL_MEMORY_STACK_WORDS_H

#include "base/str.h"

#include <stdint.h>

/* Meanings of a text as a frame's file, or as its name. */
enum text_mark {
	TEXT_KNOWN = 1 << 0,
	TEXT_MATCHES = 1 << 1, /* holds what is filtered for */
	/* As a file: */
	FILE_PYTHON = 1 << 2,
	FILE_PACKAGE = 1 << 3, /* of any library */
	FILE_FOLDED = 1 << 4,  /* no site: what calls it says more */
	FILE_MODULE = 1 << 5,  /* the base of all modules */
	FILE_MODULES = 1 << 6, /* those that come with torch */
	FILE_PARAMETERS = 1 << 7,
	FILE_OPTIMIZER = 1 << 8,
	FILE_CHECKPOINT = 1 << 9, /* runs forward again in backward */
	FILE_KV_CACHE = 1 << 10,
	FILE_COMMUNICATION = 1 << 11,
	/* As a name: */
	NAME_NODE = 1 << 12, /* of autograd */
	NAME_OPERATOR = 1 << 13,
	NAME_PLUMBING = 1 << 14,
	NAME_ENGINE = 1 << 15,   /* of autograd */
	NAME_BACKWARD = 1 << 16, /* functions that run it */
	NAME_FORWARD = 1 << 17,  /* what users call the method that modules run */
	NAME_CALL = 1 << 18,     /* methods of a module that run it */
	NAME_MOVE = 1 << 19,     /* methods of a module that fill it */
	NAME_INIT = 1 << 20,
	NAME_PARAMETERS = 1 << 21, /* functions that make or load them */
	NAME_OPTIMIZER = 1 << 22,
	NAME_KV_CACHE = 1 << 23,
	NAME_COMMUNICATION = 1 << 24, /* what makes buffers of collectives */
};

/* Its marks, TEXT_MATCHES among them where it holds filter. Backslashes of a path are slashes. */
uint32_t tsi_stack_text_marks(struct str text, struct str filter);

#endif
