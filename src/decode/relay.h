/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_RELAY_H
#define TSCOPE_DECODE_RELAY_H

#include "decode/event_sink.h"

/*
 * A sink that passes what it gets on to another one in a thread of its own, in
 * the same order: reading events and building the model of them are about
 * equally long. What a decoder hands over dies with the call, so it is copied,
 * in batches that are filled, emptied and filled again.
 */
struct relay;

/* `to` must not be touched before finish or free. */
TSI_MUST_CHECK
enum tscope_status tsi_relay_new(struct relay **ret, struct event_sink *to,
				 struct tscope_error *err);

/* Where the decoder puts its events. A failure of `to` comes back with a later event. */
struct event_sink *tsi_relay_sink(struct relay *relay);

/*
 * Waits until all has been passed on and adds the decoder's counters to those
 * of `to`. The failure of `to`, if it had one.
 */
TSI_MUST_CHECK
enum tscope_status tsi_relay_finish(struct relay *relay, struct tscope_error *err);

/* Stops the thread, too. NULL is fine. */
void tsi_relay_free(struct relay *relay);

#endif
