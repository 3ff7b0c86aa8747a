/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_COMPOSER_TEXT_H
#define TSCOPE_TESTS_COMPOSER_TEXT_H

#include "trace_builder.h"

/*
 * What Composer records of a rank, as text: a line for each span with its start and end in ns.
 *
 *	struct test_trace *t = composer_text("rank 0 sync=700 error=4\n"
 *					     "event/train_batch 1000 2400 batch=4\n"
 *					     "callback/A/event/batch_end 2500 - thread=2\n"
 *					     "dataloader/train - 950\n"
 *					     "counter cpu 1200 {\"cpu_percent\": 50}\n");
 *
 * All is of process 0 and thread 1 where nothing else is said; "-" is a B or E that is missing. sync and
 * error are in µs. A span with a category, "kernel gemm 1000 1200 args={\"device\": 2}", is one event
 * X of it; of the others that is "X name 10 20".
 */
struct test_trace *composer_text(const char *text);
struct test_trace *composer_text_with(const char *text, const struct builder_options *options);

#endif
