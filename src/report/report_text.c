/* SPDX-License-Identifier: MIT */
/*
 * The text report: prints a document for a terminal, node by node. The look of each role is a row
 * of the table below; tables and comparisons are text_table.c and text_change.c.
 */
#include "report/reporter.h"
#include "report/text_nodes.h"

#include <math.h>
#include <string.h>

enum {
	DEFAULT_WIDTH = 80,
	MIN_LABEL_WIDTH = 17,
	MAX_LABEL_WIDTH = 30, /* of meters, as that which is longest needs */
	AMOUNT_WIDTH = 10,
	SHARE_WIDTH = 9,
	MAX_BAR_CELLS = 40,
	ASIDE_WIDTH = 8,
	FINDING_INDENT = 9, /* "  [HIGH] " */
	GATE_VALUE_WIDTH = 12,
	GATE_VERDICT_WIDTH = 9,
	PATH_COLUMN = 35,
	MIN_PATH_WIDTH = 16,
};

/* ---- tones ---- */

enum text_style tsi_text_style_of(enum doc_tone tone)
{
	static const enum text_style styles[] = {
		[DOC_PLAIN] = TEXT_PLAIN, [DOC_STRONG] = TEXT_BOLD, [DOC_FAINT] = TEXT_DIM,
		[DOC_BAD] = TEXT_RED,     [DOC_GOOD] = TEXT_GREEN,  [DOC_WARN] = TEXT_YELLOW,
		[DOC_INFO] = TEXT_CYAN,   [DOC_ALARM] = TEXT_RED,
	};

	return styles[tone];
}

void tsi_text_begin_tone(struct text_writer *w, enum doc_tone tone)
{
	if (tone == DOC_ALARM)
		tsi_text_style(w, TEXT_BOLD);
	if (tone != DOC_PLAIN)
		tsi_text_style(w, tsi_text_style_of(tone));
}

void tsi_text_end_tone(struct text_writer *w, enum doc_tone tone)
{
	if (tone != DOC_PLAIN)
		tsi_text_style(w, TEXT_PLAIN);
}

void tsi_text_put_toned(struct text_writer *w, enum doc_tone tone, const char *text)
{
	tsi_text_begin_tone(w, tone);
	tsi_text_put(w, text);
	tsi_text_end_tone(w, tone);
}

/* ---- lines ---- */

/* Columns, from the left: blanks, the tag, blanks, the text. */
static const struct line_layout {
	unsigned lead; /* before the tag */
	unsigned pad;  /* of the tag, and of blanks that have its tone */
	unsigned tail; /* behind the tag, in its tone */
	unsigned gap;  /* behind these, plain */
	unsigned text; /* where the text begins at least */
	unsigned hang; /* where its further lines do; 0: where it begins */
	bool tones_lead, tones_text;
	const char *separator; /* of items */
} line_layouts[] = {
	[DOC_NOTE] = { .lead = 2, .tones_lead = true, .tones_text = true },
	[DOC_HEADING] = { .lead = 0 },
	[DOC_CAPTION] = { .lead = 2, .tones_lead = true, .tones_text = true },
	[DOC_FIGURES] = { .lead = 2, .separator = " · " },
	[DOC_RANKS] = { .lead = 2, .separator = ", " },
	[DOC_TAGGED] = { .lead = 2, .tail = 2, .tones_lead = true, .separator = " · " },
	[DOC_DOUBT] = { .lead = 2, .gap = 1, .tones_lead = true, .tones_text = true },
	[DOC_ALERT] = { .lead = 2, .gap = 2, .tones_lead = true },
	[DOC_SETTING] = { .lead = 2, .pad = 13, .tones_lead = true, .separator = " · " },
	[DOC_OUTLINE] = { .lead = 0, .separator = " · " },
	[DOC_SIDE_OUTLINE] = { .lead = 3, .separator = " · " },
	[DOC_LOSS] = { .gap = 2 },
	[DOC_REMARK] = { .tail = 2 },
	[DOC_FOUND] = { .pad = 7, .gap = 2, .separator = " · " },
	[DOC_VERDICT] = { .lead = 2, .text = 8 },
	[DOC_CHANGE] = { .lead = 2, .text = 11 },
	[DOC_NO_CHANGE] = { .lead = 11, .tones_text = true },
	[DOC_CHANGE_GATES] = { .lead = 2, .pad = 9, .tones_lead = true },
	[DOC_DIAGNOSTIC] = { .lead = 2, .pad = 10 },
	[DOC_CAUSE] = { .lead = 2, .pad = 10, .gap = 1 },
	[DOC_REMEDY] = { .lead = 2, .pad = 9 },
	[DOC_FINDING_CHANGE] = { .lead = 2, .pad = 8, .tones_lead = true },
	[DOC_RULES] = { .lead = 2, .hang = 4 },
	[DOC_IDS] = { .lead = 4, .tones_lead = true, .tones_text = true, .separator = ", " },
};

