/* SPDX-License-Identifier: MIT */
/*
 * Plain data in the logs that finetuning-scheduler writes of torch's memory trackers, as lines or
 * as tables:
 *
 *	Iteration 2 training_step Peak FSDP memory stats:
 *	Device: cuda:0                          =========  ================
 *		Sharded Param: 1024 B           Device     Sharded Param
 *		Total: 1024 B                   =========  ================
 *	                                        cuda:0     1024 B
 *
 * model/memory/memory_tracker.h documents the result. A file may end anywhere: what it says is
 * kept, and a cell that says no number of bytes is None.
 */
#include "decode/plain/plain_reader.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "decode/plain/plain_cursor.h"
#include "decode/plain/plain_graph.h"
#include "decode/plain/tracker_names.h"

/* Parts of a report. */
enum section { SECTION_PEAK, SECTION_MODULES, SECTION_COUNT };

/* Keys of what is made. */
enum tracker_key {
	KEY_TRACKER,
	KEY_ITERATION,
	KEY_FUNCTION,
	KEY_PEAK,
	KEY_MODULES,
	KEY_MODULE,
	KEY_STATE,
	KEY_CALL,
	KEY_DEVICE,
	KEY_BYTES,
	KEY_TOTAL,
	KEY_COUNT,
};

static const char *const key_texts[KEY_COUNT] = {
	[KEY_TRACKER] = "tracker", [KEY_ITERATION] = "iteration", [KEY_FUNCTION] = "function",
	[KEY_PEAK] = "peak",       [KEY_MODULES] = "modules",     [KEY_MODULE] = "module",
	[KEY_STATE] = "state",     [KEY_CALL] = "call",           [KEY_DEVICE] = "device",
	[KEY_BYTES] = "bytes",     [KEY_TOTAL] = "total",
};

enum { MAX_COLUMNS = 64 };

/* A table's column: its place in lines, and the word of its kind of memory. */
struct column {
	size_t start, end;
	enum { COLUMN_KIND, COLUMN_DEVICE, COLUMN_STATE } is;
	uint32_t kind;
};

struct tracker_reader {
	struct plain_cursor cursor;
	struct plain *plain;
	uint32_t keys[KEY_COUNT];
	uint32_t lists[SECTION_COUNT];
	enum section section;
	struct tracker_title title; /* of the report that is read; its function is the graph's */
	bool is_titled, is_skipping;

	uint32_t module, state, call; /* of the rows that follow */
	uint32_t device;              /* of the row that is being read; 0: none is */
	uint32_t total;               /* of that row; 0: not said */
	uint32_t *cells;              /* of that row: kinds and numbers by turns */
	size_t cell_count, cell_capacity;

	unsigned rule_count; /* lines of '=' of the table: its header follows the first */
	struct column columns[MAX_COLUMNS];
	size_t column_count;
	struct tscope_error err; /* the first failure ends the reading */
};

static uint32_t add_text(struct tracker_reader *r, struct str text)
{
	return tsi_graph_add_text(r->plain, WORD_TEXT, text);
}

/* ---- rows ------------------------------------------------------------------------------ */

/* An object of pairs, which are not in the graph's memory. */
static uint32_t add_dict(struct tracker_reader *r, const uint32_t *pairs, size_t count)
{
	uint32_t word = tsi_graph_add_object(r->plain, WORD_DICT);

	tsi_graph_set(r->plain, word, pairs, count);
	return word;
}

/* Puts the row that has been read, if one has, where it belongs. */
static void end_row(struct tracker_reader *r)
{
	size_t count = r->section == SECTION_MODULES ? 5 : 2;
	uint32_t pairs[2 * 6] = {
		r->keys[KEY_DEVICE], r->device, r->keys[KEY_BYTES], 0,
		r->keys[KEY_MODULE], r->module, r->keys[KEY_STATE], r->state,
		r->keys[KEY_CALL],   r->call,
	};

	if (!r->device)
		return;
	r->device = 0;
	if (r->total) {
		pairs[2 * count] = r->keys[KEY_TOTAL];
		pairs[2 * count + 1] = r->total;
		count++;
	}
	pairs[3] = add_dict(r, r->cells, r->cell_count / 2);
	uint32_t row = add_dict(r, pairs, count);
	tsi_graph_append(r->plain, r->lists[r->section], &row, 1);
}

static void begin_row(struct tracker_reader *r, struct str device)
{
	end_row(r);
	r->cell_count = 0;
	r->total = 0;
	r->device = add_text(r, device);
}

/* "12.5 MiB" in bytes, or None. */
static uint32_t add_bytes(struct tracker_reader *r, struct str text)
{
	int64_t bytes;

	if (!tsi_tracker_parse_bytes(text, &bytes))
		return WORD_NONE;
	return tsi_graph_add_int64(r->plain, bytes);
}

static uint32_t add_kind(struct tracker_reader *r, struct str text)
{
	char name[TRACKER_NAME_BYTES];
	return add_text(r, tsi_tracker_kind(text, name));
}

