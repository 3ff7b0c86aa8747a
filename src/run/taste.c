/* SPDX-License-Identifier: MIT */
/*
 * Identifies a file by its first bytes: step records, metrics, maybe a trace or about memory, or
 * something else with its name. A folder may hold millions of files that are not ours, so those
 * whose names say it are not even opened.
 */
#include "run/taste.h"

#include "base/error.h"
#include "decode/foreign.h"
#include "decode/page.h"
#include "decode/plain/plain_reader.h"
#include "decode/records/memray.h"
#include "run/file_name.h"
#include "run/metrics.h"
#include "run/rank_file.h"
#include "run/store.h"

/* Endings of names, with or without a compression behind them. */
static const char *const foreign_endings[] = {
	".c",   ".cfg", ".ckpt", ".cpp",   ".cu",          ".distcp", ".docx", ".egg",     ".gif",
	".h",   ".h5",  ".ini",  ".ipynb", ".jar",         ".jpeg",   ".jpg",  ".lock",    ".md",
	".mp4", ".npy", ".npz",  ".onnx",  ".out",         ".pdf",    ".png",  ".parquet", ".pt",
	".pth", ".py",  ".pyc",  ".rst",   ".safetensors", ".sh",     ".so",   ".svg",     ".toml",
	".tsv", ".txt", ".whl",  ".xlsx",  ".xml",
};

/* Files with these endings are ours only if about memory, or a page with a trace. */
static const char *const memory_endings[] = { ".html", ".log", ".pickle", ".pkl", ".yaml", ".yml" };

/*
 * Files with these endings are ours only if they are captures of memray. Checkpoints have them,
 * too, by thousands: the first bytes decide, and no more is read.
 */
static const char *const capture_endings[] = { ".bin" };

/* Files with these endings are ours only if they hold metrics. */
static const char *const metric_endings[] = { ".csv" };

/* Files with these endings are never empty, unless their writer was killed. */
static const char *const pickle_endings[] = { ".pickle", ".pkl" };

static bool has_ending(const char *path, const char *const *endings, size_t count)
{
	struct str name = tsi_unpacked_name(path);

	for (size_t i = 0; i < count; i++)
		if (tsi_name_ends(name, tsi_str_of(endings[i])))
			return true;
	return false;
}

void tsi_run_leave_out(struct run_file *file, enum run_file_kind kind, const char *reason,
		       struct arena *arena)
{
	file->reason = tsi_arena_copy(arena, tsi_str_of(reason));
	file->kind = kind;
}

/*
 * "rank0.json": what writers of traces call theirs, and so does who points the observer of
 * execution traces at the same path, as fkat does.
 */
static bool has_name_of_trace(const char *path)
{
	struct str name = tsi_unpacked_name(tsi_base_name(path));
	size_t digits = sizeof("rank") - 1;

	if (!tsi_str_starts(name, "rank"))
		return false;
	while (digits < name.length && tsi_is_digit(name.data[digits]))
		digits++;
	struct str ending = tsi_str_tail(name, digits);
	return digits > sizeof("rank") - 1 && tsi_str_equal(ending, TSI_STR(".json"));
}

static const char saved_report[] =
	"a saved report: `tscope report` shows it alone, `tscope diff` compares it";

/* A document that is whole shows whether it has events; of a longer one its first keys may. */
static enum run_file_kind kind_of_object(const struct run_file *file, struct str head,
					 bool is_whole, struct tscope_error *why)
{
	struct json_shape shape = { 0 };

	if (tsi_is_saved_report(head)) {
		tsi_fail(why, TSCOPE_E_FORMAT, "%s", saved_report);
		return file->is_named ? RUN_FILE_REPORT : RUN_FILE_IGNORED;
	}
	tsi_json_shape_add_text(&shape, head);
	if (!tsi_json_shape_is_known(&shape) &&
	    !(is_whole && tsi_str_find(head, TSI_STR("\"traceEvents\"")) < 0 &&
	      tsi_str_find(head, TSI_STR("\\u00")) < 0))
		return RUN_FILE_TRACE;
	tsi_foreign_refuse_json(&shape, why);
	if (!tsi_json_shape_is_execution_trace(&shape) || !has_name_of_trace(file->path))
		return RUN_FILE_IGNORED;
	tsi_fail(why, TSCOPE_E_UNSUPPORTED,
		 "an execution trace (ExecutionTraceObserver) by the name of a trace: it holds no "
		 "times; fkat points its observer at the path of the trace: give it another one");
	return RUN_FILE_REFUSED;
}

