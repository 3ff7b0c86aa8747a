/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_TRACE_BUILDER_H
#define TSCOPE_MODEL_TRACE_BUILDER_H

#include "decode/events/event_sink.h"
#include "model/trace/trace.h"

/*
 * Takes events as they come out of a decoder and makes the trace model of
 * them: classify, intern, put in columns; at the end group by track, order,
 * link and check.
 */
struct builder;
struct rank_filter;
struct node_modules; /* node_modules.h */

struct builder_options {
	bool python; /* keep all Python frames */
	/* Without `python` long frames are kept, and those of such names; NULL: none is. */
	bool (*is_telling_frame)(struct str name);
	size_t max_names;              /* 0: default */
	size_t memory_limit;           /* bytes of what grows with events; 0: any */
	struct tscope_spill *spill;    /* for columns beyond it; NULL: none */
	unsigned thread_count;         /* as in struct tscope_trace_options */
	void (*tick)(void *tick_data); /* called every some thousand events; NULL: never */
	void *tick_data;
	bool keeps_launches;                     /* which kernels calls launch, where they say it */
	const struct node_modules *node_modules; /* of graphs' kernels; NULL: args alone say them */
	const struct rank_filter *only; /* of a merged trace the events of one rank; NULL: all */
};

TSI_MUST_CHECK
enum tscope_status tsi_builder_new(struct builder **ret, const struct builder_options *options,
				   struct tscope_error *err);

/* Frees the builder with what it holds. NULL is fine. */
void tsi_builder_free(struct builder *builder);

/* Where the decoder puts its events. Owned by the builder. */
struct event_sink *tsi_builder_sink(struct builder *builder);

/*
 * Makes the trace of what has come so far (also after an error of the
 * decoder). The trace is the caller's; the builder stays to be freed.
 * TSCOPE_E_EMPTY: no timed event is left to analyse; the message says what there was instead
 * ("nothing but metadata (242 events)", "the profiler's schedule never reached its active phase").
 */
TSI_MUST_CHECK
enum tscope_status tsi_builder_finish(struct builder *builder, struct tscope_trace **ret,
				      struct tscope_error *err);

#endif
