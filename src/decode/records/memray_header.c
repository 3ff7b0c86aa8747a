/* SPDX-License-Identifier: MIT */
/* The header of a memray capture: which fields it has depends on the version of the format. */
#include "decode/records/memray_reader.h"

#include "base/error.h"

static const char magic[] = "memray"; /* with its NUL */

enum field {
	FIELD_PYTHON_VERSION,
	FIELD_NATIVE,
	FIELD_FORM,
	FIELD_RECORDS,
	FIELD_FRAMES,
	FIELD_START,
	FIELD_END,
	FIELD_COMMAND_LINE,
	FIELD_PID,
	FIELD_MAIN_TID,
	FIELD_SKIPPED,
	FIELD_PYTHON_ALLOCATOR,
	FIELD_TRACES_PYTHON,
	FIELD_LIFETIMES,
	FIELD_PREFIX,
	FIELD_SITE_PACKAGES,
	FIELD_SEARCH_PATH,
	FIELD_COUNT,
};

enum { IS_TEXT = 0, IS_LIST = 16 }; /* instead of a number's bytes; a list ends with "" */

/* In the order of the file. */
static const struct {
	unsigned char field, bytes, first_version, last_version;
} layout[] = {
	{ FIELD_PYTHON_VERSION, 4, 12, 13 },
	{ FIELD_NATIVE, 1, 7, 13 },
	{ FIELD_FORM, 1, 10, 13 },
	{ FIELD_RECORDS, 8, 7, 13 },
	{ FIELD_FRAMES, 8, 7, 13 },
	{ FIELD_START, 8, 7, 13 },
	{ FIELD_END, 8, 7, 13 },
	{ FIELD_COMMAND_LINE, IS_TEXT, 7, 13 },
	{ FIELD_PID, 4, 7, 13 },
	{ FIELD_MAIN_TID, 8, 9, 13 },
	{ FIELD_SKIPPED, 8, 9, 13 },
	{ FIELD_PYTHON_ALLOCATOR, 4, 7, 7 },
	{ FIELD_PYTHON_ALLOCATOR, 1, 8, 13 },
	{ FIELD_TRACES_PYTHON, 1, 11, 13 },
	{ FIELD_LIFETIMES, 1, 12, 13 },
	{ FIELD_PREFIX, IS_TEXT, 13, 13 },
	{ FIELD_SITE_PACKAGES, IS_LIST, 13, 13 },
	{ FIELD_SEARCH_PATH, IS_LIST, 13, 13 },
};

bool tsi_is_memray(struct str head)
{
	return tsi_str_has_prefix(head, (struct str){ magic, sizeof(magic) });
}

static void refuse_version(struct memray_reader *r, int32_t version)
{
	if (version < MEMRAY_FIRST_VERSION)
		tsi_fail(&r->err, TSCOPE_E_UNSUPPORTED,
			 "a memray capture of format %d, which memray %s writes: too old, formats "
			 "%d to %d are read; capture again with memray 1.1 or later",
			 version, version == MEMRAY_FIRST_VERSION - 1 ? "1.0" : "before 1.0",
			 MEMRAY_FIRST_VERSION, MEMRAY_LAST_VERSION);
	else
		tsi_fail(&r->err, TSCOPE_E_UNSUPPORTED,
			 "a memray capture of format %d, which a memray after 1.20 writes: formats "
			 "%d to %d are read; run \"memray stats --json FILE\" with the memray that "
			 "wrote it, and give tscope the file that this makes",
			 version, MEMRAY_FIRST_VERSION, MEMRAY_LAST_VERSION);
}

static void read_version(struct memray_reader *r)
{
	if (!tsi_memray_room(r) && tsi_memray_has_failed(r))
		return;
	if (!tsi_is_memray((struct str){ r->at, (size_t)(r->end - r->at) })) {
		if (r->in_status < 0)
			tsi_memray_fail_cut(r);
		else
			tsi_memray_fail(r, TSCOPE_E_FORMAT, "does not begin as a capture does");
		return;
	}
	r->at += sizeof(magic);
	int32_t version = (int32_t)(uint32_t)tsi_memray_take_bytes(r, 4);
	r->out->header.version = version;
	if (!tsi_memray_has_failed(r) &&
	    (version < MEMRAY_FIRST_VERSION || version > MEMRAY_LAST_VERSION))
		refuse_version(r, version);
}

/* Texts up to an empty one: paths on the machine where it ran, which nobody asks for. */
static void skip_list(struct memray_reader *r)
{
	while (tsi_memray_take_text(r).length)
		;
}

static void read_text(struct memray_reader *r, enum field field)
{
	if (field == FIELD_COMMAND_LINE)
		r->out->header.command_line = tsi_memray_take_name(r);
	else
		(void)tsi_memray_take_text(r);
}

static void fill_in(struct memray_header *header, const uint64_t *values)
{
	header->python_version = (int32_t)(uint32_t)values[FIELD_PYTHON_VERSION];
	header->has_native_stacks = values[FIELD_NATIVE] != 0;
	header->is_aggregated = values[FIELD_FORM] == 1;
	header->traces_python_allocators = values[FIELD_TRACES_PYTHON] != 0;
	header->tracks_lifetimes = values[FIELD_LIFETIMES] != 0;
	header->record_count = values[FIELD_RECORDS];
	header->frame_count = values[FIELD_FRAMES];
	header->start_ms = (int64_t)values[FIELD_START];
	header->end_ms = (int64_t)values[FIELD_END];
	header->pid = (int32_t)(uint32_t)values[FIELD_PID];
	header->main_tid = values[FIELD_MAIN_TID];
	header->skipped_frames = values[FIELD_SKIPPED];
}

void tsi_memray_read_header(struct memray_reader *r)
{
	uint64_t values[FIELD_COUNT] = { 0 };

	r->record = "header";
	read_version(r);
	for (size_t i = 0; i < TSI_COUNT_OF(layout); i++) {
		if (r->out->header.version < layout[i].first_version ||
		    r->out->header.version > layout[i].last_version)
			continue;
		if (layout[i].bytes == IS_TEXT)
			read_text(r, layout[i].field);
		else if (layout[i].bytes == IS_LIST)
			skip_list(r);
		else
			values[layout[i].field] = tsi_memray_take_bytes(r, layout[i].bytes);
	}
	if (values[FIELD_FORM] > 1)
		tsi_memray_fail(r, TSCOPE_E_DAMAGED, "form %d; 0 and 1 are known",
				(int)values[FIELD_FORM]);
	if (!tsi_memray_has_failed(r))
		fill_in(&r->out->header, values);
}