/*
 * May it be a trace? Where these first bytes are certainly none, why is filled.
 */
static enum run_file_kind kind_of_json(const struct run_file *file, struct str head, bool is_whole,
				       struct tscope_error *why)
{
	const char *end = head.data + head.length;
	const char *first = tsi_skip_space(head.data + 1, end);
	struct json_shape shape = { 0 };

	if (head.data[0] == '{')
		return kind_of_object(file, head, is_whole, why);
	if ((first == end || *first == '{') &&
	    !(is_whole && tsi_str_find(head, TSI_STR("\"ph\"")) < 0))
		return RUN_FILE_TRACE;
	tsi_foreign_refuse_json(&shape, why);
	return RUN_FILE_IGNORED;
}

/* May it hold anything? So may pickles, pages, and YAML with its usual beginning. */
static bool is_of_any_kind(const struct plain_reader *reader, struct str head)
{
	return strcmp(reader->form, "pickle") == 0 || strcmp(reader->form, "html") == 0 ||
	       tsi_str_starts(head, "---") || tsi_str_starts(head, "%YAML");
}

/*
 * First words of files that we know: the first key of a snapshot, or of its first segment, the
 * container of statistics, the files of a page. In other forms the same words mean nothing.
 */
static const struct {
	const char *form;
	struct str word;
} memory_words[] = {
	{ "pickle", { "segments", 8 } },     { "pickle", { "total_size", 10 } },
	{ "pickle", { "defaultdict", 11 } }, { "yaml", { "collections.defaultdict", 23 } },
	{ "html", { "local_files", 11 } },
};

/*
 * May it be about memory? Reading a large file takes long, so one that was not named and may
 * hold anything must begin as those do that we know.
 */
static bool is_memory(struct str head, bool is_named)
{
	const struct plain_reader *reader;

	if (head.length > TASTED_PLAIN_BYTES)
		head.length = TASTED_PLAIN_BYTES;
	reader = tsi_plain_reader_find(head);
	if (!reader || strcmp(reader->form, "json") == 0)
		return false;
	if (is_named || !is_of_any_kind(reader, head))
		return true;
	for (size_t i = 0; i < TSI_COUNT_OF(memory_words); i++)
		if (strcmp(reader->form, memory_words[i].form) == 0 &&
		    tsi_str_find(head, memory_words[i].word) >= 0)
			return true;
	return false;
}

/* Does the text hold this word, with its quotes, before a colon? */
static bool has_key(struct str text, struct str quoted)
{
	const char *end = text.data + text.length;
	ptrdiff_t found;

	while ((found = tsi_str_find(text, quoted)) >= 0) {
		const char *next = text.data + found + quoted.length;
		const char *colon = tsi_skip_space(next, end);

		if (colon < end && *colon == ':')
			return true;
		text = (struct str){ next, (size_t)(end - next) };
	}
	return false;
}

/*
 * A snapshot that was dumped as JSON. Segments alone are no sign of one, since those of speech
 * are called so, too: what every segment of memory has must be with them.
 */
static bool is_json_snapshot(struct str text)
{
	struct str head = text;

	if (text.data[0] != '{' || has_key(text, TSI_STR("\"traceEvents\"")))
		return false;
	if (head.length > TASTED_PLAIN_BYTES)
		head.length = TASTED_PLAIN_BYTES;
	return has_key(head, TSI_STR("\"device_traces\"")) ||
	       (has_key(head, TSI_STR("\"segments\"")) &&
		(has_key(head, TSI_STR("\"total_size\"")) || has_key(head, TSI_STR("\"blocks\""))));
}

enum { TASTED_NUMBERS = 5 };

/* Is it the output of `memray stats --json`? */
static bool is_memray_stats(struct str text)
{
	return text.data[0] == '{' && has_key(text, TSI_STR("\"total_num_allocations\"")) &&
	       has_key(text, TSI_STR("\"total_bytes_allocated\""));
}

