/* SPDX-License-Identifier: MIT */
/* Puts the stacks of a capture together by the frames that a site shows. */
#include "model/memory/host_sites.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"

enum {
	SITE_TEXT_MAX = 4096, /* a longer one is cut */
	NAME_SHOWN_MAX = 1024,
	DEPTH_MAX = 64,
	TEXTS_MAX = 1 << 24,
	ALL_TEXT_MAX = 256 << 20, /* sites beyond are "(other)" */
};

struct site_maker {
	struct host_sites *sites;
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

/* A node stands after its parent. */
static enum tscope_status match_nodes(struct site_maker *maker, struct tscope_error *err)
{
	const struct memray_capture *capture = &maker->host->capture;

	if (maker->filter.length == 0 || capture->node_count == 0)
		return TSCOPE_OK;
	if (tsi_array_new(&maker->is_matched, capture->node_count, 1, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 1; i < capture->node_count; i++)
		maker->is_matched[i] = maker->is_matched[capture->nodes[i].parent] ||
				       holds(capture, &capture->nodes[i], maker->filter);
	return TSCOPE_OK;
}

/* ---- texts -------------------------------------------------------------------------------- */

static int shown(struct str name)
{
	return (int)(name.length < NAME_SHOWN_MAX ? name.length : NAME_SHOWN_MAX);
}

/* "train.py:41:step" behind what is there. */
static size_t put_frame(const struct memray_capture *capture, uint32_t node,
			char text[SITE_TEXT_MAX], size_t length)
{
	const struct memray_frame *frame = &capture->frames[capture->nodes[node].frame];
	struct str file = tsi_intern_text(&capture->names, frame->file);
	struct str function = tsi_intern_text(&capture->names, frame->function);
	char line[16] = "";
	int put;

	if (frame->line > 0)
		snprintf(line, sizeof(line), "%" PRId32 ":", frame->line);
	put = snprintf(text + length, SITE_TEXT_MAX - length, "%s%.*s:%s%.*s", length ? " < " : "",
		       shown(file), file.data, line, shown(function), function.data);
	length += put > 0 ? (size_t)put : 0;
	return length < SITE_TEXT_MAX ? length : SITE_TEXT_MAX - 1;
}

static void describe(const struct site_maker *maker, uint32_t node, char text[SITE_TEXT_MAX])
{
	const struct memray_capture *capture = &maker->host->capture;
	size_t length = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < maker->depth && node > 0; i++) {
		length = put_frame(capture, node, text, length);
		node = capture->nodes[node].parent;
	}
	tsi_str_drop_partial(text);
}

/* The row of a text. */
static enum tscope_status find_site(struct host_sites *sites, struct str text,
				    struct host_site **site, struct tscope_error *err)
{
	enum tscope_status status;
	uint32_t id = tsi_intern_find(&sites->texts, text);

	if (id == UINT32_MAX && (sites->text_bytes > ALL_TEXT_MAX || sites->count >= TEXTS_MAX))
		text = TSI_STR("(other)");
	status = tsi_intern_add(&sites->texts, text, &id, err);
	if (status == TSCOPE_OK)
		status = tsi_array_reserve(&sites->items, &sites->capacity, (size_t)id + 1,
					   sizeof(*sites->items), err);
	if (status != TSCOPE_OK)
		return status;
	for (; sites->count <= id; sites->count++) {
		sites->items[sites->count] = (struct host_site){ .text = (uint32_t)sites->count };
		sites->text_bytes += text.length;
	}
	*site = &sites->items[id];
	return TSCOPE_OK;
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

static enum tscope_status add_stack(struct site_maker *maker, uint32_t node,
				    struct tscope_error *err)
{
	const struct host_account *account = &maker->host->stacks[node];
	char text[SITE_TEXT_MAX] = "(other)";
	struct host_site *site;

	if (!is_used(account))
		return TSCOPE_OK;
	if (!maker->is_matched || maker->is_matched[node])
		describe(maker, node, text);
	enum tscope_status status = find_site(maker->sites, tsi_str_of(text), &site, err);
	if (status != TSCOPE_OK)
		return status;
	/* Sums over all stacks are numbers, so those over some of them are. */
	add_use(&site->allocated, &account->allocated);
	add_use(&site->temporary, &account->temporary);
	add_use(&site->at_peak, &account->at_peak);
	add_use(&site->live, &account->live);
	site->growth_bytes += account->live.bytes - account->middle_bytes;
	return TSCOPE_OK;
}

/* What a capture of sums does not tell. */
static void forget_totals(struct host_sites *sites)
{
	const struct host_use unknown = { -1, -1 };

	for (size_t i = 0; i < sites->count; i++) {
		sites->items[i].allocated = unknown;
		sites->items[i].temporary = unknown;
	}
}

static enum tscope_status add_place(struct host_sites *sites, const struct host_memory *host,
				    const struct host_place *place, struct tscope_error *err)
{
	const struct host_use unknown = { -1, -1 };
	struct host_site *site;
	enum tscope_status status =
		find_site(sites, tsi_intern_text(&host->texts, place->site), &site, err);

	if (status != TSCOPE_OK)
		return status;
	site->allocated = place->allocated;
	site->temporary = site->at_peak = site->live = unknown;
	return TSCOPE_OK;
}

enum tscope_status tsi_host_sites_init(struct host_sites *sites, const struct host_memory *host,
				       unsigned depth, struct str filter, struct tscope_error *err)
{
	struct site_maker maker = {
		.sites = sites,
		.host = host,
		.depth = depth == 0          ? 1
			 : depth < DEPTH_MAX ? depth
					     : DEPTH_MAX,
		.filter = filter,
	};
	enum tscope_status status;

	*sites = (struct host_sites){ 0 };
	status = tsi_intern_init(&sites->texts, UINT32_MAX - 1, err);
	if (status == TSCOPE_OK)
		status = match_nodes(&maker, err);
	for (size_t i = 0; i < host->stack_count && status == TSCOPE_OK; i++)
		status = add_stack(&maker, (uint32_t)i, err);
	for (size_t i = 0; i < host->place_count && status == TSCOPE_OK; i++)
		status = add_place(sites, host, &host->places[i], err);
	if (host->source == HOST_AGGREGATE)
		forget_totals(sites);
	free(maker.is_matched);
	return status;
}

bool tsi_host_site_is_used(const struct host_site *site)
{
	return site->allocated.count > 0 || site->allocated.bytes > 0 || site->at_peak.count > 0 ||
	       site->at_peak.bytes > 0 || site->live.count > 0 || site->live.bytes > 0;
}

void tsi_host_sites_deinit(struct host_sites *sites)
{
	tsi_intern_deinit(&sites->texts);
	free(sites->items);
	*sites = (struct host_sites){ 0 };
}