/* The tag and what stands between it and the text; returns the column behind that. */
static unsigned put_tag(struct text_writer *w, const struct doc_line *line)
{
	const struct line_layout *layout = &line_layouts[line->role];
	unsigned column = layout->lead, columns = tsi_text_columns(line->tag);

	tsi_text_left(w, line->tag, layout->pad);
	tsi_text_repeat(w, " ", layout->tail);
	if (!layout->tones_text)
		tsi_text_end_tone(w, line->tone);
	tsi_text_repeat(w, " ", layout->gap);
	column += (columns > layout->pad ? columns : layout->pad) + layout->tail + layout->gap;
	if (line->aside) {
		bool is_column = line->role == DOC_DIAGNOSTIC;
		unsigned width = is_column ? ASIDE_WIDTH : 0, gap = is_column ? 2 : 1;
		unsigned used = tsi_text_columns(line->aside);

		tsi_text_right(w, line->aside, width);
		tsi_text_repeat(w, " ", gap);
		column += (used > width ? used : width) + gap;
	}
	return column;
}

static void put_items(struct text_writer *w, const struct doc_line *line, unsigned column)
{
	struct text_flow flow = { .w = w,
				  .separator = line_layouts[line->role].separator,
				  .indent = column,
				  .column = column };

	for (size_t i = 0; i < line->item_count; i++) {
		const struct doc_item *item = &line->items[i];
		char number[NUMBER_MAX], text[256];

		if (!item->label) {
			tsi_text_flow(&flow, item->text);
			continue;
		}
		tsi_number_people(number, item->value, item->unit);
		snprintf(text, sizeof(text), "%s %s", item->label, number);
		tsi_text_flow(&flow, text);
	}
	tsi_text_flow_end(&flow);
}

static void put_text(struct text_writer *w, const struct doc_line *line, unsigned column)
{
	const struct line_layout *layout = &line_layouts[line->role];

	if (line->role == DOC_HEADING) {
		tsi_text_put(w, line->text);
		tsi_text_put(w, "\n");
		return;
	}
	tsi_text_paragraph(w, line->text, layout->hang > 0 ? layout->hang : column);
}

static void put_line(struct text_writer *w, const struct doc_line *line)
{
	const struct line_layout *layout = &line_layouts[line->role];
	bool is_toned = line->tag || layout->tones_text;
	unsigned column = layout->lead;

	if (!line->text && line->item_count == 0)
		return;
	if (!layout->tones_lead)
		tsi_text_repeat(w, " ", layout->lead);
	if (is_toned)
		tsi_text_begin_tone(w, line->tone);
	if (line->role == DOC_CAPTION)
		tsi_text_put(w, "\n");
	if (layout->tones_lead)
		tsi_text_repeat(w, " ", layout->lead);
	if (line->tag)
		column = put_tag(w, line);
	if (column < layout->text) {
		tsi_text_repeat(w, " ", layout->text - column);
		column = layout->text;
	}
	if (line->text)
		put_text(w, line, column);
	else
		put_items(w, line, column);
	if (layout->tones_text)
		tsi_text_end_tone(w, line->tone);
}

/* ---- heads and sections ---- */

/* A path that is too long for the line, from the first folder on with which it fits. */
static const char *end_of_path(const char *path, unsigned columns)
{
	const char *end = path;

	if (tsi_text_columns(path) <= columns)
		return path;
	while (end && tsi_text_columns(end) + 1 > columns)
		end = strchr(end + 1, '/');
	return end ? end : path;
}

static void put_report_name(struct text_writer *w, const struct doc_name *name)
{
	unsigned used = (name->place == DOC_LISTED ? 2 : 0) +
			(name->tag ? tsi_text_columns(name->tag) + 2 : 0);
	const char *path = end_of_path(name->text, w->width - used);

	if (name->place == DOC_LISTED)
		tsi_text_put(w, "  ");
	if (name->tag) {
		tsi_text_put_toned(w, DOC_FAINT, name->tag);
		tsi_text_put(w, "  ");
	}
	tsi_text_style(w, TEXT_BOLD);
	if (path != name->text)
		tsi_text_put(w, "…");
	tsi_text_name(w, path);
	tsi_text_style(w, TEXT_PLAIN);
	tsi_text_put(w, "\n");
}

