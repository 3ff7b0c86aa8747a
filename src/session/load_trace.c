/* SPDX-License-Identifier: MIT */
/*
 * Reads a trace of a run. It goes its whole path (trace, timeline, facts) and, unless it is the
 * only one, is closed again; its facts and its steps stay.
 */
#include "session/load.h"

#include <stdio.h>

#include "analyze/analysis.h"
#include "analyze/lookup.h"
#include "analyze/ops/graph_join.h"
#include "base/ckd.h"
#include "base/sum.h"
#include "comm/latch.h"
#include "run/settings.h"
#include "session/open_trace.h"
#include "timeline/timeline.h"

static void describe_trace(struct loaded *loaded, const struct tscope_trace *trace)
{
	const struct tscope_trace_info *info = tscope_trace_info(trace);
	const struct tscope_error *damage = tscope_trace_damage(trace);
	int64_t base_ns = info->has_base_time ? info->base_time_ns : 0;

	for (enum tscope_diagnostic kind = 0; kind < TSCOPE_DIAGNOSTIC_COUNT; kind++)
		loaded->diagnostics[kind] = tscope_trace_diagnostic(trace, kind);
	snprintf(loaded->compression, sizeof(loaded->compression), "%s", info->compression);
	loaded->input.format = info->format;
	loaded->input.source_bytes = info->source_bytes;
	loaded->input.bytes = info->bytes;
	loaded->input.event_count = info->event_count;
	loaded->input.dropped_count = info->dropped_count;
	loaded->input.diagnostics = loaded->diagnostics;
	if (damage) {
		loaded->damage = *damage;
		loaded->input.damage = &loaded->damage;
	}
	if (info->rank >= 0)
		loaded->input.rank = info->rank;
	loaded->steps.world_size = info->world_size;
	if (tsi_ckd_add(&loaded->start_ns, info->first_ns, base_ns) ||
	    tsi_ckd_add(&loaded->end_ns, info->last_ns, base_ns)) {
		loaded->start_ns = info->first_ns;
		loaded->end_ns = info->last_ns;
	}
}

/* The process whose thread has the steps; Composer's writer puts ranks there. */
static int64_t pid_of(const struct tscope_trace *trace, uint32_t track)
{
	int64_t pid;

	if (track == NO_ROW || trace->is_composer ||
	    !tsi_str_to_int64(tsi_intern_text(&trace->names, trace->tracks[track].pid), &pid) ||
	    pid < 0)
		return -1;
	return pid;
}

/* "host" of "host_4242.….pt.trace.json", as torch's handler names the files of process 4242. */
static struct str host_of_path(const char *path, int64_t pid)
{
	struct str writer = tsi_writer_of_path(path), digits = writer;
	int64_t number;

	while (writer.length > 0 && tsi_is_digit(writer.data[writer.length - 1]))
		writer.length--;
	digits = (struct str){ writer.data + writer.length, digits.length - writer.length };
	if (writer.length < 2 || writer.data[writer.length - 1] != '_' ||
	    !tsi_str_to_int64(digits, &number) || number != pid)
		return (struct str){ path, 0 };
	return (struct str){ writer.data, writer.length - 1 };
}

static void describe_origin(struct loaded *loaded, const struct tscope_trace *trace,
			    const struct tscope_timeline *timeline)
{
	const int64_t in_2001_ns = INT64_C(1000000000) * 1000000000;
	struct trace_origin *origin = &loaded->origin;
	struct str host = tsi_intern_text(&trace->names, trace->host_name);

	origin->pid = pid_of(trace, timeline->main_track);
	origin->has_unix = trace->info.has_base_time || loaded->start_ns > in_2001_ns;
	origin->is_whole = timeline->boundary == TSCOPE_BOUNDARY_WHOLE_TRACE;
	if (host.length == 0)
		host = host_of_path(loaded->input.path, origin->pid);
	snprintf(origin->host, sizeof(origin->host), "%.*s", TSI_QUOTE(host));
	snprintf(origin->backend, sizeof(origin->backend), "%s", trace->info.backend);
	snprintf(origin->device, sizeof(origin->device), "%s", trace->info.device_name);
}

/* Keeps the collectives of the rank, to compare it with the others. */
static enum tscope_status fill_log(struct rank_log *log, const struct tscope_trace *trace,
				   const struct tscope_timeline *timeline, struct tscope_error *err)
{
	enum tscope_status status = tsi_rank_log_init(log, err);

	return status == TSCOPE_OK ? tsi_rank_log_fill(log, trace, timeline, err) : status;
}

