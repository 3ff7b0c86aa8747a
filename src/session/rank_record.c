/* SPDX-License-Identifier: MIT */
#include "session/rank_record.h"

#include "analyze/analysis_codec.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "comm/rank_log_codec.h"
#include "run/steps_codec.h"

#include <tscope/tscope.h>

enum limit {
	LIMIT_NONE,
	LIMIT_FILE_KINDS,
	LIMIT_INPUT_KINDS,
	LIMIT_MEMORY_KINDS,
};

static void set_limits(struct codec *codec)
{
	codec->limits[LIMIT_FILE_KINDS] = RUN_FILE_IGNORED;
	codec->limits[LIMIT_INPUT_KINDS] = TSCOPE_INPUT_KIND_COUNT;
	codec->limits[LIMIT_MEMORY_KINDS] = TSCOPE_MEMORY_KIND_COUNT;
}

/* ---- errors ---- */

static const struct field error_fields[] = {
	TSI_FIELD(struct tscope_error, status, 0, LIMIT_NONE),
	TSI_FIELD(struct tscope_error, has_offset, 0, LIMIT_NONE),
	TSI_FIELD(struct tscope_error, offset, 0, LIMIT_NONE),
};

/* One that says TSCOPE_OK is none. */
static void code_error(struct codec *codec, struct tscope_error *error)
{
	tsi_code_struct(codec, error, &TSI_LIST_OF(struct tscope_error, error_fields));
	tsi_code_chars(codec, error->message, sizeof(error->message));
	if (codec->is_reading && (error->status > TSCOPE_OK || error->status < TSCOPE_E_INTERNAL))
		tsi_codec_refuse(codec, "an error of no kind");
}

/* ---- head ---- */

static const struct field file_fields[] = {
	TSI_FIELD(struct run_file, kind, 0, LIMIT_FILE_KINDS),
	TSI_FIELD(struct run_file, is_named, 0, LIMIT_NONE),
	TSI_FIELD(struct run_file, name_rank, 0, LIMIT_NONE),
	TSI_FIELD(struct run_file, first_batch, 0, LIMIT_NONE),
	TSI_FIELD(struct run_file, batch_count, 0, LIMIT_NONE),
};

#define OPTION(member) TSI_FIELD(struct tscope_run_options, member, 0, LIMIT_NONE)
static const struct field option_fields[] = {
	OPTION(timeline.warmup),
	OPTION(timeline.keep_cold),
	OPTION(analysis.flops_per_step),
	OPTION(analysis.model.flops),
	OPTION(analysis.model.hardware_flops),
	OPTION(analysis.model.device_count),
	OPTION(analysis.peak_flops),
	OPTION(analysis.stack_depth),
	OPTION(analysis.python),
	/* Those of a range go together: they stand last. */
	OPTION(timeline.has_range),
	OPTION(timeline.first_step),
	OPTION(timeline.last_step),
};

/* By the same indices. */
static const char *const option_names[] = {
	"--warmup",      "--keep-cold",   "--flops-per-step", "--model", "--model", "--model",
	"--peak-tflops", "--stack-depth", "--python",         "--steps", "--steps", "--steps",
};

enum { RANGE_FIELDS = 3, RANGE_AT = TSI_COUNT_OF(option_fields) - RANGE_FIELDS };

_Static_assert(TSI_COUNT_OF(option_fields) == TSI_COUNT_OF(option_names), "each has its name");

static void code_head(struct codec *codec, struct rank_source *source, struct arena *texts)
{
	const char *version = tscope_version();

	set_limits(codec);
	tsi_code_text(codec, &version, texts);
	tsi_code_text(codec, &source->file.path, texts);
	tsi_code_text(codec, &source->file.reason, texts);
	tsi_code_struct(codec, &source->file, &TSI_LIST_OF(struct run_file, file_fields));
	tsi_code_uint(codec, &source->file_bytes);
	tsi_code_struct(codec, &source->options,
			&TSI_LIST_OF(struct tscope_run_options, option_fields));
	tsi_code_text(codec, &source->options.timeline.step_marker, texts);
	tsi_code_text(codec, &source->options.analysis.stack_filter, texts);
	if (codec->is_reading && (!source->file.path || source->file.kind == RUN_FILE_RANKS))
		tsi_codec_refuse(codec, "of no file");
	if (codec->is_reading && source->file.kind == RUN_FILE_REFUSED && !source->file.reason)
		tsi_codec_refuse(codec, "refused for no reason");
}

/* ---- what was read ---- */