static void add_cell(struct tracker_reader *r, uint32_t kind, struct str text)
{
	struct str name = tsi_plain_text(r->plain, (struct plain_value){ kind });

	if (!r->device)
		return;
	if (tsi_str_is(name, "total")) {
		r->total = add_bytes(r, text);
		return;
	}
	if (tsi_array_reserve(&r->cells, &r->cell_capacity, r->cell_count + 2, sizeof(*r->cells),
			      &r->err) != TSCOPE_OK)
		return;
	r->cells[r->cell_count++] = kind;
	r->cells[r->cell_count++] = add_bytes(r, text);
}

static void set_state(struct tracker_reader *r, struct str text)
{
	char name[TRACKER_NAME_BYTES];
	r->state = add_text(r, tsi_tracker_state(text, name));
}

/* "1:" or "1" behind "# ". */
static void set_call(struct tracker_reader *r, struct str text)
{
	int64_t call;

	if (text.length && text.data[text.length - 1] == ':')
		text.length--;
	if (tsi_str_to_int64(text, &call))
		r->call = tsi_graph_add_int64(r->plain, call);
}

/* ---- lines ----------------------------------------------------------------------------- */

/* "\tSharded Param: 1024 B" */
static void take_cell(struct tracker_reader *r, struct str line)
{
	struct str text = tsi_str_trim(line);
	ptrdiff_t colon = tsi_str_find(text, TSI_STR(": "));

	if (colon < 0)
		return;
	struct str name = { text.data, (size_t)colon };
	struct str bytes = tsi_str_tail(text, (size_t)colon + 2);
	add_cell(r, add_kind(r, name), bytes);
}

/* Over `start`, if the line begins with it. */
static bool skip_start(struct str *line, struct str start)
{
	if (!tsi_str_has_prefix(*line, start))
		return false;
	*line = tsi_str_trim(tsi_str_tail(*line, start.length));
	return true;
}

/* A line of the form without tables. */
static void take_plain(struct tracker_reader *r, struct str line)
{
	if (line.data[0] == '\t') {
		take_cell(r, line);
		return;
	}
	if (skip_start(&line, TSI_STR("Device:"))) {
		begin_row(r, line);
		return;
	}
	end_row(r);
	if (tsi_str_is(line, "No memory tracked."))
		return;
	if (skip_start(&line, TSI_STR("# ")))
		set_call(r, line);
	else
		set_state(r, line);
}

/* ---- tables ---------------------------------------------------------------------------- */

/* "=====  ====": where the columns are. */
static void take_rule(struct tracker_reader *r, struct str line)
{
	size_t at = 0;

	r->rule_count++;
	if (r->rule_count % 3 != 1)
		return;
	r->column_count = 0;
	while (at < line.length && r->column_count < MAX_COLUMNS) {
		struct column column = { .start = at };
		while (at < line.length && line.data[at] == '=')
			at++;
		column.end = at;
		while (at < line.length && line.data[at] != '=')
			at++;
		r->columns[r->column_count++] = column;
	}
}

/* The last one reaches to the end of the line. */
static struct str cell_of(const struct tracker_reader *r, size_t i, struct str line)
{
	size_t start = r->columns[i].start, end = r->columns[i].end;

	if (end > line.length || i + 1 == r->column_count)
		end = line.length;
	if (start > end)
		start = end;
	return tsi_str_trim((struct str){ line.data + start, end - start });
}

static void take_header(struct tracker_reader *r, struct str line)
{
	for (size_t i = 0; i < r->column_count; i++) {
		struct column *column = &r->columns[i];
		struct str name = cell_of(r, i, line);
		if (tsi_str_is(name, "Device"))
			column->is = COLUMN_DEVICE;
		else if (tsi_str_is(name, "State & Call"))
			column->is = COLUMN_STATE;
		column->kind = add_kind(r, name);
	}
}

/*
 * "Peak-Forward # 2"; where nothing stands the state is that of the row above. tabulate writes
 * ".." for nothing in the first column of such a table.
 */
static void take_state(struct tracker_reader *r, struct str text)
{
	ptrdiff_t sign = tsi_str_find(text, TSI_STR(" # "));

	if (text.length == 0 || tsi_str_is(text, ".."))
		return;
	set_state(r, (struct str){ text.data, sign < 0 ? text.length : (size_t)sign });
	if (sign >= 0)
		set_call(r, tsi_str_tail(text, (size_t)sign + 3));
}

static void take_row(struct tracker_reader *r, struct str line)
{
	end_row(r);
	for (size_t i = 0; i < r->column_count; i++) {
		struct str cell = cell_of(r, i, line);
		if (r->columns[i].is == COLUMN_STATE)
			take_state(r, cell);
		else if (r->columns[i].is == COLUMN_DEVICE)
			begin_row(r, cell);
		else
			add_cell(r, r->columns[i].kind, cell);
	}
}

/* ---- the log --------------------------------------------------------------------------- */

