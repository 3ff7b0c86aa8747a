/* SPDX-License-Identifier: MIT */
/*
 * Naming what is not read. Users hand over what lies in the directory: a
 * snapshot, an execution trace, a log. "Invalid JSON" helps nobody; the name
 * of the thing and the next step do. One row of a table adds one kind.
 */
#include "decode/foreign.h"

#include "base/attributes.h"
#include "base/error.h"
#include "decode/foreign_text.h"
#include "decode/json.h"
#include "decode/page.h"
#include "decode/plain/plain_reader.h"
#include "decode/records/record_file.h"
#include "decode/records/text_rows.h"

#include <stdio.h>
#include <string.h>

/* Kinds known by how they begin and, where that is not enough, by a word that follows. */
struct foreign_head {
	struct str magic, word;
	const char *text;
};

static const struct foreign_head heads[] = {
	/* Version 1, and what its first record is: calls, the name of a process, of a thread. */
	{ TEXT("\1\0\0\0\0\0\0\0\1"), TEXT(""), CVF },
	{ TEXT("\1\0\0\0\0\0\0\0\2"), TEXT(""), CVF },
	{ TEXT("\1\0\0\0\0\0\0\0\3"), TEXT(""), CVF },
	{ TEXT("\x89TSR\r\n"), TEXT(""),
	  "ranks of a run that `tscope map` read: use `tscope report FILE`" },
	{ TEXT("memray\0"), TEXT(""), "a memray capture, not a trace: use `tscope memory FILE`" },
	{ TEXT("\xff\xfe"), TEXT(""), "UTF-16 text: convert it first (iconv -f UTF-16 -t UTF-8)" },
	{ TEXT("\xfe\xff"), TEXT(""), "UTF-16 text: convert it first (iconv -f UTF-16 -t UTF-8)" },
	{ TEXT("SQLite format 3"), TEXT("CUPTI_ACTIVITY_KIND_"), NSYS },
	{ TEXT("SQLite format 3"), TEXT("experiment_tags"), MLFLOW_DATABASE },
	/* Keys of a run and of an experiment, in alphabetical order. */
	{ TEXT("artifact_"), TEXT("\nlifecycle_stage: "), MLFLOW_META },
	{ TEXT("experiment_id: "), TEXT("\nlifecycle_stage: "), MLFLOW_META },
	{ TEXT("NVIDIA"), TEXT(""), NSYS },
	{ TEXT("QDREP"), TEXT(""), NSYS },
	{ TEXT("NVR\0"), TEXT(""), NCU },
	{ TEXT("PERFILE2"), TEXT(""), PERF },
	{ TEXT(":W&B"), TEXT(""), WANDB },
	{ TEXT("{\xa9\3"), TEXT(""), PSTATS },
	{ TEXT("{)\3"), TEXT(""), PSTATS },
	{ TEXT("\xfb\xa9\3"), TEXT(""), PSTATS },
	{ TEXT("\xfb)\3"), TEXT(""), PSTATS },
	{ TEXT("\x80"), TEXT("pg_config"), FLIGHT_RECORDER },
	{ TEXT("\x80"), TEXT("nccl_version"), FLIGHT_RECORDER },
	{ TEXT("\n"), TEXT("/host:CPU"), XPLANE },
	{ TEXT(""), TEXT("Self CPU %"), SUMMARY },
	{ TEXT(""), TEXT(" Profiler Report\n"), SUMMARY },
};

/* The kind of file that the caller asked for. */
struct wanted {
	const char *what, *expected;
};

/* Without what follows the first line, if there is anything in that. */
static struct str first_line(struct str head)
{
	const char *end = head.length ? memchr(head.data, '\n', head.length) : NULL;

	return end && end != head.data ? (struct str){ head.data, (size_t)(end - head.data) }
				       : head;
}

