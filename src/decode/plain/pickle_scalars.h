/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_PLAIN_PICKLE_SCALARS_H
#define TSCOPE_DECODE_PLAIN_PICKLE_SCALARS_H

#include "decode/plain/pickle_machine.h"

/* The opcodes that push a number or a text, for the table in pickle_opcodes.c. */
void tsi_pickle_run_binint(struct pickle_machine *m);
void tsi_pickle_run_int(struct pickle_machine *m);
void tsi_pickle_run_long(struct pickle_machine *m);
void tsi_pickle_run_long_bytes(struct pickle_machine *m);
void tsi_pickle_run_float(struct pickle_machine *m);
void tsi_pickle_run_binfloat(struct pickle_machine *m);
void tsi_pickle_run_text(struct pickle_machine *m);
void tsi_pickle_run_unicode(struct pickle_machine *m);
void tsi_pickle_run_string(struct pickle_machine *m);

#endif