/* Whose part it is, and how reading it ended. */
struct part_head {
	int64_t rank; /* of a merged file; -1: the whole file */
	struct tscope_error error;
};

#define LOADED(member, limit) TSI_FIELD(struct loaded, member, 0, limit)
static const struct field loaded_fields[] = {
	LOADED(input.kind, LIMIT_INPUT_KINDS),
	LOADED(input.source_bytes, LIMIT_NONE),
	LOADED(input.bytes, LIMIT_NONE),
	LOADED(input.event_count, LIMIT_NONE),
	LOADED(input.dropped_count, LIMIT_NONE),
	LOADED(input.step_count, LIMIT_NONE),
	LOADED(input.rank, LIMIT_NONE),
	LOADED(diagnostics, LIMIT_NONE),
	LOADED(memory_kind, LIMIT_MEMORY_KINDS),
	LOADED(start_ns, LIMIT_NONE),
	LOADED(end_ns, LIMIT_NONE),
	LOADED(origin.pid, LIMIT_NONE),
	LOADED(origin.has_unix, LIMIT_NONE),
	LOADED(origin.is_whole, LIMIT_NONE),
	LOADED(is_capture, LIMIT_NONE),
	LOADED(merged.is_mixed, LIMIT_NONE),
	LOADED(merged.is_shifted, LIMIT_NONE),
	LOADED(merged.sync_ns, LIMIT_NONE),
};

static const struct field rank_fields[] = {
	{ 0, sizeof(int64_t), FIELD_INT64, FIELD_RISING, LIMIT_NONE },
};

static void code_input(struct codec *codec, struct loaded *loaded)
{
	tsi_code_struct(codec, loaded, &TSI_LIST_OF(struct loaded, loaded_fields));
	tsi_code_text(codec, &loaded->input.format, &loaded->texts);
	tsi_code_chars(codec, loaded->compression, sizeof(loaded->compression));
	tsi_code_chars(codec, loaded->note, sizeof(loaded->note));
	tsi_code_chars(codec, loaded->origin.host, sizeof(loaded->origin.host));
	tsi_code_chars(codec, loaded->origin.backend, sizeof(loaded->origin.backend));
	tsi_code_chars(codec, loaded->origin.device, sizeof(loaded->origin.device));
	code_error(codec, &loaded->damage);
	tsi_code_list(codec, &loaded->merged.ranks, &loaded->merged.rank_count,
		      &TSI_LIST_OF(int64_t, rank_fields), NULL);
	if (!codec->is_reading)
		return;
	if (!loaded->input.format)
		tsi_codec_refuse(codec, "no format");
	if (loaded->input.kind == TSCOPE_INPUT_TRACE)
		loaded->input.diagnostics = loaded->diagnostics;
	if (loaded->damage.status != TSCOPE_OK)
		loaded->input.damage = &loaded->damage;
}

static void code_part(struct codec *codec, struct part_head *head, struct loaded *loaded)
{
	set_limits(codec);
	tsi_code_struct(codec, head,
			&(struct field_list){ (const struct field[]){ TSI_FIELD(
						      struct part_head, rank, 0, LIMIT_NONE) },
					      1, sizeof(*head) });
	code_error(codec, &head->error);
	if (head->error.status != TSCOPE_OK || !tsi_codec_is_good(codec))
		return;
	code_input(codec, loaded);
	tsi_code_steps(codec, &loaded->steps, &loaded->texts);
	if (loaded->input.kind == TSCOPE_INPUT_METRICS)
		tsi_code_metrics(codec, &loaded->metrics);
	tsi_code_memory_steps(codec, &loaded->memory_steps);
}

/* ---- writing ---- */

/* Puts what was coded into a frame. */
static enum tscope_status add_frame(struct rank_writer *writer, enum rank_frame_kind kind,
				    struct codec *codec, struct tscope_error *err)
{
	enum tscope_status status = tsi_codec_status(codec, err);

	if (status == TSCOPE_OK)
		status = tsi_rank_writer_add(
			writer, kind, (struct str){ (const char *)codec->bytes, codec->count },
			err);
	tsi_codec_deinit(codec);
	return status;
}

static enum tscope_status write_part(struct rank_writer *writer, const struct load *load,
				     struct tscope_error *err)
{
	struct part_head head = { load->only ? load->only->rank : -1, { 0 } };
	struct loaded *loaded = load->loaded;
	enum tscope_status status;
	struct codec codec;