/* Shows the first bytes: as text where they are, else in hexadecimal. */
static enum tscope_status refuse_unknown(struct str head, const struct wanted *wanted,
					 struct tscope_error *err)
{
	enum { SHOWN = 16 };
	char shown[3 * SHOWN + 1] = "";
	size_t used = 0;
	bool is_text = true;
	head = first_line(head);
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

/* Collapsed stacks: "frame;frame 17". */
static bool is_stacks(struct str head)
{
	struct str line = first_line(head);
	size_t digits = 0;

	if (line.length == head.length)
		return false; /* it may go on */
	while (digits < line.length && tsi_is_digit(line.data[line.length - 1 - digits]))
		digits++;
	return digits > 0 && digits < line.length && line.data[line.length - 1 - digits] == ' ' &&
	       memchr(line.data, ';', line.length - digits);
}

/* Names of columns, of which one is "step". */
static bool is_metric_table(struct str head)
{
	const char *end = head.length ? memchr(head.data, '\n', head.length) : NULL;
	struct csv_cells cells =
		tsi_csv_cells((struct str){ head.data, end ? (size_t)(end - head.data) : 0 });
	bool has_step = false;
	size_t count = 0;
	struct str name;

	for (; tsi_csv_next(&cells, &name); count++)
		has_step |= tsi_str_equal_nocase(name, TSI_STR("step"));
	return has_step && count > 1;
}

const char *tsi_foreign_name_head(struct str head)
{
	for (size_t i = 0; i < TSI_COUNT_OF(heads); i++)
		if (tsi_str_has_prefix(head, heads[i].magic) &&
		    tsi_str_find(head, heads[i].word) >= 0)
			return heads[i].text;
	const struct page *page = tsi_page_find(head);
	if (page->use == PAGE_FOREIGN)
		return page->what;
	if (tsi_is_event_file(head))
		return EVENT_FILE;
	if (is_metric_table(head))
		return METRIC_TABLE;
	return is_stacks(head) ? STACKS : NULL;
}

/* In JSON a dict of groups: traces have a list of them. */
static bool has_groups(struct str text)
{
	const char *end = text.data + text.length;
	ptrdiff_t found = tsi_str_find(text, TSI_STR("\"pg_config\""));

	if (found < 0)
		return false;
	const char *at = tsi_skip_space(text.data + found + sizeof("\"pg_config\"") - 1, end);
	if (at == end || *at != ':')
		return false;
	at = tsi_skip_space(at + 1, end);
	return at < end && *at == '{';
}

bool tsi_is_flight_recorder(struct str head)
{
	bool is_json = tsi_str_starts(head, "{");

	if (!is_json && !tsi_str_starts(head, "\x80"))
		return false;
	return (is_json ? has_groups(head) : tsi_str_find(head, TSI_STR("pg_config")) >= 0) ||
	       tsi_str_find(head, TSI_STR("collective_seq_id")) >= 0 ||
	       tsi_str_find(head, TSI_STR("profiling_name")) >= 0;
}

static enum tscope_status refuse(struct str head, const struct wanted *wanted,
				 struct tscope_error *err)
{
	const char *text = tsi_foreign_name_head(head);
	if (text)
		return tsi_fail(err, TSCOPE_E_UNSUPPORTED, "%s", text);

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
	const struct page *page = tsi_page_find(head);
	const char *name = tsi_foreign_name_head(head);

	if (name)
		return tsi_fail(err, TSCOPE_E_UNSUPPORTED, "%s", name);
	if (page->use != PAGE_NONE)
		return tsi_fail(err, TSCOPE_E_UNSUPPORTED, "%s", page->what);
	if (reader && reader->not_a_trace)
		return tsi_fail(err, TSCOPE_E_UNSUPPORTED, "%s", reader->not_a_trace);
	return refuse(head, &trace, err);
}

enum tscope_status tsi_foreign_refuse_memory(struct str head, struct tscope_error *err)
{
	static const struct wanted memory = {
		"a file about memory", "a pickle, JSON, YAML, a page of torch's memory_viz, a "
				       "memory tracker's log or a memray capture"
	};
	return refuse(head, &memory, err);
}

bool tsi_is_saved_report(struct str head)
{
	/* Seldom: most files are traces, and the search is faster than a look at each key. */
	if (tsi_str_find(head, TSI_STR("\"schema_version\"")) < 0)
		return false;
	head = tsi_plain_skip_mark(head);
	struct str version = tsi_json_object_get(head, TSI_STR("schema_version"));
	struct str tool = tsi_json_object_get(head, TSI_STR("tool"));
	struct str name = tsi_json_unquote(tsi_json_object_get(tool, TSI_STR("name")));

	return version.length > 0 && tsi_str_is(name, "tscope");
}