/* The integers that a list of JSON begins with; count is those of the whole list if it is short. */
static size_t first_numbers(const char *at, const char *end, int64_t numbers[TASTED_NUMBERS])
{
	size_t count = 0;

	while (count < TASTED_NUMBERS) {
		const char *first = tsi_skip_space(at, end), *last = first;

		while (last < end && (tsi_is_digit(*last) || *last == '-'))
			last++;
		at = tsi_skip_space(last, end);
		if (at == end || !tsi_str_to_int64((struct str){ first, (size_t)(last - first) },
						   &numbers[count]))
			break;
		if (*at != ',' && *at != ']')
			return 0;
		count++;
		if (*at++ == ']')
			break;
	}
	return count;
}

/*
 * A memory timeline is a list of lists: of times, which ascend, and of sizes; or of rows that
 * are a time, an action from 1 to 4, bytes and a category from 0 to 7.
 */
static bool is_timeline(struct str text, bool is_named)
{
	const char *end = text.data + text.length, *first = tsi_skip_space(text.data + 1, end);
	int64_t numbers[TASTED_NUMBERS];
	bool ascends = true;

	if (text.data[0] != '[' || first == end || *first != '[')
		return false;
	if (is_named)
		return true;
	size_t count = first_numbers(first + 1, end, numbers);
	if (count == 4 && numbers[1] >= 1 && numbers[1] <= 4 && numbers[3] >= 0 && numbers[3] <= 7)
		return true;
	for (size_t i = 1; i < count; i++)
		ascends &= numbers[i] >= numbers[i - 1];
	return count > 0 && numbers[0] >= 0 && ascends;
}

/* Identity of a file by its first bytes. */
struct verdict {
	enum run_file_kind kind;
	const char *loss;        /* what its writer or disk did to it, or NULL */
	struct tscope_error why; /* where it is not ours */
	const char *name;        /* what it is where that is certain, and what to do; or NULL */
	bool is_page_of_trace;   /* the one kind of page that is not about memory */
};

/* Names a file that is only a remnant; or NULL. */
static const char *loss_of_head(struct str head, bool is_whole)
{
	struct json_shape shape = { 0 };
	size_t nul_count = 0;

	while (nul_count < head.length && head.data[nul_count] == '\0')
		nul_count++;
	if (head.length == 0)
		return "the file is empty: it was never written, or its writer was killed";
	if (nul_count == head.length)
		return "holds nothing but NUL bytes: what was written never reached the disk";
	if (is_whole && tsi_str_trim(head).length == 0)
		return "holds nothing but white space: its writer was killed";
	if (tsi_str_starts(head, "\xff\xfe") || tsi_str_starts(head, "\xfe\xff"))
		return "UTF-16 text: convert it first (iconv -f UTF-16 -t UTF-8)";
	if (is_whole && head.data[0] == '\x80' && head.data[head.length - 1] != '.')
		return "a pickle that ends before its end: its writer was killed, or the copy cut";
	struct str text = tsi_str_trim(head);
	if (is_whole && tsi_str_starts(text, "{"))
		tsi_json_shape_add_text(&shape, text);
	if (shape.is_cut)
		return "ends inside its first object: its writer was killed, or the copy cut";
	return NULL;
}

static enum run_file_kind kind_of_head(struct run_file *file, struct str head, bool is_whole,
				       struct verdict *verdict)
{
	struct tscope_error *why = &verdict->why;
	struct str text = tsi_str_trim(tsi_plain_skip_mark(head));

	if (tsi_is_rank_file(head))
		return RUN_FILE_RANKS;
	file->store = tsi_store_find(head);
	if (file->store)
		return RUN_FILE_STEPS;
	file->metrics =
		tsi_metric_source_find(file->path, head, file->is_named ? 1 : METRIC_TASTE_CERTAIN);
	if (file->metrics)
		return RUN_FILE_METRICS;
	if (tsi_is_flight_recorder(text))
		return RUN_FILE_DUMP;
	if (tsi_is_memray(head) ||
	    (text.length && (is_timeline(text, file->is_named) || is_json_snapshot(text) ||
			     is_memray_stats(text))))
		return RUN_FILE_MEMORY;
	if (text.length && (text.data[0] == '{' || text.data[0] == '[') && !tsi_is_pstats(text))
		return kind_of_json(file, text, is_whole, why);
	verdict->is_page_of_trace = tsi_page_find(head)->use == PAGE_TRACE;
	if (verdict->is_page_of_trace)
		return RUN_FILE_TRACE;
	if (is_memory(head, file->is_named))
		return RUN_FILE_MEMORY;
	verdict->name = tsi_foreign_name_head(head);
	if (head.length == 0)
		tsi_fail(why, TSCOPE_E_EMPTY, "the file is empty");
	else
		tsi_foreign_refuse(head, why);
	return RUN_FILE_IGNORED;
}

