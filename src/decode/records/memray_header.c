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

static enum tscope_status refuse_version(struct memray_reader *r, int32_t version)
{
	if (version < MEMRAY_FIRST_VERSION)
		return tsi_fail(r->err, TSCOPE_E_UNSUPPORTED,
				"a memray capture of format %d, which memray %s writes: too old, "
				"formats %d to %d are read; capture again with memray 1.1 or later",
				version, version == MEMRAY_FIRST_VERSION - 1 ? "1.0" : "before 1.0",
				MEMRAY_FIRST_VERSION, MEMRAY_LAST_VERSION);
	return tsi_fail(r->err, TSCOPE_E_UNSUPPORTED,
			"a memray capture of format %d, which a memray after 1.20 writes: formats "
			"%d to %d are read; run \"memray stats --json FILE\" with the memray that "
			"wrote it, and give tscope the file that this makes",
			version, MEMRAY_FIRST_VERSION, MEMRAY_LAST_VERSION);
}

static enum tscope_status read_version(struct memray_reader *r)
{
	enum tscope_status status = tsi_memray_room(r);
	uint64_t version;

	if (status < 0)
		return status;
	if (!tsi_is_memray((struct str){ r->at, (size_t)(r->end - r->at) }))
		return r->in_status < 0 ? tsi_memray_fail_cut(r)
					: tsi_memray_fail(r, TSCOPE_E_FORMAT,
							  "does not begin as a capture does");
	r->at += sizeof(magic);
	status = tsi_memray_take_bytes(r, 4, &version);
	if (status != TSCOPE_OK)
		return status;
	r->out->header.version = (int32_t)(uint32_t)version;
	if (r->out->header.version < MEMRAY_FIRST_VERSION ||
	    r->out->header.version > MEMRAY_LAST_VERSION)
		return refuse_version(r, r->out->header.version);
	return TSCOPE_OK;
}

/* Texts up to an empty one: paths on the machine where it ran, which nobody asks for. */
static enum tscope_status skip_list(struct memray_reader *r)
{
	struct str text;
	enum tscope_status status;

	do
		status = tsi_memray_take_text(r, &text);
	while (status == TSCOPE_OK && text.length);
	return status;
}

static enum tscope_status read_text(struct memray_reader *r, enum field field)
{
	struct str unused;

	if (field == FIELD_COMMAND_LINE)
		return tsi_memray_take_name(r, &r->out->header.command_line);
	return tsi_memray_take_text(r, &unused);
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

enum tscope_status tsi_memray_read_header(struct memray_reader *r)
{
	uint64_t values[FIELD_COUNT] = { 0 };
	enum tscope_status status;

	r->record = "header";
	status = read_version(r);
	for (size_t i = 0; i < TSI_COUNT_OF(layout) && status == TSCOPE_OK; i++) {
		if (r->out->header.version < layout[i].first_version ||
		    r->out->header.version > layout[i].last_version)
			continue;
		if (layout[i].bytes == IS_TEXT)
			status = read_text(r, layout[i].field);
		else if (layout[i].bytes == IS_LIST)
			status = skip_list(r);
		else
			status =
				tsi_memray_take_bytes(r, layout[i].bytes, &values[layout[i].field]);
	}
	if (status != TSCOPE_OK)
		return status;
	if (values[FIELD_FORM] > 1)
		return tsi_memray_fail(r, TSCOPE_E_DAMAGED, "form %d; 0 and 1 are known",
				       (int)values[FIELD_FORM]);
	fill_in(&r->out->header, values);
	return TSCOPE_OK;
}
