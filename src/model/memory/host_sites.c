/* SPDX-License-Identifier: MIT */
/* Puts the stacks of a capture together by the frames that a site shows. */
#include "model/memory/host_sites.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/print_text.h"

enum {
	SITE_TEXT_MAX = 4096, /* a longer one is cut */
	NAME_SHOWN_MAX = 1024,
	DEPTH_MAX = 64,
	TEXTS_MAX = 1 << 24,
	ALL_TEXT_MAX = 256 << 20, /* sites beyond are "(other)" */
};

struct site_maker {
	struct named_rows *sites;
	size_t text_bytes;
	const struct host_memory *host;
	unsigned depth;
	struct str filter;
	unsigned char *is_matched; /* by node: it, or one around it, holds the filter; or NULL */
};

/* ---- the filter --------------------------------------------------------------------------- */

static bool holds(const struct memray_capture *capture, const struct memray_node *node,
		  struct str filter)
{
	const struct memray_frame *frame = &capture->frames[node->frame];

	return tsi_str_find(tsi_intern_text(&capture->names, frame->function), filter) >= 0 ||
	       tsi_str_find(tsi_intern_text(&capture->names, frame->file), filter) >= 0;
}

static void match_nodes(struct site_maker *maker)
{
	const struct memray_capture *capture = &maker->host->capture;

	if (maker->filter.length == 0 || capture->node_count == 0)
		return;
	maker->is_matched = tsi_arena_new(maker->sites->arena, capture->node_count, 1);
	if (!maker->is_matched)
		return;
	/* A node stands behind its parent. */
	for (size_t i = 1; i < capture->node_count; i++)
		maker->is_matched[i] = maker->is_matched[capture->nodes[i].parent] ||
				       holds(capture, &capture->nodes[i], maker->filter);
}

/* ---- texts -------------------------------------------------------------------------------- */

static int shown(struct str name)
{
	return (int)(name.length < NAME_SHOWN_MAX ? name.length : NAME_SHOWN_MAX);
}

/* Appends "train.py:41:step". */
static void put_frame(const struct memray_capture *capture, uint32_t node, char text[SITE_TEXT_MAX])
{
	const struct memray_frame *frame = &capture->frames[capture->nodes[node].frame];
	struct str file = tsi_intern_text(&capture->names, frame->file);
	struct str function = tsi_intern_text(&capture->names, frame->function);
	char line[16] = "";

	if (frame->line > 0)
		snprintf(line, sizeof(line), "%" PRId32 ":", frame->line);
	tsi_join_text(text, SITE_TEXT_MAX, " < ", "%.*s:%s%.*s", shown(file), file.data, line,
		      shown(function), function.data);
}

static void describe(const struct site_maker *maker, uint32_t node, char text[SITE_TEXT_MAX])
{
	const struct memray_capture *capture = &maker->host->capture;

	text[0] = '\0';
	for (unsigned i = 0; i < maker->depth && node > 0; i++) {
		put_frame(capture, node, text);
		node = capture->nodes[node].parent;
	}
}

static struct host_site *find_site(struct site_maker *maker, struct str text)
{
	struct named_rows *sites = maker->sites;
	size_t known_count = sites->count;

	if ((maker->text_bytes > ALL_TEXT_MAX || known_count >= TEXTS_MAX) &&
	    tsi_intern_find(&sites->names, text) == UINT32_MAX)
		text = TSI_STR("(other)");
	struct host_site *site = tsi_named_row(sites, text);
	if (sites->count > known_count)
		maker->text_bytes += text.length;
	return site;
}

/* ---- sums --------------------------------------------------------------------------------- */

static void add_use(struct host_use *use, const struct host_use *part)
{
	use->bytes += part->bytes;
	use->count += part->count;
}

static bool is_used(const struct host_account *account)
{
	return account->allocated.count || account->live.count || account->at_peak.count ||
	       account->at_peak.bytes || account->live.bytes;
}

static void add_stack(struct site_maker *maker, uint32_t node)
{
	const struct host_account *account = &maker->host->stacks[node];
	char text[SITE_TEXT_MAX] = "(other)";

	if (!is_used(account))
		return;
	if (!maker->is_matched || maker->is_matched[node])
		describe(maker, node, text);
	struct host_site *site = find_site(maker, tsi_str_of(text));
	if (!site)
		return;
	/* No overflow: the sums over all stacks fit. */
	add_use(&site->allocated, &account->allocated);
	add_use(&site->temporary, &account->temporary);
	add_use(&site->at_peak, &account->at_peak);
	add_use(&site->live, &account->live);
	site->growth_bytes += account->live.bytes - account->middle_bytes;
}

static const struct host_use unknown = { -1, -1 };

/* An aggregated capture has no totals. */
static void forget_totals(const struct named_rows *sites)
{
	for (size_t i = 0; i < sites->count; i++) {
		struct host_site *site = tsi_named_row_at(sites, i);

		site->allocated = site->temporary = unknown;
	}
}

static void add_place(struct site_maker *maker, const struct host_place *place)
{
	struct host_site *site =
		find_site(maker, tsi_intern_text(&maker->host->texts, place->site));

	if (!site)
		return;
	site->allocated = place->allocated;
	site->temporary = site->at_peak = site->live = unknown;
}

void tsi_host_sites_init(struct named_rows *sites, const struct host_memory *host, unsigned depth,
			 struct str filter, struct arena *arena)
{
	struct site_maker maker = {
		.sites = sites,
		.host = host,
		.depth = depth == 0          ? 1
			 : depth < DEPTH_MAX ? depth
					     : DEPTH_MAX,
		.filter = filter,
	};

	tsi_named_rows_init(sites, sizeof(struct host_site), arena);
	match_nodes(&maker);
	for (size_t i = 0; i < host->stack_count && !arena->has_failed; i++)
		add_stack(&maker, (uint32_t)i);
	for (size_t i = 0; i < host->place_count; i++)
		add_place(&maker, &host->places[i]);
	if (host->source == HOST_AGGREGATE)
		forget_totals(sites);
}

bool tsi_host_site_is_used(const struct host_site *site)
{
	return site->allocated.count > 0 || site->allocated.bytes > 0 || site->at_peak.count > 0 ||
	       site->at_peak.bytes > 0 || site->live.count > 0 || site->live.bytes > 0;
}
