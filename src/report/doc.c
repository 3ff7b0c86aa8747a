/* SPDX-License-Identifier: MIT */
/* The nodes of a document, appended one by one. */
#include "report/doc.h"

#include <assert.h>
#include <string.h>

#include "base/print_text.h"

struct doc_node *tsi_doc_add(struct doc *doc, const struct doc_node *node)
{
	struct doc_node *copy = tsi_arena_new(&doc->arena, 1, sizeof(*copy));

	if (!copy)
		return NULL;
	*copy = *node;
	if (doc->last)
		doc->last->next = copy;
	else
		doc->first = copy;
	doc->last = copy;
	return copy;
}

/* For texts that a builder may have put together. */
static const char *copy_text(struct doc *doc, const char *text)
{
	return text ? tsi_arena_copy(&doc->arena, tsi_str_of(text)) : NULL;
}

void tsi_doc_name(struct doc *doc, enum doc_place place, const char *tag, const char *name)
{
	struct doc_node *node = tsi_doc_add(
		doc, &(struct doc_node){ .kind = DOC_NODE_NAME,
					 .name = { place, tag, copy_text(doc, name) } });

	if (node && place == DOC_PART)
		doc->part = node;
}

void tsi_doc_cut(struct doc *doc, struct doc_node *last)
{
	doc->last = last;
	last->next = NULL;
}

struct doc_line *tsi_doc_items(struct doc *doc, enum doc_role role, enum doc_tone tone,
			       const char *tag)
{
	struct doc_node *node = tsi_doc_add(
		doc, &(struct doc_node){
			     .kind = DOC_NODE_LINE,
			     .line = { .role = role, .tone = tone, .tag = copy_text(doc, tag) } });

	return node ? &node->line : NULL;
}

void tsi_doc_line(struct doc *doc, enum doc_role role, enum doc_tone tone, const char *tag,
		  const char *format, ...)
{
	struct doc_line *line = tsi_doc_items(doc, role, tone, tag);
	va_list values;

	va_start(values, format);
	if (line)
		line->text = tsi_arena_vprint(&doc->arena, format, values);
	va_end(values);
}

void tsi_doc_note(struct doc *doc, const char *format, ...)
{
	struct doc_line *line = tsi_doc_items(doc, DOC_NOTE, DOC_PLAIN, NULL);
	va_list values;

	va_start(values, format);
	if (line)
		line->text = tsi_arena_vprint(&doc->arena, format, values);
	va_end(values);
}

static struct doc_item *add_item(struct doc *doc, struct doc_line *line)
{
	if (!line)
		return NULL;
	return tsi_arena_push(&doc->arena, &line->items, &line->item_count, &line->item_capacity,
			      sizeof(*line->items));
}

void tsi_doc_item(struct doc *doc, struct doc_line *line, const char *format, ...)
{
	struct doc_item *item = add_item(doc, line);
	va_list values;

	va_start(values, format);
	if (item)
		item->text = tsi_arena_vprint(&doc->arena, format, values);
	va_end(values);
}

void tsi_doc_figure(struct doc *doc, struct doc_line *line, const char *label,
		    struct tscope_value value, enum tscope_unit unit)
{
	struct doc_item *item = add_item(doc, line);

	if (!item)
		return;
	item->label = label;
	item->value = value;
	item->unit = unit;
}

void tsi_doc_meter(struct doc *doc, const struct doc_meter *meter)
{
	struct doc_node *node =
		tsi_doc_add(doc, &(struct doc_node){ .kind = DOC_NODE_METER, .meter = *meter });

	if (node)
		node->meter.label = copy_text(doc, meter->label);
}

const void *tsi_doc_copy(struct doc *doc, const void *item, size_t bytes)
{
	void *room = tsi_arena_new(&doc->arena, 1, bytes);

	return room ? memcpy(room, item, bytes) : NULL;
}

