/* SPDX-License-Identifier: MIT */
#include "memray_log.h"

#include <inttypes.h>
#include <stdio.h>

#include "check.h"
#include "input/reader.h"

/* ---- the sink ---------------------------------------------------------------------------- */

static enum tscope_status keep(struct memray_sink *sink, const struct memray_log_record *record,
			       struct tscope_error *err)
{
	struct memray_log *log = (struct memray_log *)sink;

	assert_true(log->count < MEMRAY_LOG_RECORDS);
	if (log->count + 1 == log->fail_at) {
		*err = (struct tscope_error){ .status = TSCOPE_E_WRITE, .message = "refused" };
		return TSCOPE_E_WRITE;
	}
	log->records[log->count++] = *record;
	return TSCOPE_OK;
}

static enum tscope_status keep_allocation(struct memray_sink *sink,
					  const struct memray_allocation *allocation,
					  struct tscope_error *err)
{
	struct memray_log_record record = { .kind = LOG_ALLOCATION, .allocation = *allocation };

	return keep(sink, &record, err);
}

static enum tscope_status keep_aggregate(struct memray_sink *sink,
					 const struct memray_aggregate *aggregate,
					 struct tscope_error *err)
{
	struct memray_log_record record = { .kind = LOG_AGGREGATE, .aggregate = *aggregate };

	return keep(sink, &record, err);
}

static enum tscope_status keep_resident(struct memray_sink *sink,
					const struct memray_resident *resident,
					struct tscope_error *err)
{
	struct memray_log_record record = { .kind = LOG_RESIDENT, .resident = *resident };

	return keep(sink, &record, err);
}

/* ---- the text ---------------------------------------------------------------------------- */

TSI_PRINTF(2, 3)
static void print(struct memray_log *log, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log->length += (size_t)vsnprintf(log->text + log->length, sizeof(log->text) - log->length,
					 format, args);
	va_end(args);
	assert_true(log->length < sizeof(log->text));
}

static void print_frame(struct memray_log *log, uint32_t index)
{
	const struct memray_frame *frame = &log->capture.frames[index];
	const char *file = tsi_intern_text(&log->capture.names, frame->file).data;
	bool is_usual = strcmp(file, "a.py") == 0;

	if (index == 0)
		print(log, " ?");
	else
		print(log, " %s%s%s:%" PRId32, is_usual ? "" : file, is_usual ? "" : "/",
		      tsi_intern_text(&log->capture.names, frame->function).data, frame->line);
}

static void print_stack(struct memray_log *log, uint32_t node)
{
	enum { MAX_DEPTH = 64 };
	uint32_t path[MAX_DEPTH];
	size_t depth = 0;

	for (; node; node = log->capture.nodes[node].parent) {
		assert_true(depth < MAX_DEPTH);
		path[depth++] = log->capture.nodes[node].frame;
	}
	while (depth)
		print_frame(log, path[--depth]);
	print(log, "\n");
}

static void print_record(struct memray_log *log, const struct memray_log_record *record)
{
	const struct memray_allocation *a = &record->allocation;
	const struct memray_aggregate *s = &record->aggregate;

	if (record->kind == LOG_RESIDENT) {
		print(log, "rss %" PRIu64 " at %" PRId64 "\n", record->resident.rss_bytes,
		      record->resident.time_ms);
	} else if (record->kind == LOG_ALLOCATION) {
		print(log, "t%" PRIu64 " %s %" PRIx64 " %" PRIu64,
		      log->capture.threads[a->thread].tid, tsi_memray_allocator_name(a->allocator),
		      a->address, a->size);
		print_stack(log, a->node);
	} else {
		print(log,
		      "t%" PRIu64 " %s peak %" PRIu64 " %" PRIu64 " leaked %" PRIu64 " %" PRIu64,
		      log->capture.threads[s->thread].tid, tsi_memray_allocator_name(s->allocator),
		      s->count_at_peak, s->bytes_at_peak, s->leaked_count, s->leaked_bytes);
		print_stack(log, s->node);
	}
}

/* ---- all --------------------------------------------------------------------------------- */

static void check_record(const struct memray_log *log, const struct memray_log_record *record)
{
	const struct memray_capture *c = &log->capture;

	if (record->kind == LOG_RESIDENT)
		return;
	bool is_sum = record->kind == LOG_AGGREGATE;
	assert_true((is_sum ? record->aggregate.thread : record->allocation.thread) <
		    c->thread_count);
	assert_true((is_sum ? record->aggregate.node : record->allocation.node) < c->node_count);
	assert_true((is_sum ? record->aggregate.allocator : record->allocation.allocator) <
		    MEMRAY_ALLOCATOR_COUNT);
}