static void put_section(struct text_writer *w, const struct doc_section *section)
{
	unsigned column = 2 + tsi_text_columns(section->title);

	tsi_text_put(w, "\n");
	tsi_text_put_toned(w, section->light, "●");
	tsi_text_put(w, " ");
	tsi_text_put_toned(w, DOC_STRONG, section->title);
	if (section->rank >= 0) {
		char rank_text[NUMBER_MAX];

		snprintf(rank_text, sizeof(rank_text), " of rank %lld", (long long)section->rank);
		tsi_text_put(w, rank_text);
		column += tsi_text_columns(rank_text);
	}
	if (*section->summary == '\0') {
		tsi_text_put(w, "\n");
		return;
	}
	/* A summary that does not fit behind the title goes below it. */
	if (column + 2 + tsi_text_columns(section->summary) > w->width) {
		tsi_text_put(w, "\n");
		column = 0;
	}
	tsi_text_put(w, "  ");
	tsi_text_paragraph(w, section->summary, column + 2);
}

/* Room for the labels of the meters from a node on: those below each other share it. */
static unsigned label_width(const struct text_writer *w, const struct doc_node *node)
{
	unsigned width = MIN_LABEL_WIDTH, room = w->width - 2 - AMOUNT_WIDTH - SHARE_WIDTH - 2;

	for (; node && node->kind == DOC_NODE_METER; node = node->next) {
		unsigned needed = tsi_text_columns(node->meter.label) + 1;
		width = needed > width ? needed : width;
	}
	width = width < MAX_LABEL_WIDTH ? width : MAX_LABEL_WIDTH;
	return width < room ? width : room;
}

/* "  compute    397.5 µs  39.8 %  ████░░░░", or a name in the place of the bar */
static void put_meter(struct text_writer *w, const struct doc_meter *meter)
{
	unsigned used = 2 + w->label_width + AMOUNT_WIDTH + SHARE_WIDTH + 2;
	unsigned left = w->width > used ? w->width - used : 0;
	unsigned indent = (unsigned)strspn(meter->label, " ");
	struct tscope_value share = { .kind = TSCOPE_VALUE_ABSENT };
	char text[NUMBER_MAX];

	if (meter->whole > 0) {
		share.kind = TSCOPE_VALUE_REAL;
		share.real = (double)meter->part / (double)meter->whole;
	}
	tsi_text_repeat(w, " ", 2 + indent);
	tsi_text_name_cell(w, meter->label + indent, w->label_width - 1 - indent);
	tsi_number_people_int(text, meter->shown, meter->unit);
	tsi_text_right(w, text, AMOUNT_WIDTH + 1);
	tsi_number_people(text, share, TSCOPE_UNIT_RATIO);
	tsi_text_right(w, text, SHARE_WIDTH);
	tsi_text_put(w, left > 0 ? "  " : "");
	if (left > 0 && meter->name)
		tsi_text_name_cut(w, meter->name, left);
	else if (left > 0)
		tsi_text_bar(w, meter->whole > 0 ? share.real : 0,
			     left < MAX_BAR_CELLS ? left : MAX_BAR_CELLS,
			     tsi_text_style_of(meter->tone));
	tsi_text_put(w, "\n");
}

/* The highest of values [first, end), NaN and infinity above all; false: there is none. */
static bool find_highest(const struct doc_series *series, size_t first, size_t end, double *highest)
{
	bool is_found = false;

	for (size_t i = first; i < end; i++) {
		double value;

		if (!series->get(series->source, i, &value))
			continue;
		if (!is_found || !isfinite(value) || (isfinite(*highest) && value > *highest))
			*highest = value;
		is_found = true;
	}
	return is_found;
}

/*
 * Where there are more values than columns a tick stands for several and shows the highest, so that
 * no spike is lost. One point makes no line.
 */
static void put_series(struct text_writer *w, const struct doc_series *series)
{
	size_t room = w->width - 4;
	size_t part_count = room < series->count ? room : series->count;
	double ticks[TEXT_MAX_WIDTH];
	size_t tick_count = 0;

	for (size_t i = 0; i < part_count; i++)
		tick_count +=
			find_highest(series, i * series->count / part_count,
				     (i + 1) * series->count / part_count, &ticks[tick_count]);
	if (tick_count < 2)
		return;
	tsi_text_put(w, "  ");
	tsi_text_style(w, TEXT_CYAN);
	tsi_text_sparkline(w, ticks, tick_count);
	tsi_text_style(w, TEXT_PLAIN);
	tsi_text_put(w, "\n");
}