	tsi_codec_write(&codec);
	if (!loaded)
		head.error = load->error;
	if (!loaded)
		head.error.status = load->status;
	code_part(&codec, &head, loaded);
	status = add_frame(writer, RANK_FRAME_PART, &codec, err);
	if (status == TSCOPE_OK && loaded && loaded->log.names.count > 0) {
		tsi_codec_write(&codec);
		tsi_code_rank_log(&codec, &loaded->log);
		status = add_frame(writer, RANK_FRAME_LOG, &codec, err);
	}
	if (status == TSCOPE_OK && loaded && loaded->analysis) {
		tsi_codec_write(&codec);
		tsi_code_analysis(&codec, &loaded->analysis);
		status = add_frame(writer, RANK_FRAME_FACTS, &codec, err);
	}
	return status;
}

enum tscope_status tsi_rank_record_write(struct rank_writer *writer,
					 const struct rank_source *source,
					 const struct load *const *loads, size_t load_count,
					 struct tscope_error *err)
{
	struct rank_source head = *source;
	struct codec codec;
	enum tscope_status status = tsi_rank_writer_begin(writer, tsi_rank_schema(), err);

	if (status != TSCOPE_OK)
		return status;
	tsi_codec_write(&codec);
	code_head(&codec, &head, NULL);
	status = add_frame(writer, RANK_FRAME_HEAD, &codec, err);
	for (size_t i = 0; i < load_count && status == TSCOPE_OK; i++)
		status = write_part(writer, loads[i], err);
	return status == TSCOPE_OK ? tsi_rank_writer_end(writer, err) : status;
}

/* ---- reading ---- */

/* A frame whose bytes are being read; they go when it ends. */
struct frame_reading {
	const struct rank_frame *frame;
	struct arena plain;
	struct codec codec;
};

static enum tscope_status begin_frame(struct frame_reading *reading, const struct rank_frame *frame,
				      struct tscope_error *err)
{
	struct str plain;

	*reading = (struct frame_reading){ .frame = frame };
	enum tscope_status status = tsi_rank_frame_unpack(frame, &plain, &reading->plain, err);
	if (status == TSCOPE_OK)
		tsi_codec_read(&reading->codec, plain.data, plain.length);
	return status;
}

/* Must follow begin_frame(), which came to this status. */
static enum tscope_status end_frame(struct frame_reading *reading, enum tscope_status status,
				    struct tscope_error *err)
{
	if (status == TSCOPE_OK)
		status = tsi_codec_status(&reading->codec, err);
	if (status == TSCOPE_E_DAMAGED && err && !err->has_offset) {
		err->has_offset = true;
		err->offset = reading->frame->offset;
		tsi_fail_within(err, "%s", tsi_rank_frame_name(reading->frame->kind));
	}
	tsi_codec_deinit(&reading->codec);
	tsi_arena_deinit(&reading->plain);
	return status;
}

enum tscope_status tsi_rank_record_open(struct rank_source *ret, struct str record,
					struct arena *arena, struct tscope_error *err)
{
	struct frame_reading reading;
	struct rank_frame frame;
	struct str *saved = tsi_arena_new(arena, 1, sizeof(*saved));

	*ret = (struct rank_source){ 0 };
	if (!saved)
		return tsi_fail_nomem(err);
	if (!tsi_rank_frame_first(record, &frame) || frame.kind != RANK_FRAME_HEAD)
		return tsi_fail_at(err, TSCOPE_E_DAMAGED, 0, "no head");
	enum tscope_status status = begin_frame(&reading, &frame, err);
	if (status == TSCOPE_OK)
		code_head(&reading.codec, ret, arena);
	*saved = record;
	ret->file.saved = saved;
	return end_frame(&reading, status, err);
}

static enum tscope_status read_log(struct loaded *loaded, const struct rank_frame *frame,
				   struct tscope_error *err)
{
	struct frame_reading reading;
	enum tscope_status status = tsi_rank_log_init(&loaded->log, err);

	if (status != TSCOPE_OK)
		return status;
	status = begin_frame(&reading, frame, err);
	if (status == TSCOPE_OK)
		tsi_code_rank_log(&reading.codec, &loaded->log);
	return end_frame(&reading, status, err);
}

static enum tscope_status read_facts(struct loaded *loaded, const struct rank_frame *frame,
				     struct tscope_error *err)
{
	struct frame_reading reading;
	enum tscope_status status = begin_frame(&reading, frame, err);

	if (status == TSCOPE_OK)
		tsi_code_analysis(&reading.codec, &loaded->analysis);
	return end_frame(&reading, status, err);
}