void memray_log_check(const struct memray_log *log)
{
	const struct memray_capture *c = &log->capture;

	for (size_t i = 1; i < c->node_count; i++) {
		assert_true(c->nodes[i].parent < i);
		assert_true(c->nodes[i].frame < c->frame_count);
	}
	for (size_t i = 0; i < c->frame_count; i++) {
		assert_true(c->frames[i].function < c->names.count);
		assert_true(c->frames[i].file < c->names.count);
		assert_true(c->frames[i].line >= 0);
	}
	for (size_t i = 0; i < c->thread_count; i++)
		assert_true(c->threads[i].name < c->names.count);
	for (size_t i = 0; i < log->count; i++)
		check_record(log, &log->records[i]);
	assert_true(c->dropped_count <= 2 * c->record_count); /* frame and parent of a node */
}

/* With an input, or with the error that opening it came to. */
static void run(struct memray_log *log, struct input *in)
{
	if (log->status == TSCOPE_OK)
		log->status = tsi_memray_read(&log->capture, in, &log->sink, &log->err);
	tsi_input_close(in);
	assert_int_equal(log->status, log->err.status);
	if (log->status == TSCOPE_E_NOMEM)
		return;
	memray_log_check(log);
	for (size_t i = 0; i < log->count; i++)
		print_record(log, &log->records[i]);
}

/* Looking for filters would put the first blocks together. */
static struct input *open_blocks(struct memray_log *log, const void *bytes, size_t length,
				 size_t block_bytes)
{
	static struct flow flow; /* outlives the reader */
	struct input_options options = { .block_bytes = block_bytes, .single_thread = true };
	struct reader *source;
	struct input *in = NULL;

	memset(&flow, 0, sizeof(flow));
	log->status = tsi_reader_open_memory(&source, bytes, length, &flow, &log->err);
	if (log->status == TSCOPE_OK)
		log->status = tsi_input_open_reader(&in, source, &options, &log->err);
	return in;
}

/* Its own memory is not taken from the heap, where allocations may be made to fail. */
static struct memray_log *begin(void)
{
	static struct memray_log log;

	memset(&log, 0, sizeof(log));
	log.sink = (struct memray_sink){ keep_allocation, keep_aggregate, keep_resident };
	return &log;
}

struct memray_log *memray_log_read(const void *bytes, size_t length, size_t block_bytes)
{
	struct memray_log *log = begin();

	run(log, open_blocks(log, bytes, length, block_bytes));
	return log;
}

struct memray_log *memray_log_open(const void *bytes, size_t length)
{
	struct memray_log *log = begin();
	struct input *in = NULL;

	log->status = tsi_input_open_memory(&in, bytes, length, NULL, &log->err);
	run(log, in);
	return log;
}

struct memray_log *memray_log_refuse(const void *bytes, size_t length, size_t fail_at)
{
	struct memray_log *log = begin();

	log->fail_at = fail_at;
	run(log, open_blocks(log, bytes, length, 0));
	return log;
}

void memray_log_free(struct memray_log *log)
{
	tsi_memray_capture_deinit(&log->capture);
}

static const size_t block_sizes[] = { 1, 2, 3, 7, 0 };

void memray_expect(struct memray_writer *w, const char *text, bool is_complete,
		   uint64_t dropped_count)
{
	for (size_t i = 0; i < TSI_COUNT_OF(block_sizes); i++) {
		struct memray_log *log = memray_log_read(w->bytes, w->length, block_sizes[i]);
		if (log->status != TSCOPE_OK)
			fail_msg("format %d: %s", w->header.version, log->err.message);
		assert_string_equal(log->text, text);
		assert_int_equal(log->capture.is_complete, is_complete);
		assert_int_equal(log->capture.dropped_count, dropped_count);
		memray_log_free(log);
	}
	memray_writer_deinit(w);
}

void memray_expect_failure(struct memray_writer *w, enum tscope_status status, const char *message,
			   uint64_t offset, const char *text)
{
	for (size_t i = 0; i < TSI_COUNT_OF(block_sizes); i++) {
		struct memray_log *log = memray_log_read(w->bytes, w->length, block_sizes[i]);
		assert_string_equal(log->err.message, message);
		assert_int_equal(log->status, status);
		assert_int_equal(log->err.offset, offset);
		assert_string_equal(log->text, text);
		assert_false(log->capture.is_complete);
		memray_log_free(log);
	}
	memray_writer_deinit(w);
}