/* "  rank 3.1  kineto       19.4 KiB  rank3/trace.json" */
static void put_input(struct text_writer *w, const struct doc_input *input)
{
	struct text_flow path = { .w = w, .indent = PATH_COLUMN, .column = PATH_COLUMN };
	char size[NUMBER_MAX];

	tsi_number_people_int(size, input->bytes, TSCOPE_UNIT_BYTES);
	tsi_text_put(w, "  ");
	tsi_text_left(w, input->rank, 10);
	tsi_text_left(w, input->format, 13);
	tsi_text_right(w, size, 8);
	if (w->width < path.indent + MIN_PATH_WIDTH) {
		path.indent = path.column = 4;
		tsi_text_put(w, "\n  ");
	}
	tsi_text_put(w, "  ");
	if (input->is_damaged)
		tsi_text_style(w, TEXT_RED);
	tsi_text_flow(&path, input->path);
	tsi_text_style(w, TEXT_PLAIN);
	tsi_text_flow_end(&path);
}

/* ---- findings and gates ---- */

static void put_evidence(struct text_writer *w, const struct tscope_finding *finding)
{
	struct text_flow flow = { .w = w, .separator = " · ", .indent = FINDING_INDENT };

	tsi_text_style(w, TEXT_DIM);
	for (size_t i = 0; i < finding->evidence_count; i++) {
		const struct tscope_evidence *evidence = &finding->evidence[i];
		char number[NUMBER_MAX], text[256];

		tsi_number_people(number, evidence->value, evidence->unit);
		snprintf(text, sizeof(text), "%s %s", evidence->fact,
			 evidence->value.kind == TSCOPE_VALUE_TEXT ? evidence->value.text : number);
		tsi_text_flow(&flow, text);
	}
	tsi_text_flow_end(&flow);
	tsi_text_style(w, TEXT_PLAIN);
}

static void put_also(struct text_writer *w, const struct tscope_finding *finding)
{
	struct text_flow flow = { .w = w, .separator = ", ", .indent = FINDING_INDENT };

	for (size_t i = 0; i < finding->also_count; i++) {
		char text[NUMBER_MAX];

		snprintf(text, sizeof(text), "%s%s", i == 0 ? "also: " : "", finding->also[i]->id);
		tsi_text_flow(&flow, text);
	}
	tsi_text_flow_end(&flow);
}

static void put_indented(struct text_writer *w, const char *text)
{
	tsi_text_repeat(w, " ", FINDING_INDENT);
	tsi_text_paragraph(w, text, FINDING_INDENT);
}

static void put_finding(struct text_writer *w, const struct tscope_finding *finding)
{
	const char *word = tsi_severity_word(finding->severity);
	char text[512];

	tsi_text_put(w, "  [");
	tsi_text_put_toned(w, tsi_severity_tag_tone(finding->severity), word);
	tsi_text_put(w, "]");
	tsi_text_repeat(w, " ", FINDING_INDENT - 4 - tsi_text_columns(word));
	snprintf(text, sizeof(text), "%s (%s)", finding->title, finding->rule->id);
	tsi_text_paragraph(w, text, FINDING_INDENT);
	if (*finding->detail != '\0')
		put_indented(w, finding->detail);
	put_evidence(w, finding);
	if (finding->has_gain && finding->gain_ns > 0) {
		char time[NUMBER_MAX];

		tsi_number_people_int(time, finding->gain_ns, TSCOPE_UNIT_NS);
		snprintf(text, sizeof(text), "saves %s%s per step",
			 finding->gain_basis == TSCOPE_GAIN_BOUND ? "up to " : "", time);
		put_indented(w, text);
	}
	tsi_text_repeat(w, " ", FINDING_INDENT);
	tsi_text_style(w, TEXT_CYAN);
	tsi_text_put(w, "-> ");
	tsi_text_paragraph(w, finding->advice, FINDING_INDENT + 3);
	tsi_text_style(w, TEXT_PLAIN);
	put_also(w, finding);
}