/* Hosts that a trace does not name are known by the file's name. */
static enum tscope_status name_host(struct rank_log *log, const char *host,
				    struct tscope_error *err)
{
	if (log->host_name == 0)
		log->host_name = tsi_latch_text(&log->arena, &log->names, tsi_str_of(host));
	return tsi_arena_status(&log->arena, err);
}

/* The moment that Composer's ranks wrote down together, when the first step had not begun. */
static void note_clock(struct step_clock *clock, const struct tscope_trace *trace,
		       const struct tscope_timeline *timeline, const struct rank_filter *only)
{
	for (size_t i = 0; i < trace->composer_rank_count && !clock->is_known; i++) {
		const struct composer_rank *rank = &trace->composer_ranks[i];

		if (rank->sync_ns == NO_NUMBER)
			continue;
		*clock = (struct step_clock){
			.sync_ns = rank->sync_ns,
			.error_ns = rank->sync_error_ns == NO_NUMBER ? 0 : rank->sync_error_ns,
			.first_step = timeline->steps[0].number,
			.is_known = true,
		};
	}
	if (clock->is_known && only && only->merged->is_shifted &&
	    only->merged->sync_ns != NO_NUMBER)
		clock->shifted_ns = tsi_difference(clock->sync_ns, only->merged->sync_ns);
}

static bool has_replays(const struct tscope_trace *trace)
{
	for (size_t i = 0; i < trace->device_event_count; i++)
		if (trace->device_events[i].graph)
			return true;
	return false;
}

/* Keeps the facts and the steps of a trace. */
static enum tscope_status analyze_trace(struct loaded *loaded, const struct load *load,
					const struct tscope_trace *trace,
					const struct tscope_run_options *options,
					struct tscope_error *err)
{
	struct tscope_timeline_options timeline_options = options->timeline;
	struct tscope_timeline *timeline = NULL;

	timeline_options.first_batch = load->file.first_batch;
	timeline_options.batch_count = load->file.batch_count;
	enum tscope_status status =
		tsi_timeline_build(&timeline, trace, &timeline_options, load->keeps_log, err);
	if (status == TSCOPE_OK)
		status =
			tscope_analyze(&loaded->analysis, trace, timeline, &options->analysis, err);
	if (status == TSCOPE_OK && load->keeps_log)
		status = fill_log(&loaded->log, trace, timeline, err);
	if (status == TSCOPE_OK) {
		tsi_steps_append(&loaded->steps, tsi_analysis_steps(loaded->analysis));
		tsi_settings_take(&loaded->steps, tsi_analysis_steps(loaded->analysis));
		note_clock(&loaded->steps.clock, trace, timeline, load->only);
		describe_origin(loaded, trace, timeline);
		loaded->is_capture = tsi_lookup(loaded->analysis, "launches.is_capture").flag;
		loaded->has_replays = has_replays(trace);
	}
	if (status == TSCOPE_OK && load->keeps_log)
		status = name_host(&loaded->log, loaded->origin.host, err);
	if (status == TSCOPE_OK && load->keeps_graphs)
		status = tsi_graph_log_new(&loaded->graphs, trace, timeline, err);
	if (status == TSCOPE_OK && load->stays_open) {
		loaded->timeline = timeline;
		return TSCOPE_OK;
	}
	if (status == TSCOPE_OK)
		status = tsi_analysis_detach(loaded->analysis, err);
	tscope_timeline_free(timeline);
	return status;
}

enum tscope_status tsi_load_trace(struct loaded *loaded, const struct load *load,
				  const struct tscope_run_options *options,
				  struct tscope_error *err)
{
	struct tscope_trace *trace = NULL;
	enum tscope_status status = tsi_trace_open_rank(&trace, load->file.path, &options->trace,
							load->only, load->keeps_graphs, err);

	if (status == TSCOPE_OK && load->graph_log_count > 0)
		status = tsi_graph_set_add(trace, load->graphs, load->graph_log_count, err);

	if (status == TSCOPE_OK && !load->only)
		status = tsi_merged_ranks_of(&loaded->merged, trace, err);
	if (status == TSCOPE_OK && load->only)
		tsi_loaded_note(loaded, "one of the %zu ranks that were merged into it",
				load->only->merged->rank_count);
	if (status == TSCOPE_OK) {
		describe_trace(loaded, trace);
		if (loaded->merged.rank_count < 2)
			status = analyze_trace(loaded, load, trace, options, err);
	}
	if (loaded->timeline)
		loaded->trace = trace;
	else
		tscope_trace_free(trace);
	return status;
}