/* The first bytes of a file. */
struct head {
	struct input *in; /* holds the bytes; or NULL */
	struct str bytes;
	bool is_whole;   /* the file holds no more */
	bool is_refused; /* nothing of it can be read; the verdict says why */
};

enum { LEAST_BLOCK_BYTES = 4096 };

/* Looks at so many bytes; where memory runs out the arena says so. To be followed by close. */
static struct head open_head(const struct run_file *file, const struct tscope_members *members,
			     size_t count, struct verdict *verdict, struct arena *arena)
{
	const struct input_options options = {
		.single_thread = true,
		.block_bytes = count < LEAST_BLOCK_BYTES ? LEAST_BLOCK_BYTES : count,
		.archives =
			file->is_named && members ? INPUT_SHOWS_ARCHIVES : INPUT_REFUSES_ARCHIVES,
		.members = members,
	};
	struct head head = { 0 };
	enum tscope_status status =
		tsi_input_open_file(&head.in, file->path, &options, &verdict->why);

	if (status == TSCOPE_OK)
		status = tsi_input_peek(head.in, count, &head.bytes.data, &head.bytes.length,
					&verdict->why);
	arena->has_failed |= status == TSCOPE_E_NOMEM;
	head.is_whole = status == TSCOPE_END;
	head.is_refused = status == TSCOPE_E_IO || (status < 0 && head.bytes.length == 0);
	return head;
}

static void taste_bytes(struct run_file *file, const struct tscope_members *members,
			struct verdict *verdict, struct arena *arena)
{
	struct head head = open_head(file, members, RUN_HEAD_BYTES, verdict, arena);

	verdict->kind = head.is_refused ? RUN_FILE_REFUSED
			: tsi_input_archive(head.in)
				? RUN_FILE_ARCHIVE
				: kind_of_head(file, head.bytes, head.is_whole, verdict);
	if (verdict->kind == RUN_FILE_IGNORED)
		verdict->loss = loss_of_head(head.bytes, head.is_whole);
	tsi_input_close(head.in);
}

/* As taste_bytes(), of a file that is ours only if it is a capture. */
static void taste_capture(const struct run_file *file, const struct tscope_members *members,
			  struct verdict *verdict, struct arena *arena)
{
	enum { MAGIC_BYTES = 7 };
	struct head head = open_head(file, members, MAGIC_BYTES, verdict, arena);

	verdict->kind = head.is_refused             ? RUN_FILE_REFUSED
			: tsi_is_memray(head.bytes) ? RUN_FILE_MEMORY
						    : RUN_FILE_IGNORED;
	tsi_input_close(head.in);
}

/* The kind of a file that is not ours, by its bytes or its name. */
static const char *name_foreign(const struct run_file *file, const struct verdict *verdict)
{
	const char *name = verdict->name ? verdict->name : tsi_foreign_name_path(file->path);

	return name ? name : "not a kind of file that tscope reads";
}

/*
 * A file of a folder that is not about memory, whatever its ending. An error in reading it may have
 * cost the snapshot of the rank that died, and is reported, unless it is an archive: that is a
 * checkpoint of torch.save().
 */
static void leave_out_unlike_memory(struct run_file *file, const struct verdict *verdict,
				    struct arena *arena)
{
	enum run_file_kind kind = verdict->kind;
	const struct tscope_error *why = &verdict->why;
	bool is_pickle = has_ending(file->path, pickle_endings, TSI_COUNT_OF(pickle_endings));

	if (kind == RUN_FILE_REFUSED && why->status == TSCOPE_E_UNSUPPORTED)
		tsi_run_leave_out(file, RUN_FILE_IGNORED, why->message, arena);
	else if (kind == RUN_FILE_REFUSED || (is_pickle && verdict->loss && !verdict->name))
		tsi_run_leave_out(file, RUN_FILE_REFUSED,
				  verdict->loss ? verdict->loss : why->message, arena);
	else
		tsi_run_leave_out(file, RUN_FILE_IGNORED, name_foreign(file, verdict), arena);
}

