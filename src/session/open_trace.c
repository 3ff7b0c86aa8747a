/* SPDX-License-Identifier: MIT */
/*
 * The path of a trace:
 *
 *	input    bytes of a file, a pipe or memory, decompressed    (src/input/)
 *	decode   bytes to events                                    (src/decode/)
 *	builder  events to the trace model, checked and linked      (src/model/)
 *
 * Stages that the caller runs come after: timeline (src/timeline/), analyzers (src/analyze/),
 * reporters (src/report/).
 *
 * An input that breaks in the middle is still a trace when events came before
 * the break: the error then becomes the trace's damage.
 */
#include "session/open_trace.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/queue.h"
#include "decode/events/format.h"
#include "decode/foreign.h"
#include "input/members.h"
#include "model/trace/builder.h"
#include "model/trace/node_modules.h"
#include "run/taste.h"
#include "session/graph_annotations.h"
#include "timeline/host_kinds.h"

enum tscope_status tsi_open_archives(struct tscope_members **ret,
				     struct tscope_trace_options *options, struct tscope_error *err)
{
	const struct input_options input_options = tsi_input_options_of(options);
	enum tscope_status status = tsi_members_new(ret, &input_options, err);

	if (status != TSCOPE_OK)
		return status;
	tsi_members_leave(*ret, tsi_is_foreign_by_name);
	options->members = *ret;
	return TSCOPE_OK;
}

void tsi_report_progress(void *data)
{
	const struct progress_report *report = data;
	report->options->progress(report->options->progress_data,
				  tsi_input_source_offset(report->in),
				  tsi_input_source_bytes(report->in), tsi_input_offset(report->in));
}

struct input_options tsi_input_options_of(const struct tscope_trace_options *options)
{
	return (struct input_options){
		.block_bytes = options->block_bytes,
		.single_thread = options->thread_count == 1,
		.thread_count = options->thread_count,
		.max_output_bytes = options->max_output_bytes,
		.members = options->members,
	};
}

enum tscope_status tsi_describe_source(struct source *source, const char *path,
				       const struct input *in, struct tscope_error *err)
{
	const char *filters = tsi_input_filters(in);
	size_t path_size = strlen(path) + 1, filters_size = strlen(filters) + 1;
	char *text = malloc(path_size + filters_size);
	if (!text)
		return tsi_fail_nomem(err);
	memcpy(text, path, path_size);
	memcpy(text + path_size, filters, filters_size);
	*source = (struct source){
		.path = text,
		.compression = text + path_size,
		.source_bytes = tsi_input_stored_bytes(in),
		.bytes = tsi_input_offset(in),
	};
	return TSCOPE_OK;
}

static enum tscope_status describe_trace(struct tscope_trace *trace, const char *path,
					 const struct input *in, struct tscope_error *err)
{
	struct source source;
	if (trace->is_slice_of_ranks)
		return tsi_fail(err, TSCOPE_E_UNSUPPORTED,
				"a slice of several ranks, which is for viewers: tscope reads the "
				"traces that it was cut out of, or a slice of one rank");
	enum tscope_status status = tsi_describe_source(&source, path, in, err);
	if (status != TSCOPE_OK)
		return status;
	trace->path = source.path;
	trace->info.path = source.path;
	trace->info.compression = source.compression;
	trace->info.source_bytes = source.source_bytes;
	trace->info.bytes = source.bytes;
	return TSCOPE_OK;
}

static enum tscope_status decode(struct builder *builder, struct input *in,
				 const struct tscope_trace_options *options,
				 struct stretches *stretches, struct tscope_error *err)
{
	struct decode_options decode_options = {
		.max_event_bytes = options->max_event_bytes,
		.max_depth = options->max_depth,
		.thread_count = options->thread_count ? options->thread_count : tsi_thread_count(),
	};
	struct event_sink *sink = tsi_builder_sink(builder);
	if (!stretches || strcmp(tsi_input_filters(in), "none") != 0)
		return tsi_decode(in, &decode_options, sink, err);
	enum tscope_status status = tsi_stretches_begin(stretches, sink, err);
	if (status != TSCOPE_OK)
		return status;
	status = tsi_decode(in, &decode_options, &stretches->sink, err);
	tsi_stretches_end(stretches);
	return status;
}

/* Bytes to events to model. On success *ret may be a trace of what came before damage. */
static enum tscope_status build(struct builder *builder, struct input *in,
				const struct tscope_trace_options *options,
				struct stretches *stretches, struct tscope_trace **ret,
				struct tscope_error *err)
{
	struct tscope_error damage = { 0 };
	enum tscope_status decoded = decode(builder, in, options, stretches, &damage);
	bool is_hopeless = decoded == TSCOPE_E_NOMEM || decoded == TSCOPE_E_FORMAT ||
			   decoded == TSCOPE_E_UNSUPPORTED || decoded == TSCOPE_E_INTERNAL;
	if (!is_hopeless) {
		enum tscope_status built = tsi_builder_finish(builder, ret, err);
		if (built == TSCOPE_OK) {
			(*ret)->is_damaged = decoded != TSCOPE_OK;
			(*ret)->damage = damage;
			return TSCOPE_OK;
		}
		if (built != TSCOPE_E_EMPTY || decoded == TSCOPE_OK)
			return built;
	}
	/* Nothing came before the break: it is the whole story. */
	if (err)
		*err = damage;
	return decoded;
}

