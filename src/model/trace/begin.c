/* SPDX-License-Identifier: MIT */
/* Makes a builder and the empty trace that it fills, and frees both. */
#include "model/trace/builder.h"

#include "base/column.h"
#include "base/error.h"
#include "model/trace/args.h"
#include "model/trace/build.h"

#include <stdlib.h>

enum { DEFAULT_MAX_NAMES = 8 * 1024 * 1024 };

/* Defaults for what a file may say of itself. */
static void init_trace(struct tscope_trace *trace)
{
	trace->capture_start_ns = NO_NUMBER;
	trace->capture_end_ns = NO_NUMBER;
	trace->short_replay_ns = NO_NUMBER;
	trace->info = (struct tscope_trace_info){
		.path = "",
		.format = "chrome",
		.compression = "none",
		.rank = -1,
		.world_size = -1,
		.backend = "",
		.device_name = "",
		.link_basis = "",
	};
}

/* The first ones of inputs and shapes say nothing; their number is that of the empty text. */
static void add_first_items(struct builder *b)
{
	struct tscope_trace *trace = b->trace;
	struct op_inputs *inputs = tsi_builder_push(b, &trace->op_inputs, &trace->op_inputs_count,
						    &trace->op_inputs_capacity, sizeof(*inputs));
	struct work_shape *shape =
		tsi_builder_push(b, &trace->work_shapes, &trace->work_shape_count,
				 &trace->work_shape_capacity, sizeof(*shape));
	if (inputs && shape)
		*shape = tsi_no_shape();
}

static enum tscope_status init_sets(struct builder *b, struct tscope_error *err)
{
	size_t limit = b->options.max_names ? b->options.max_names : DEFAULT_MAX_NAMES;
	size_t input_limit = limit < MAX_INPUTS ? limit : MAX_INPUTS;
	if (tsi_intern_init(&b->trace->names, limit, err) != TSCOPE_OK ||
	    tsi_intern_init(&b->raw_inputs, input_limit, err) != TSCOPE_OK ||
	    tsi_intern_init(&b->raw_places, limit, err) != TSCOPE_OK ||
	    tsi_intern_init(&b->span_kinds, SIZE_MAX, err) != TSCOPE_OK ||
	    tsi_intern_init(&b->frame_texts, SIZE_MAX, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	return tsi_intern_init(&b->work_shapes, SIZE_MAX, err);
}

enum tscope_status tsi_builder_new(struct builder **ret, const struct builder_options *options,
				   struct tscope_error *err)
{
	struct builder *b = calloc(1, sizeof(*b));
	if (!b)
		return tsi_fail_nomem(err);
	b->isa = tsi_scan_isa(NULL);
	b->sink.event = tsi_take_event;
	b->sink.repeat = tsi_take_repeat;
	b->sink.metadata = tsi_take_metadata;
	b->sink.arg_of = options->node_modules ? tsi_find_node_arg : tsi_find_arg;
	b->options = *options;
	b->events_until_tick = TICK_EVENTS;
	b->composer_rank = -1;
	b->window_mark_ns = NO_NUMBER;
	b->trace = calloc(1, sizeof(*b->trace));
	if (!b->trace || init_sets(b, NULL) != TSCOPE_OK) {
		tsi_builder_free(b);
		return tsi_fail_nomem(err);
	}
	init_trace(b->trace);
	add_first_items(b);
	tsi_know_rank_threads(b);
	if (b->status != TSCOPE_OK) {
		enum tscope_status status = tsi_builder_status(b, err);
		tsi_builder_free(b);
		return status;
	}
	*ret = b;
	return TSCOPE_OK;
}

void tsi_builder_free(struct builder *b)
{
	if (!b)
		return;
	tscope_trace_free(b->trace);
	tsi_arena_deinit(&b->scratch);
	tsi_key_map_deinit(&b->category_of);
	tsi_key_map_deinit(&b->host_track_of);
	tsi_key_map_deinit(&b->device_track_of);
	tsi_key_map_deinit(&b->gc_row_of);
	tsi_key_map_deinit(&b->counter_nodes);
	tsi_key_map_deinit(&b->counter_series);
	tsi_key_map_deinit(&b->composer_rank_of);
	tsi_key_map_deinit(&b->thread_of_rank);
	tsi_free_scaffold(b);
	tsi_free_flows(b);
	tsi_column_free(b->concrete_use);
	tsi_column_free(b->text);
	free(b);
}

void tsi_free_scaffold(struct builder *b)
{
	tsi_intern_deinit(&b->raw_inputs);
	tsi_intern_deinit(&b->raw_places);
	tsi_intern_deinit(&b->span_kinds);
	tsi_intern_deinit(&b->work_shapes);
	tsi_intern_deinit(&b->frame_texts);
	tsi_column_free(b->marks);
	tsi_column_free(b->known);
	tsi_column_free(b->frame_names);
	b->frame_names = NULL;
	b->marks = NULL;
	b->known = NULL;
}

struct event_sink *tsi_builder_sink(struct builder *b)
{
	return &b->sink;
}