enum tscope_status tsi_loaded_analyse(struct loaded *loaded, struct tscope_error *err)
{
	if (loaded->analysis || loaded->saved_facts.stored.length == 0)
		return TSCOPE_OK;
	enum tscope_status status = read_facts(loaded, &loaded->saved_facts, err);
	if (status == TSCOPE_OK)
		return TSCOPE_OK;
	tsi_loaded_forget_analysis(loaded);
	tsi_fail_within(err, "%s", loaded->input.path);
	return status;
}

/* Those that nobody lets go again. */
static enum tscope_status read_all_facts(struct loaded *loaded, struct tscope_error *err)
{
	const struct rank_frame frame = loaded->saved_facts;

	loaded->saved_facts = (struct rank_frame){ 0 };
	return frame.stored.length > 0 ? read_facts(loaded, &frame, err) : TSCOPE_OK;
}

void tsi_loaded_forget_analysis(struct loaded *loaded)
{
	if (loaded->saved_facts.stored.length == 0)
		return;
	tscope_analysis_free(loaded->analysis);
	loaded->analysis = NULL;
}

/* Data of a part follows it, each kind once. */
static enum tscope_status read_rest(const struct load *load, struct loaded *loaded,
				    struct rank_frame frame, struct tscope_error *err)
{
	struct str record = *load->file.saved;
	enum tscope_status status = TSCOPE_OK;

	while (status == TSCOPE_OK && tsi_rank_frame_next(record, &frame) &&
	       frame.kind != RANK_FRAME_PART) {
		bool is_log = frame.kind == RANK_FRAME_LOG;

		if (frame.kind == RANK_FRAME_HEAD || (is_log && loaded->log.names.count > 0) ||
		    (!is_log && loaded->saved_facts.stored.length > 0))
			return tsi_fail_at(err, TSCOPE_E_DAMAGED, frame.offset,
					   "%s that does not belong here",
					   tsi_rank_frame_name(frame.kind));
		/* Not needed for a single trace. */
		if (!is_log)
			loaded->saved_facts = frame;
		else if (load->keeps_log)
			status = read_log(loaded, &frame, err);
	}
	return status;
}

/* Does it have what a file of its kind has? */
static enum tscope_status check_loaded(const struct loaded *loaded, const struct load *load,
				       struct tscope_error *err)
{
	static const enum run_file_kind kinds[TSCOPE_INPUT_KIND_COUNT] = {
		[TSCOPE_INPUT_TRACE] = RUN_FILE_TRACE,
		[TSCOPE_INPUT_STEPS] = RUN_FILE_STEPS,
		[TSCOPE_INPUT_MEMORY] = RUN_FILE_MEMORY,
		[TSCOPE_INPUT_METRICS] = RUN_FILE_METRICS,
	};
	bool has_facts = loaded->input.kind == TSCOPE_INPUT_TRACE
				 ? loaded->merged.rank_count < 2
				 : loaded->input.kind == TSCOPE_INPUT_MEMORY;

	if (kinds[loaded->input.kind] != load->file.kind ||
	    (has_facts && loaded->saved_facts.stored.length == 0) ||
	    (load->only && loaded->merged.rank_count > 0))
		return tsi_fail_at(err, TSCOPE_E_DAMAGED, 0, "lacks what its kind of file has");
	return TSCOPE_OK;
}

/* The part that a frame begins, if it is the one that is wanted. */
static enum tscope_status read_part(struct loaded *loaded, const struct load *load,
				    const struct rank_frame *frame, bool *is_wanted,
				    struct tscope_error *err)
{
	struct part_head head = { 0 };
	struct frame_reading reading;
	enum tscope_status status = begin_frame(&reading, frame, err);

	if (status == TSCOPE_OK)
		code_part(&reading.codec, &head, loaded);
	status = end_frame(&reading, status, err);
	*is_wanted = status != TSCOPE_OK || head.rank == (load->only ? load->only->rank : -1);
	if (status != TSCOPE_OK || !*is_wanted || head.error.status == TSCOPE_OK)
		return status;
	if (err)
		*err = head.error;
	return head.error.status;
}

/* The batches of a trace follow from its neighbours: those beside which it was mapped. */
static enum tscope_status check_batches(const struct load *load, struct tscope_error *err)
{
	if (load->file.kind != RUN_FILE_TRACE ||
	    (load->file.first_batch == load->file.saved_first_batch &&
	     load->file.batch_count == load->file.saved_batch_count))
		return TSCOPE_OK;
	return tsi_fail(err, TSCOPE_E_UNSUPPORTED,
			"was mapped without the folders of batches beside it, which number its "
			"steps: give tscope map the whole run, and --shard");
}