/* Nothing has been said of the rows that follow. */
static void forget_state(struct tracker_reader *r)
{
	r->state = tsi_word(WORD_TEXT, 0); /* the empty one */
	r->call = tsi_word_of_small(0);
}

/* A report has two titles, of one iteration and function. Of several reports the first is read. */
static void take_title(struct tracker_reader *r, const struct tracker_title *title)
{
	end_row(r);
	uint32_t function = add_text(r, title->function);
	struct str kept = tsi_plain_text(r->plain, (struct plain_value){ function });
	bool is_same = r->is_titled && r->title.iteration == title->iteration &&
		       tsi_str_equal(r->title.function, kept);
	r->is_skipping = !is_same && r->is_titled;
	if (r->is_skipping) {
		r->plain->further_count += !title->is_modulewise;
		return;
	}
	r->title = *title;
	r->title.function = kept;
	r->is_titled = true;
	r->section = title->is_modulewise ? SECTION_MODULES : SECTION_PEAK;
	r->rule_count = 0;
	forget_state(r);
	r->module = r->state;
}

static void take_module(struct tracker_reader *r, struct str name)
{
	end_row(r);
	r->rule_count = 0;
	forget_state(r);
	r->module = add_text(r, name);
}

static bool is_bar(struct str line)
{
	return tsi_str_starts(line, "--------");
}

static void take_line(struct tracker_reader *r, struct str line)
{
	struct tracker_title title;

	if (tsi_tracker_parse_title(line, &title))
		take_title(r, &title);
	else if (!r->is_titled || r->is_skipping || is_bar(line) || tsi_str_trim(line).length == 0)
		return;
	else if (skip_start(&line, TSI_STR("Module:")))
		take_module(r, line);
	else if (line.data[0] == '=')
		take_rule(r, line);
	else if (r->rule_count % 3 == 0)
		take_plain(r, line);
	else if (r->rule_count % 3 == 1)
		take_header(r, line);
	else
		take_row(r, line);
}

static void begin(struct tracker_reader *r)
{
	tsi_cursor_skip_mark(&r->cursor);
	for (size_t i = 0; i < KEY_COUNT; i++)
		r->keys[i] = add_text(r, tsi_str_of(key_texts[i]));
	for (size_t i = 0; i < SECTION_COUNT; i++)
		r->lists[i] = tsi_graph_add_object(r->plain, WORD_LIST);
}

static void finish(struct tracker_reader *r)
{
	end_row(r);
	const uint32_t pairs[] = {
		r->keys[KEY_TRACKER],   add_text(r, TSI_STR("fsdp")),
		r->keys[KEY_ITERATION], tsi_graph_add_int64(r->plain, r->title.iteration),
		r->keys[KEY_FUNCTION],  add_text(r, r->title.function),
		r->keys[KEY_PEAK],      r->lists[SECTION_PEAK],
		r->keys[KEY_MODULES],   r->lists[SECTION_MODULES],
	};
	r->plain->root = add_dict(r, pairs, TSI_COUNT_OF(pairs) / 2);
}

static void read_lines(struct tracker_reader *r)
{
	struct str line;

	begin(r);
	while (r->err.status == TSCOPE_OK && tsi_cursor_take_line(&r->cursor, &line) == TSCOPE_OK)
		take_line(r, line);
	if (r->err.status != TSCOPE_OK)
		return;
	if (r->is_titled)
		finish(r);
	else
		tsi_fail(&r->err, TSCOPE_E_FORMAT,
			 "no memory tracker's log: no line begins as \"Iteration 0 "
			 "training_step Peak FSDP memory stats\"");
}

static enum tscope_status read_tracker(struct plain **ret, struct input *in,
				       const struct plain_limits *limits, struct tscope_error *err)
{
	struct tracker_reader r = { .plain = calloc(1, sizeof(*r.plain)) };

	if (!r.plain)
		return tsi_fail_nomem(err);
	tsi_cursor_init(&r.cursor, in, limits ? limits->max_text_bytes : 0, &r.err);
	tsi_graph_init(r.plain, limits, &r.err);
	if (r.err.status == TSCOPE_OK)
		read_lines(&r);
	free(r.cells);
	(void)tsi_cursor_place_limit(&r.cursor, r.err.status, "log");
	return tsi_graph_end(r.plain, &r.err, ret, err);
}

static unsigned taste_tracker(struct str head)
{
	struct tracker_title title;

	head = tsi_str_trim(tsi_plain_skip_mark(head));
	const char *end = head.length ? memchr(head.data, '\n', head.length) : NULL;
	if (end)
		head.length = (size_t)(end - head.data);
	return tsi_tracker_parse_title(head, &title) ? 200 : 0;
}

const struct plain_reader tsi_plain_reader_tracker = {
	.form = "text",
	.not_a_trace = "a memory tracker's log, not a trace: use `tscope memory FILE`",
	.taste = taste_tracker,
	.read = read_tracker,
};
