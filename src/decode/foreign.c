/* SPDX-License-Identifier: MIT */
/*
 * Naming what is not read. Users hand over what lies in the directory: a
 * snapshot, an execution trace, a log. "Invalid JSON" helps nobody; the name
 * of the thing and the next step do. One row of a table adds one kind.
 */
#include "decode/foreign.h"

#include "base/attributes.h"
#include "base/error.h"
#include "decode/plain_reader.h"

#include <stdio.h>

/* Kinds known by how they begin. */
struct foreign_magic {
	struct str magic;
	const char *text;
};

#define MAGIC(literal)                                                                             \
	{                                                                                          \
		literal, sizeof(literal) - 1                                                       \
	}

static const struct foreign_magic magics[] = {
	{ MAGIC("memray\0"), "a memray capture: see `memray stats` or `memray tree`" },
	{ MAGIC("\xff\xfe"), "UTF-16 text: convert it first (iconv -f UTF-16 -t UTF-8)" },
	{ MAGIC("\xfe\xff"), "UTF-16 text: convert it first (iconv -f UTF-16 -t UTF-8)" },
};

/* Top-level keys that tell what a JSON document is. */
enum {
	KEY_NODES,
	KEY_SCHEMA,
	KEY_SEGMENTS,
	KEY_DEVICE_TRACES,
	KEY_DOLLAR_SCHEMA,
	KEY_PROFILES,
	KEY_SAMPLES,
	KEY_TIME_DELTAS,
	KEY_STEP,
	KEY_PHASES,
	KEY_CELLS,
};

static const struct str known_keys[] = {
	[KEY_NODES] = MAGIC("nodes"),
	[KEY_SCHEMA] = MAGIC("schema"),
	[KEY_SEGMENTS] = MAGIC("segments"),
	[KEY_DEVICE_TRACES] = MAGIC("device_traces"),
	[KEY_DOLLAR_SCHEMA] = MAGIC("$schema"),
	[KEY_PROFILES] = MAGIC("profiles"),
	[KEY_SAMPLES] = MAGIC("samples"),
	[KEY_TIME_DELTAS] = MAGIC("timeDeltas"),
	[KEY_STEP] = MAGIC("step"),
	[KEY_PHASES] = MAGIC("phases"),
	[KEY_CELLS] = MAGIC("cells"),
};

struct foreign_json {
	uint32_t keys; /* all of these */
	const char *text;
};

#define HAS(key) (UINT32_C(1) << KEY_##key)

static const struct foreign_json documents[] = {
	{ HAS(SCHEMA) | HAS(NODES),
	  "an execution trace (ExecutionTraceObserver), not a profiler trace: it holds no times; "
	  "record with torch.profiler and export_chrome_trace()" },
	{ HAS(SEGMENTS) | HAS(DEVICE_TRACES),
	  "a CUDA allocator snapshot dumped as JSON, not a trace: use `tscope memory FILE`" },
	{ HAS(DOLLAR_SCHEMA) | HAS(PROFILES),
	  "a profile in speedscope's own format, not a Chrome trace" },
	{ HAS(NODES) | HAS(SAMPLES) | HAS(TIME_DELTAS),
	  "a V8 CPU profile (.cpuprofile), not a Chrome trace" },
	{ HAS(STEP) | HAS(PHASES), "a pytscope step log (steps.jsonl), not a trace" },
	{ HAS(CELLS), "a Jupyter notebook, not a trace" },
};

/* What a file should have been. */
struct wanted {
	const char *what, *expected;
};

/* Shows the first bytes: as text where they are, else in hexadecimal. */
static enum tscope_status refuse_unknown(struct str head, const struct wanted *wanted,
					 struct tscope_error *err)
{
	enum { SHOWN = 16 };
	char shown[3 * SHOWN + 1] = "";
	size_t used = 0;
	bool is_text = true;
	head.length = head.length < SHOWN ? head.length : SHOWN;
	for (size_t i = 0; i < head.length; i++) {
		is_text &= head.data[i] >= ' ' && head.data[i] <= '~';
		used += (size_t)snprintf(shown + used, sizeof(shown) - used, " %02x",
					 (unsigned)(unsigned char)head.data[i]);
	}
	if (is_text)
		return tsi_fail_at(err, TSCOPE_E_FORMAT, 0, "not %s: expected %s, found \"%.*s\"",
				   wanted->what, wanted->expected, TSI_QUOTE(head));
	return tsi_fail_at(err, TSCOPE_E_FORMAT, 0, "not %s: expected %s, found bytes%s",
			   wanted->what, wanted->expected, shown);
}

static enum tscope_status refuse(struct str head, const struct wanted *wanted,
				 struct tscope_error *err)
{
	for (size_t i = 0; i < TSI_COUNT_OF(magics); i++)
		if (tsi_str_has_prefix(head, magics[i].magic))
			return tsi_fail(err, TSCOPE_E_UNSUPPORTED, "%s", magics[i].text);

	const char *name = tsi_input_name_of_magic(head.data, head.length);
	if (name)
		return tsi_fail(err, TSCOPE_E_UNSUPPORTED, "%s, not %s", name, wanted->what);
	if (head.length == 0)
		return tsi_fail(err, TSCOPE_E_EMPTY, "the file is empty");
	if (tsi_str_trim(head).length == 0)
		return tsi_fail(err, TSCOPE_E_EMPTY, "the file holds nothing but white space");
	return refuse_unknown(head, wanted, err);
}

enum tscope_status tsi_foreign_refuse(struct str head, struct tscope_error *err)
{
	static const struct wanted trace = { "a trace", "JSON that begins with { or [" };
	const struct plain_reader *reader = tsi_plain_reader_find(head);

	if (reader && reader->not_a_trace)
		return tsi_fail(err, TSCOPE_E_UNSUPPORTED, "%s", reader->not_a_trace);
	return refuse(head, &trace, err);
}

enum tscope_status tsi_foreign_refuse_memory(struct str head, struct tscope_error *err)
{
	static const struct wanted memory = {
		"a file about memory", "a pickle, JSON, YAML, a page of torch's memory_viz or a "
				       "memory tracker's log"
	};
	return refuse(head, &memory, err);
}

void tsi_json_shape_add_key(struct json_shape *shape, struct str key)
{
	for (size_t i = 0; i < TSI_COUNT_OF(known_keys); i++)
		if (tsi_str_equal(key, known_keys[i]))
			shape->keys |= UINT32_C(1) << i;
}

enum tscope_status tsi_foreign_refuse_json(const struct json_shape *shape, struct tscope_error *err)
{
	if (shape->is_array_of_rows)
		return tsi_fail(err, TSCOPE_E_UNSUPPORTED,
				"a memory timeline (export_memory_timeline), not a trace: use "
				"`tscope memory FILE`");
	for (size_t i = 0; i < TSI_COUNT_OF(documents); i++)
		if ((shape->keys & documents[i].keys) == documents[i].keys)
			return tsi_fail(err, TSCOPE_E_UNSUPPORTED, "%s", documents[i].text);
	if (shape->is_lines)
		return tsi_fail(err, TSCOPE_E_FORMAT,
				"JSON lines without traceEvents, not a trace");
	return tsi_fail(err, TSCOPE_E_FORMAT,
			"JSON without traceEvents: neither a Chrome trace nor a PyTorch trace");
}