struct opening {
	const char *path;
	struct input *in; /* is taken over */
	const struct tscope_trace_options *options;
	const struct rank_filter *only; /* of a merged trace; NULL: all that is in it */
	bool keeps_launches;            /* as in struct builder_options */
	struct stretches *stretches;    /* to be noted; NULL: not */
	struct node_modules modules;    /* of graphs' kernels */
	bool lacks_modules;             /* their file could not be read */
};

static enum tscope_status open_input(struct tscope_trace **ret, const struct opening *opening,
				     struct tscope_error *err)
{
	const struct tscope_trace_options *options = opening->options;
	struct input *in = opening->in;
	struct progress_report report = { options, in };
	struct builder_options builder_options = {
		.python = options->python,
		.is_telling_frame = tsi_is_telling_frame,
		.max_names = options->max_names,
		.memory_limit = options->memory_limit,
		.spill = options->spill,
		.thread_count = options->thread_count,
		.tick = options->progress ? tsi_report_progress : NULL,
		.tick_data = &report,
		.keeps_launches = opening->keeps_launches,
		.only = opening->only,
		.node_modules = opening->modules.count ? &opening->modules : NULL,
	};
	struct builder *builder = NULL;
	struct tscope_trace *trace = NULL;
	enum tscope_status status = tsi_builder_new(&builder, &builder_options, err);
	if (status == TSCOPE_OK)
		status = build(builder, in, options, opening->stretches, &trace, err);
	if (status == TSCOPE_OK)
		status = describe_trace(trace, opening->path, in, err);
	if (status == TSCOPE_OK)
		trace->diagnostics[TSCOPE_DIAGNOSTIC_unread_annotations] += opening->lacks_modules;
	tsi_builder_free(builder);
	tsi_input_close(in);
	if (status != TSCOPE_OK) {
		tscope_trace_free(trace);
		return status;
	}
	tsi_trace_release_freed(trace);
	*ret = trace;
	return TSCOPE_OK;
}

const char *tsi_source_name(const char *path, const struct tscope_trace_options *options)
{
	return options->stdin_name && strcmp(path, "-") == 0 ? options->stdin_name : path;
}

/* The opening has all but its input. */
static enum tscope_status open_path(struct tscope_trace **ret, const char *path,
				    struct opening opening, struct tscope_error *err)
{
	const struct tscope_trace_options *options = opening.options;
	const char *name = tsi_source_name(path, options);
	struct input_options input_options = tsi_input_options_of(options);
	enum tscope_status status = tsi_input_open_file(&opening.in, path, &input_options, err);

	opening.path = name;
	if (status == TSCOPE_OK && options->finds_annotations && strcmp(path, "-") != 0)
		opening.lacks_modules = tsi_graph_annotations_read(&opening.modules, path, options,
								   NULL) != TSCOPE_OK;
	if (status == TSCOPE_OK)
		status = open_input(ret, &opening, err);
	tsi_node_modules_deinit(&opening.modules);
	return tsi_foreign_rename(status, name, err);
}

enum tscope_status tsi_trace_open_rank(struct tscope_trace **ret, const char *path,
				       const struct tscope_trace_options *options,
				       const struct rank_filter *only, bool keeps_launches,
				       struct tscope_error *err)
{
	struct opening opening = { .options = options,
				   .only = only,
				   .keeps_launches = keeps_launches };

	return open_path(ret, path, opening, err);
}

enum tscope_status tsi_trace_open_indexed(struct tscope_trace **ret, const char *path,
					  const struct tscope_trace_options *options,
					  struct stretches *stretches, struct tscope_error *err)
{
	*stretches = (struct stretches){ 0 };
	return open_path(ret, path, (struct opening){ .options = options, .stretches = stretches },
			 err);
}

enum tscope_status tscope_trace_open(struct tscope_trace **ret, const char *path,
				     const struct tscope_trace_options *options,
				     struct tscope_error *err)
{
	static const struct tscope_trace_options defaults = { 0 };

	return tsi_trace_open_rank(ret, path, options ? options : &defaults, NULL, false, err);
}

enum tscope_status tscope_trace_open_memory(struct tscope_trace **ret, const char *name,
					    const void *data, size_t length,
					    const struct tscope_trace_options *options,
					    struct tscope_error *err)
{
	static const struct tscope_trace_options defaults = { 0 };
	struct opening opening = { .path = name, .options = options ? options : &defaults };
	struct input_options input_options = tsi_input_options_of(opening.options);
	enum tscope_status status =
		tsi_input_open_memory(&opening.in, data, length, &input_options, err);
	return status == TSCOPE_OK ? open_input(ret, &opening, err) : status;
}