void tsi_doc_series(struct doc *doc, const struct doc_series *series)
{
	if (series->source)
		(void)tsi_doc_add(doc,
				  &(struct doc_node){ .kind = DOC_NODE_SERIES, .series = *series });
}

struct doc_table *tsi_doc_table(struct doc *doc, const struct doc_column *columns, size_t count)
{
	struct doc_node *node = tsi_doc_add(
		doc, &(struct doc_node){ .kind = DOC_NODE_TABLE, .table.column_count = count });

	assert(count <= DOC_MAX_COLUMNS);
	if (!node)
		return NULL;
	memcpy(node->table.columns, columns, count * sizeof(*columns));
	return &node->table;
}

struct doc_row *tsi_doc_row(struct doc *doc, struct doc_table *table)
{
	struct doc_cell *cells =
		table ? tsi_arena_new(&doc->arena, table->column_count, sizeof(*cells)) : NULL;
	struct doc_row *row;

	if (!cells)
		return NULL;
	row = tsi_arena_push(&doc->arena, &table->rows, &table->row_count, &table->row_capacity,
			     sizeof(*row));
	if (row)
		row->cells = cells;
	return row;
}

/* ---- comparisons ---- */

struct doc_changes *tsi_doc_changes(struct doc *doc, const char *heading)
{
	struct doc_node *node = tsi_doc_add(
		doc, &(struct doc_node){ .kind = DOC_NODE_CHANGES, .changes.heading = heading });

	return node ? &node->changes : NULL;
}

struct doc_change *tsi_doc_change(struct doc *doc, struct doc_changes *changes,
				  const struct doc_change *change)
{
	struct doc_change *row =
		changes ? tsi_arena_push(&doc->arena, &changes->rows, &changes->row_count,
					 &changes->row_capacity, sizeof(*row))
			: NULL;

	if (row)
		*row = *change;
	return row;
}

void tsi_doc_change_note(struct doc *doc, struct doc_change *change, const char *words,
			 const char *names)
{
	struct doc_change_note *note =
		change ? tsi_arena_push(&doc->arena, &change->notes, &change->note_count,
					&change->note_capacity, sizeof(*note))
		       : NULL;

	if (note)
		*note = (struct doc_change_note){ words, names };
}

void tsi_doc_changes_more(struct doc_changes *changes, size_t left_out_count)
{
	if (changes)
		changes->more_count = left_out_count;
}

static const char joint[] = " + ";

size_t tsi_count_names(const char *joined)
{
	size_t count = 1;

	for (const char *at = strstr(joined, joint); at; at = strstr(at + strlen(joint), joint))
		count++;
	return count;
}

const char *tsi_next_name(char one[ONE_NAME_MAX], const char *joined)
{
	const char *end = strstr(joined, joint);
	size_t length = end ? (size_t)(end - joined) : strlen(joined);

	tsi_print_text(one, ONE_NAME_MAX, "%.*s", (int)length, joined);
	return end ? end + strlen(joint) : NULL;
}

/* ---- severities ---- */

enum doc_tone tsi_severity_tone(enum tscope_severity severity)
{
	static const enum doc_tone tones[] = {
		[TSCOPE_SEVERITY_LOW] = DOC_INFO,
		[TSCOPE_SEVERITY_MED] = DOC_WARN,
		[TSCOPE_SEVERITY_HIGH] = DOC_BAD,
	};

	return tones[severity];
}

enum doc_tone tsi_severity_tag_tone(enum tscope_severity severity)
{
	return severity == TSCOPE_SEVERITY_HIGH ? DOC_ALARM : tsi_severity_tone(severity);
}

const char *tsi_severity_word(enum tscope_severity severity)
{
	static const char *const words[] = {
		[TSCOPE_SEVERITY_LOW] = "LOW",
		[TSCOPE_SEVERITY_MED] = "MED",
		[TSCOPE_SEVERITY_HIGH] = "HIGH",
	};

	return words[severity];
}
