/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_PLAIN_PICKLE_CLASS_H
#define TSCOPE_DECODE_PLAIN_PICKLE_CLASS_H

#include "base/attributes.h"
#include "base/str.h"

#include <stdint.h>
#include <tscope/error.h>

/*
 * The few classes that a pickle may name: containers, whose data is all that there is to
 * them. Their names are tokens, and "calling" one gives an empty dict or the tuple that it got.
 */
struct pickle_machine;

/* The class in a row of the table: "collections.OrderedDict". */
struct str tsi_pickle_class_name(uint32_t row);

/* GLOBAL and STACK_GLOBAL: the token of a class, or refuses what else would be imported. */
uint32_t tsi_pickle_find_class(struct pickle_machine *m, struct str module, struct str name);

/* INST, GLOBAL and STACK_GLOBAL: fails, and says what would be imported. */
TSI_COLD void tsi_pickle_refuse_import(struct pickle_machine *m, struct str module,
				       struct str name);

/* REDUCE: what a call of `callable` with a tuple of arguments makes, or refuses. */
uint32_t tsi_pickle_call(struct pickle_machine *m, uint32_t callable, uint32_t arguments);

#endif
