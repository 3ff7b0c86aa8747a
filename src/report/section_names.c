/* SPDX-License-Identifier: MIT */
/* The sections of all reports by name, and reports of which only some sections are asked for. */
#include "report/section.h"

#include "base/error.h"
#include "base/nearest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char *const titles[] = {
	"ALL METRICS",
	"ATTRIBUTION",
	"BLOCKS",
	"BUDGET",
	"CALLBACKS",
	"CHURN",
	"CLOCKS",
	"COMMUNICATION",
	"CONVERGENCE",
	"COPIES AND FILLS",
	"COUNTERS",
	"CRITICAL PATH",
	"DEVICE",
	"DISTRIBUTED",
	"EFFICIENCY",
	"EXPLANATION",
	"FINDINGS",
	"GATES",
	"GRAPHS",
	"GROUPS",
	"GROWTH",
	"HISTORY",
	"HOST MEMORY",
	"INFERENCE",
	"INPUT",
	"KERNELS",
	"LATEST",
	"LAUNCHES",
	"LIVE",
	"LIVE AT THE PEAK",
	"LOGGED EFFICIENCY",
	"MEMORY",
	"MEMORY OVER TIME",
	"MEMORY STATISTICS",
	"MEMORY TIMELINE",
	"MEMORY TRACKER",
	"METRICS",
	"MODULES",
	"NOT EVALUATED",
	"OPERATORS",
	"OTHER METRICS",
	"OUT OF MEMORY",
	"PHASES",
	"PIPELINE",
	"PYTHON",
	"RANKS",
	"REPRODUCIBILITY",
	"ROOFLINE",
	"SEGMENTS",
	"SLOWEST",
	"SNAPSHOT",
	"SOURCES",
	"SPANS",
	"STACKS",
	"STEPS",
	"STRAGGLERS",
	"TRANSFERS",
	"WAITS",
	"WHAT IF",
};

/* "critical-path" is the name of CRITICAL PATH, "copies" that of COPIES AND FILLS. */
static bool is_name_of(struct str name, const char *title)
{
	for (size_t i = 0; i < name.length; i++) {
		char letter = title[i] == ' ' ? '-' : (char)tolower((unsigned char)title[i]);
		if (title[i] == '\0' || tolower((unsigned char)name.data[i]) != letter)
			return false;
	}
	return title[name.length] == '\0' || title[name.length] == ' ';
}

bool tsi_is_section(const char *title)
{
	for (size_t i = 0; i < TSI_COUNT_OF(titles); i++)
		if (strcmp(title, titles[i]) == 0)
			return true;
	return false;
}

static bool is_known(struct str name)
{
	for (size_t i = 0; i < TSI_COUNT_OF(titles); i++)
		if (is_name_of(name, titles[i]))
			return true;
	return false;
}

bool tscope_report_section(size_t section, char name[TSCOPE_SECTION_NAME_MAX])
{
	if (section >= TSI_COUNT_OF(titles))
		return false;
	snprintf(name, TSCOPE_SECTION_NAME_MAX, "%s", titles[section]);
	for (char *c = name; *c != '\0'; c++)
		*c = *c == ' ' ? '-' : (char)tolower((unsigned char)*c);
	return true;
}

static enum tscope_status fail_section(struct str word, struct tscope_error *err)
{
	char names[TSI_COUNT_OF(titles)][TSCOPE_SECTION_NAME_MAX];
	struct nearest nearest = { .word = word };

	for (size_t i = 0; i < TSI_COUNT_OF(titles); i++) {
		tscope_report_section(i, names[i]);
		tsi_nearest_consider(&nearest, names[i]);
	}
	if (nearest.name)
		return tsi_fail(err, TSCOPE_E_FORMAT, "there is no section %.*s; did you mean %s?",
				TSI_QUOTE(word), nearest.name);
	return tsi_fail(err, TSCOPE_E_FORMAT, "there is no section %.*s", TSI_QUOTE(word));
}

enum tscope_status tscope_report_check_sections(const char *names, struct tscope_error *err)
{
	struct str rest = tsi_str_of(names);

	while (rest.length) {
		struct str name = tsi_str_take(&rest, ',');
		if (name.length == 0 || !is_known(name))
			return fail_section(name, err);
	}
	return TSCOPE_OK;
}

static bool is_among(const char *names, const char *title)
{
	struct str rest = tsi_str_of(names);

	while (rest.length)
		if (is_name_of(tsi_str_take(&rest, ','), title))
			return true;
	return false;
}

static bool has_section(const struct doc *doc, struct str name)
{
	for (const struct doc_node *node = doc->first; node; node = node->next)
		if (node->kind == DOC_NODE_SECTION && is_name_of(name, node->section.title))
			return true;
	return false;
}

static void note_absent(struct doc *doc, const char *names)
{
	struct str rest = tsi_str_of(names);

	while (rest.length) {
		struct str name = tsi_str_take(&rest, ',');
		if (!has_section(doc, name))
			tsi_doc_note(doc, "no section %.*s: this input has nothing to show there",
				     TSI_QUOTE(name));
	}
}

void tsi_show_sections(struct doc *doc, const char *names)
{
	struct doc_node **link = &doc->first, *last = NULL;
	bool is_shown = true;

	for (struct doc_node *node = doc->first; node; node = node->next) {
		if (node->kind == DOC_NODE_NAME && node->name.place == DOC_PART)
			is_shown = true; /* a head */
		else if (node->kind == DOC_NODE_SECTION)
			is_shown = strcmp(node->section.title, "GATES") == 0 ||
				   is_among(names, node->section.title);
		if (!is_shown)
			continue;
		*link = last = node;
		link = &node->next;
	}
	*link = NULL;
	doc->last = last;
	note_absent(doc, names);
}