static void put_gate(struct text_writer *w, const struct tscope_gate_result *gate)
{
	char value[NUMBER_MAX];

	tsi_number_gate(value, gate);
	tsi_text_put(w, "  ");
	tsi_text_name_cell(w, gate->expression,
			   w->width - 2 - GATE_VALUE_WIDTH - GATE_VERDICT_WIDTH);
	tsi_text_right(w, value, GATE_VALUE_WIDTH);
	tsi_text_put(w, "  ");
	if (gate->is_inconclusive)
		tsi_text_put_toned(w, DOC_WARN, "unsure");
	else
		tsi_text_put_toned(w, gate->held ? DOC_GOOD : DOC_BAD,
				   gate->held ? "held" : "TRIPPED");
	tsi_text_put(w, "\n");
	if (gate->held && !gate->is_noise && !gate->has_reach)
		return;
	tsi_text_put(w, "    ");
	tsi_text_paragraph(w, gate->reason, 4);
}

/* ---- the whole ---- */

static void put_node(struct text_writer *w, const struct doc_node *node)
{
	if (node->kind != DOC_NODE_METER)
		w->label_width = 0;
	else if (w->label_width == 0)
		w->label_width = label_width(w, node);
	switch (node->kind) {
	case DOC_NODE_NAME:
		put_report_name(w, &node->name);
		break;
	case DOC_NODE_SECTION:
		put_section(w, &node->section);
		break;
	case DOC_NODE_BREAK:
		tsi_text_put(w, "\n");
		break;
	case DOC_NODE_LINE:
		put_line(w, &node->line);
		break;
	case DOC_NODE_METER:
		put_meter(w, &node->meter);
		break;
	case DOC_NODE_SERIES:
		put_series(w, &node->series);
		break;
	case DOC_NODE_TABLE:
		tsi_text_table(w, &node->table);
		break;
	case DOC_NODE_CHANGES:
		tsi_text_changes(w, &node->changes);
		break;
	case DOC_NODE_EXPLANATION:
		tsi_text_explanation(w, &node->explanation);
		break;
	case DOC_NODE_HEAT:
		tsi_text_heat(w, &node->heat);
		break;
	case DOC_NODE_INPUT:
		put_input(w, &node->input);
		break;
	case DOC_NODE_FINDING:
		put_finding(w, &node->finding);
		break;
	case DOC_NODE_GATE:
		put_gate(w, node->gate);
		break;
	}
}

/* Reports of their own stand apart from what is above, and so do findings. */
static bool is_apart(const struct doc_node *node, const struct doc_node *last)
{
	return last && ((node->kind == DOC_NODE_NAME && node->name.place == DOC_PART) ||
			(node->kind == DOC_NODE_FINDING && last->kind == DOC_NODE_FINDING));
}

static unsigned usable_width(unsigned width)
{
	if (width == 0)
		return DEFAULT_WIDTH;
	if (width < TEXT_MIN_WIDTH)
		return TEXT_MIN_WIDTH;
	return width < TEXT_MAX_WIDTH ? width : TEXT_MAX_WIDTH;
}

int tsi_text_lines(const struct doc_node *node, const struct tscope_report_options *options)
{
	struct text_writer w = { .ascii = options->ascii, .width = usable_width(options->width) };

	put_node(&w, node);
	return (int)w.line_count;
}

/* The first sentence of each report once more, where a reader's eye rests when all has gone by. */
static void repeat_verdicts(struct text_writer *w, const struct doc *doc)
{
	bool is_wanted = true;

	tsi_text_put(w, "\n");
	for (const struct doc_node *node = doc->first; node; node = node->next) {
		bool is_verdict = node->kind == DOC_NODE_LINE && (node->line.role == DOC_VERDICT ||
								  node->line.role == DOC_CHANGE ||
								  node->line.role == DOC_NO_CHANGE);

		if (node->kind == DOC_NODE_NAME && node->name.place == DOC_PART) {
			is_wanted = true;
			if (doc->part != doc->first)
				put_report_name(w, &node->name);
		}
		if (!is_wanted || !is_verdict)
			continue;
		put_line(w, &node->line);
		is_wanted = false;
	}
}

static void write_text(FILE *out, const struct doc *doc,
		       const struct tscope_report_options *options)
{
	struct text_writer w = { .out = out,
				 .color = options->color,
				 .ascii = options->ascii,
				 .width = usable_width(options->width) };
	const struct doc_node *last = NULL;

	for (const struct doc_node *node = doc->first; node; node = node->next) {
		if (is_apart(node, last))
			tsi_text_put(&w, "\n");
		put_node(&w, node);
		last = node;
	}
	if (options->rows > 0 && options->extent == TSCOPE_REPORT_FULL &&
	    w.line_count > options->rows)
		repeat_verdicts(&w, doc);
}

const struct reporter tsi_reporter_text = {
	.format = { .name = "text", .readers = "people" },
	.write = write_text,
};