enum tscope_status tsi_rank_record_load(struct loaded *loaded, const struct load *load,
					struct tscope_error *err)
{
	struct str record = *load->file.saved;
	enum tscope_status status = check_batches(load, err);
	struct rank_frame frame;
	bool is_wanted = false;

	if (status != TSCOPE_OK)
		return status;
	for (bool is_there = tsi_rank_frame_first(record, &frame); is_there;
	     is_there = tsi_rank_frame_next(record, &frame)) {
		if (frame.kind != RANK_FRAME_PART)
			continue;
		status = read_part(loaded, load, &frame, &is_wanted, err);
		if (is_wanted)
			break;
		tsi_loaded_deinit(loaded);
		tsi_steps_init(&loaded->steps);
	}
	if (!is_wanted)
		return tsi_fail_at(err, TSCOPE_E_DAMAGED, 0, "lacks the rank that is wanted");
	if (status == TSCOPE_OK)
		status = read_rest(load, loaded, frame, err);
	if (status == TSCOPE_OK)
		status = check_loaded(loaded, load, err);
	/* Ranks of a run are asked for theirs one by one, if at all. */
	if (status == TSCOPE_OK && (!load->keeps_log || loaded->input.kind != TSCOPE_INPUT_TRACE))
		status = read_all_facts(loaded, err);
	return status;
}

/* ---- options ---- */

static bool is_zero(const char *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (bytes[i])
			return false;
	return true;
}

static enum tscope_status fail_option(const char *name, struct tscope_error *err)
{
	return tsi_fail(err, TSCOPE_E_UNSUPPORTED,
			"was mapped with another %s: give tscope map the same one, or none here",
			name);
}

/* Ours where it is set, or must be theirs. */
static bool take_text(const char **ours, const char *theirs)
{
	if (!*ours)
		*ours = theirs;
	return theirs ? strcmp(*ours, theirs) == 0 : !*ours;
}

enum tscope_status tsi_rank_options_take(struct tscope_run_options *options,
					 const struct tscope_run_options *mapped,
					 struct tscope_error *err)
{
	bool has_range = options->timeline.has_range;

	for (size_t i = 0; i < TSI_COUNT_OF(option_fields); i++) {
		const struct field *field = &option_fields[i];
		char *ours = (char *)options + field->offset;
		const char *theirs = (const char *)mapped + field->offset;

		if (i >= RANGE_AT ? !has_range : is_zero(ours, field->bytes))
			memcpy(ours, theirs, field->bytes);
		if (memcmp(ours, theirs, field->bytes) != 0)
			return fail_option(option_names[i], err);
	}
	if (!take_text(&options->timeline.step_marker, mapped->timeline.step_marker))
		return fail_option("--step-marker", err);
	if (!take_text(&options->analysis.stack_filter, mapped->analysis.stack_filter))
		return fail_option("--stack-filter", err);
	return TSCOPE_OK;
}

static bool texts_equal(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

bool tsi_rank_options_equal(const struct tscope_run_options *a, const struct tscope_run_options *b)
{
	for (size_t i = 0; i < TSI_COUNT_OF(option_fields); i++) {
		const struct field *field = &option_fields[i];

		if (memcmp((const char *)a + field->offset, (const char *)b + field->offset,
			   field->bytes) != 0)
			return false;
	}
	return texts_equal(a->timeline.step_marker, b->timeline.step_marker) &&
	       texts_equal(a->analysis.stack_filter, b->analysis.stack_filter);
}

uint32_t tsi_rank_schema(void)
{
	const char *version = tscope_version();
	const uint32_t counts[] = {
		TSCOPE_DIAGNOSTIC_COUNT, TSCOPE_BUDGET_LINE_COUNT, IDLE_CAUSE_COUNT, PHASE_COUNT,
		COLLECTIVE_KIND_COUNT,   TSCOPE_MEMORY_KIND_COUNT,
	};
	uint32_t schema = tsi_crc32c(tsi_analysis_schema(), version, strlen(version));

	/* Bytes in the machine's order would differ between machines. */
	for (size_t i = 0; i < TSI_COUNT_OF(counts); i++)
		schema = tsi_crc32c(schema, &(unsigned char){ (unsigned char)counts[i] }, 1);
	return schema;
}
