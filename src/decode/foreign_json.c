/* SPDX-License-Identifier: MIT */
/* Names JSON that is no trace by the keys of the document. One row adds one kind. */
#include "decode/foreign.h"

#include "base/attributes.h"
#include "base/error.h"
#include "decode/foreign_text.h"
#include "decode/json.h"

/* Top-level keys by which a JSON document is known. */
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
	KEY_PG_CONFIG,
	KEY_ENTRIES,
	KEY_STRING_TABLE,
	KEY_ALLOCATOR_TYPES,
	KEY_TRACE_EVENTS,
	KEY_RUN,
	KEY_FACT,
	KEY_PRE_TO_POST,
	KEY_CODE_TO_POST,
	KEY_LOG_HISTORY,
};

static const struct str known_keys[] = {
	[KEY_NODES] = TEXT("nodes"),
	[KEY_SCHEMA] = TEXT("schema"),
	[KEY_SEGMENTS] = TEXT("segments"),
	[KEY_DEVICE_TRACES] = TEXT("device_traces"),
	[KEY_DOLLAR_SCHEMA] = TEXT("$schema"),
	[KEY_PROFILES] = TEXT("profiles"),
	[KEY_SAMPLES] = TEXT("samples"),
	[KEY_TIME_DELTAS] = TEXT("timeDeltas"),
	[KEY_STEP] = TEXT("step"),
	[KEY_PHASES] = TEXT("phases"),
	[KEY_CELLS] = TEXT("cells"),
	[KEY_PG_CONFIG] = TEXT("pg_config"),
	[KEY_ENTRIES] = TEXT("entries"),
	[KEY_STRING_TABLE] = TEXT("string_table"),
	[KEY_ALLOCATOR_TYPES] = TEXT("allocator_type_distribution"),
	[KEY_TRACE_EVENTS] = TEXT("traceEvents"),
	[KEY_RUN] = TEXT("run"),
	[KEY_FACT] = TEXT("fact"),
	[KEY_PRE_TO_POST] = TEXT("preToPost"),
	[KEY_CODE_TO_POST] = TEXT("cppCodeToPost"),
	[KEY_LOG_HISTORY] = TEXT("log_history"),
};

struct foreign_json {
	uint32_t keys; /* all of these */
	const char *text;
};

#define HAS(key) (UINT32_C(1) << KEY_##key)

enum { DOCUMENT_EXECUTION_TRACE };

static const struct foreign_json documents[] = {
	[DOCUMENT_EXECUTION_TRACE] = { HAS(SCHEMA) | HAS(NODES),
				       "an execution trace (ExecutionTraceObserver), not a "
				       "profiler trace: it holds no times; "
				       "record with torch.profiler and export_chrome_trace()" },
	{ HAS(SEGMENTS) | HAS(DEVICE_TRACES),
	  "a CUDA allocator snapshot dumped as JSON, not a trace: use `tscope memory FILE`" },
	{ HAS(DOLLAR_SCHEMA) | HAS(PROFILES),
	  "a profile in speedscope's own format, not a Chrome trace" },
	{ HAS(NODES) | HAS(SAMPLES) | HAS(TIME_DELTAS),
	  "a V8 CPU profile (.cpuprofile), not a Chrome trace" },
	{ HAS(STEP) | HAS(PHASES), "a pytscope step log (steps.jsonl), not a trace" },
	{ HAS(RUN) | HAS(FACT), "a history of runs (--format metrics): use `tscope trend FILE`" },
	{ HAS(CELLS), "a Jupyter notebook, not a trace" },
	{ HAS(PG_CONFIG) | HAS(ENTRIES), FLIGHT_RECORDER },
	{ HAS(STRING_TABLE), TORCH_TRACE },
	{ HAS(PRE_TO_POST) | HAS(CODE_TO_POST),
	  "the nodes that Inductor's kernels were made of (INDUCTOR_PROVENANCE), not a trace: it "
	  "names no lines; torch._inductor.profiler.inductor_trace_handler() writes them into "
	  "kernels of a trace" },
	{ HAS(ALLOCATOR_TYPES),
	  "statistics of memray (memray stats --json), not a trace: use `tscope memory FILE`" },
	{ HAS(LOG_HISTORY),
	  "a state of the Trainer, which holds metrics by step: use `tscope report FILE`" },
};

void tsi_json_shape_add_key(struct json_shape *shape, struct str key)
{
	for (size_t i = 0; i < TSI_COUNT_OF(known_keys); i++)
		if (tsi_str_equal(key, known_keys[i]))
			shape->keys |= UINT32_C(1) << i;
}

/* Parses the string whose opening quote p is; returns its closing quote, or end. */
static const char *add_string(struct json_shape *shape, const char *p, const char *end, bool is_top)
{
	struct str key = { p + 1, 0 };
	char plain[JSON_KEY_MAX];

	p = tsi_json_string_end(p + 1, end);
	if (p == end)
		return end;
	key.length = (size_t)(p - key.data);
	const char *next = tsi_skip_space(p + 1, end);
	if (is_top && next < end && *next == ':')
		tsi_json_shape_add_key(shape, tsi_json_plain_key(key, plain));
	return p;
}

void tsi_json_shape_add_text(struct json_shape *shape, struct str text)
{
	const char *p = text.data, *end = text.data + text.length;
	size_t depth = 0;

	for (; p < end; p++) {
		if (*p == '"' && (p = add_string(shape, p, end, depth == 1)) == end)
			break;
		depth += *p == '{' || *p == '[';
		if ((*p == '}' || *p == ']') && depth-- <= 1)
			break;
	}
	shape->is_cut = p == end && depth > 0;
	p = p < end ? tsi_skip_space(p + 1, end) : end;
	shape->is_lines = p < end && *p == '{';
}

/* The first document that has these keys, or NULL. */
static const struct foreign_json *find_document(const struct json_shape *shape)
{
	for (size_t i = 0; i < TSI_COUNT_OF(documents); i++)
		if ((shape->keys & documents[i].keys) == documents[i].keys)
			return &documents[i];
	return NULL;
}

bool tsi_json_shape_is_known(const struct json_shape *shape)
{
	return !(shape->keys & HAS(TRACE_EVENTS)) && find_document(shape);
}

bool tsi_json_shape_is_execution_trace(const struct json_shape *shape)
{
	return !(shape->keys & HAS(TRACE_EVENTS)) &&
	       find_document(shape) == &documents[DOCUMENT_EXECUTION_TRACE];
}

enum tscope_status tsi_foreign_refuse_json(const struct json_shape *shape, struct tscope_error *err)
{
	if (shape->is_array_of_rows)
		return tsi_fail(err, TSCOPE_E_UNSUPPORTED,
				"a memory timeline (export_memory_timeline), not a trace: use "
				"`tscope memory FILE`");
	const struct foreign_json *document = find_document(shape);
	if (document)
		return tsi_fail(err, TSCOPE_E_UNSUPPORTED, "%s", document->text);
	if (shape->is_lines)
		return tsi_fail(err, TSCOPE_E_FORMAT,
				"JSON lines without traceEvents, not a trace");
	return tsi_fail(err, TSCOPE_E_FORMAT,
			"JSON without traceEvents: neither a Chrome trace nor a PyTorch trace");
}
