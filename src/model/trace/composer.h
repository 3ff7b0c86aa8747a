/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_TRACE_COMPOSER_H
#define TSCOPE_MODEL_TRACE_COMPOSER_H

#include "model/trace/trace.h"

/*
 * Composer's JSONTraceHandler: spans "event/…" of the training loop, "callback/…" and
 * "algorithm/…" of what is hooked into it, and a file for each rank. Its merger writes the
 * events of several ranks into one file, with the rank as the pid.
 */

/* "callback/CheckpointSaver/event/batch_end": callback, CheckpointSaver, batch_end. */
struct callback_name {
	struct str kind; /* "callback", "algorithm" */
	struct str name; /* of the class */
	struct str event;
};

/* False: it is no such name. */
bool tsi_callback_name(struct str text, struct callback_name *ret);

/* True for Composer's own profiler: without it these callbacks are not there. */
bool tsi_is_profiler_callback(const struct callback_name *name);

/* True for names that Composer's profiler gives: "event/batch", "dataloader/train" … */
bool tsi_is_composer_name(struct str name);

/* True for "event/train_batch". */
static inline bool tsi_is_train_batch(struct str name)
{
	return tsi_str_starts(name, "event/train_batch");
}

/* The only rank that its metadata say, or -1. */
int64_t tsi_only_composer_rank(const struct tscope_trace *trace);

/* A name of an evaluation: "event/eval", "event/eval_batch" … */
bool tsi_is_evaluation(struct str name);

#endif