/* Should it hold the trace or the step records of a rank? A run.json is read beside these. */
static bool is_named_like_rank(const struct run_file *file)
{
	struct str name = tsi_unpacked_name(tsi_base_name(file->path));

	return !tsi_str_equal(name, TSI_STR("run.json")) &&
	       (tsi_name_ends(name, TSI_STR(".json")) || tsi_name_ends(name, TSI_STR(".jsonl"))) &&
	       (file->name_rank >= 0 || tsi_str_find_nocase(name, TSI_STR("trace")) >= 0 ||
		tsi_str_starts(name, "steps."));
}

/* Nothing in its bytes shows a format: its name may. A lost file of a rank is a problem. */
static void leave_out(struct run_file *file, const struct verdict *verdict, struct arena *arena)
{
	if (verdict->loss && is_named_like_rank(file)) {
		tsi_run_leave_out(file, RUN_FILE_REFUSED, verdict->loss, arena);
		return;
	}
	const char *name =
		verdict->why.status == TSCOPE_E_FORMAT ? tsi_foreign_name_path(file->path) : NULL;

	tsi_run_leave_out(file, verdict->kind, name ? name : verdict->why.message, arena);
}

/* Event files have a host's name at their end. */
bool tsi_is_foreign_by_name(const char *path)
{
	return has_ending(path, foreign_endings, TSI_COUNT_OF(foreign_endings)) &&
	       !tsi_metric_source_find(path, (struct str){ 0 }, METRIC_TASTE_CERTAIN);
}

/* Judges a file of a folder by its verdict and the ending of its name. */
static void judge_found(struct run_file *file, const struct verdict *verdict, struct arena *arena)
{
	enum run_file_kind kind = verdict->kind;

	if (kind == RUN_FILE_DUMP)
		file->kind = kind;
	else if (kind != RUN_FILE_MEMORY && !verdict->is_page_of_trace &&
		 (has_ending(file->path, memory_endings, TSI_COUNT_OF(memory_endings)) ||
		  has_ending(file->path, capture_endings, TSI_COUNT_OF(capture_endings))))
		leave_out_unlike_memory(file, verdict, arena);
	else if (kind != RUN_FILE_METRICS && kind != RUN_FILE_REFUSED &&
		 has_ending(file->path, metric_endings, TSI_COUNT_OF(metric_endings)))
		tsi_run_leave_out(file, RUN_FILE_IGNORED, name_foreign(file, verdict), arena);
	else if (kind == RUN_FILE_REFUSED || kind == RUN_FILE_IGNORED)
		leave_out(file, verdict, arena);
	else
		file->kind = kind;
}

/* On a failing medium the next read may return something else. */
static void keep_failure(struct run_file *file, const struct verdict *verdict, struct arena *arena)
{
	struct tscope_error *unread;

	if (verdict->kind != RUN_FILE_REFUSED || verdict->why.status != TSCOPE_E_IO)
		return;
	unread = tsi_arena_new(arena, 1, sizeof(*unread));
	if (unread)
		*unread = verdict->why;
	file->unread = unread;
}

void tsi_run_taste(struct run_file *file, const struct tscope_members *members, struct arena *arena)
{
	struct verdict verdict = { 0 };

	if (file->is_named) {
		taste_bytes(file, members, &verdict, arena);
		keep_failure(file, &verdict, arena);
		file->kind = verdict.kind == RUN_FILE_REFUSED || verdict.kind == RUN_FILE_IGNORED
				     ? RUN_FILE_TRACE
				     : verdict.kind;
		if (file->kind == RUN_FILE_REPORT)
			file->reason = saved_report;
		return;
	}
	if (tsi_is_foreign_by_name(file->path)) {
		tsi_run_leave_out(file, RUN_FILE_IGNORED, name_foreign(file, &verdict), arena);
		return;
	}
	if (has_ending(file->path, capture_endings, TSI_COUNT_OF(capture_endings)))
		taste_capture(file, members, &verdict, arena);
	else
		taste_bytes(file, members, &verdict, arena);
	keep_failure(file, &verdict, arena);
	judge_found(file, &verdict, arena);
}
