/* SPDX-License-Identifier: MIT */
/*
 * Tracks that a slice adds, as slices of a process "tscope": steps with their budgets, why devices
 * idled, findings where they show; budgets also as counters. Category "tscope": the reader of
 * traces takes none of it for work.
 */
#include "session/slice.h"

#include <inttypes.h>
#include <string.h>

#include "analyze/lookup.h"
#include "base/error.h"
#include "report/json_parts.h"

void tsi_tracks_open(struct tracks *t)
{
	t->out = open_memstream(&t->text, &t->length);
}

enum tscope_status tsi_tracks_close(struct tracks *t, struct tscope_error *err)
{
	bool is_whole = t->out && !t->has_failed && !t->w.has_failed;

	is_whole = t->out && fclose(t->out) == 0 && t->text && is_whole;
	return is_whole ? TSCOPE_OK : tsi_fail_nomem(err);
}

void tsi_tracks_begin(struct tracks *t, const char *phase, const char *name, int64_t track)
{
	char process[40] = "tscope";

	if (t->form->rank)
		snprintf(process, sizeof(process), "tscope rank %" PRId64, t->form->rank->number);
	t->has_failed |= t->w.has_failed || fputs(",\n", t->out) == EOF;
	t->w = (struct json_writer){ .out = t->out };
	tsi_jw_row(&t->w);
	tsi_json_text(&t->w, "ph", phase);
	tsi_json_text(&t->w, "cat", "tscope");
	tsi_json_text(&t->w, "name", name);
	tsi_json_text(&t->w, "pid", process);
	tsi_jw_key(&t->w, "tid");
	tsi_jw_int(&t->w, track);
}

void tsi_tracks_put_us(struct tracks *t, const char *key, int64_t ns)
{
	tsi_jw_key(&t->w, key);
	tsi_jw_us(&t->w, ns);
}

/* When it begins, on the clock of the file that is written. */
static void put_start(struct tracks *t, int64_t start_ns)
{
	tsi_tracks_put_us(t, "ts",
			  t->form->rank ? tsi_slice_time(t->form->rank, start_ns) : start_ns);
}

static void begin_at(struct tracks *t, const char *name, int64_t track, int64_t start_ns,
		     int64_t dur_ns)
{
	tsi_tracks_begin(t, "X", name, track);
	put_start(t, start_ns);
	tsi_tracks_put_us(t, "dur", dur_ns);
	tsi_json_object(&t->w, "args");
}

void tsi_tracks_begin_slice(struct tracks *t, const char *name, int64_t track, int64_t start_ns,
			    int64_t dur_ns)
{
	tsi_tracks_begin(t, "X", name, track);
	tsi_tracks_put_us(t, "ts", start_ns);
	tsi_tracks_put_us(t, "dur", dur_ns);
	tsi_json_object(&t->w, "args");
}

void tsi_tracks_end(struct tracks *t)
{
	tsi_jw_end_object(&t->w);
	tsi_jw_end_object(&t->w);
}

void tsi_tracks_name(struct tracks *t, int64_t track, const char *name)
{
	tsi_tracks_begin(t, "M", "thread_name", track);
	tsi_json_object(&t->w, "args");
	tsi_json_text(&t->w, "name", name);
	tsi_tracks_end(t);
}

/* Texts about a trace hold its names. */
static void text_if(struct tracks *t, const char *key, const char *text)
{
	if (!t->form->redaction && text && *text != '\0')
		tsi_json_text(&t->w, key, text);
}

static bool is_inside(const struct tracks *t, int64_t start_ns, int64_t dur_ns)
{
	return start_ns < t->choice->end_ns &&
	       (start_ns >= t->choice->first_ns || dur_ns > t->choice->first_ns - start_ns);
}

/* ---- steps ---- */

/* The columns of steps.list that are lines of the budget. */
static bool is_line(const struct tscope_fact_def *column)
{
	static const char *const others[] = { "start_ns", "dur_ns", "wall_ns" };

	for (size_t i = 0; i < TSI_COUNT_OF(others); i++)
		if (strcmp(column->name, others[i]) == 0)
			return false;
	return column->unit == TSCOPE_UNIT_NS;
}

/* "compute_us": in µs, as times of a trace are. */
static void put_lines(struct tracks *t, const struct table_view *steps, size_t row)
{
	for (size_t i = 0; i < steps->def->column_count; i++) {
		const struct tscope_fact_def *column = &steps->def->columns[i];
		struct tscope_value value = tsi_table_cell(steps, row, i);
		char key[64];

		if (!is_line(column) || value.kind != TSCOPE_VALUE_INT)
			continue;
		snprintf(key, sizeof(key), "%.*sus", (int)strlen(column->name) - 2, column->name);
		tsi_tracks_put_us(t, key, value.integer);
	}
	tsi_tracks_end(t);
}

static void put_steps(struct tracks *t, const struct tscope_analysis *analysis)
{
	struct table_view steps = tsi_lookup_table(analysis, "steps.list");

	tsi_tracks_name(t, TRACK_STEPS, "steps");
	for (size_t row = 0; row < steps.row_count; row++) {
		int64_t start_ns = tsi_table_find(&steps, row, "start_ns").integer;
		int64_t wall_ns = tsi_table_find(&steps, row, "wall_ns").integer;
		char name[64];

		if (!is_inside(t, start_ns, wall_ns))
			continue;
		snprintf(name, sizeof(name), "step %lld",
			 (long long)tsi_table_find(&steps, row, "step").integer);
		begin_at(t, name, TRACK_STEPS, start_ns, wall_ns);
		put_lines(t, &steps, row);
		tsi_tracks_begin(t, "C", "budget of the step", TRACK_STEPS);
		put_start(t, start_ns);
		tsi_json_object(&t->w, "args");
		put_lines(t, &steps, row);
	}
}

/* ---- idle gaps and findings ---- */

static void put_idle(struct tracks *t, const struct tscope_analysis *analysis)
{
	struct table_view gaps = tsi_lookup_table(analysis, "idle.gaps");

	for (uint32_t i = 0; i < tscope_analysis_device_count(analysis); i++) {
		int32_t ordinal = tscope_analysis_device_ordinal(analysis, i);
		char name[64];

		snprintf(name, sizeof(name), "why device %d idles: the longest gaps", (int)ordinal);
		tsi_tracks_name(t, TRACK_IDLE + (int64_t)ordinal, name);
	}
	for (size_t row = 0; row < gaps.row_count; row++) {
		int64_t start_ns = tsi_table_find(&gaps, row, "start_ns").integer;
		int64_t dur_ns = tsi_table_find(&gaps, row, "duration_ns").integer;

		if (!is_inside(t, start_ns, dur_ns))
			continue;
		begin_at(t, tsi_table_text(&gaps, row, "cause"),
			 TRACK_IDLE + tsi_table_find(&gaps, row, "device").integer, start_ns,
			 dur_ns);
		text_if(t, "inside", tsi_table_text(&gaps, row, "inside"));
		text_if(t, "call", tsi_table_text(&gaps, row, "call"));
		text_if(t, "operator", tsi_table_text(&gaps, row, "operator"));
		text_if(t, "next", tsi_table_text(&gaps, row, "next"));
		tsi_tracks_end(t);
	}
}

static void put_finding(struct tracks *t, const struct tscope_finding *finding)
{
	for (size_t i = 0; i < finding->place_count; i++) {
		const struct tscope_place *place = &finding->places[i];

		if (!is_inside(t, place->start_ns, place->duration_ns))
			continue;
		begin_at(t, finding->rule->id, TRACK_FINDINGS, place->start_ns, place->duration_ns);
		text_if(t, "title", finding->title);
		text_if(t, "detail", finding->detail);
		text_if(t, "advice", finding->advice);
		tsi_json_text(&t->w, "figures", "of the whole trace");
		tsi_tracks_end(t);
	}
}

void tsi_slice_tracks(struct tracks *t, const struct tscope_analysis *analysis,
		      const struct tscope_diagnosis *diagnosis)
{
	put_steps(t, analysis);
	put_idle(t, analysis);
	tsi_tracks_name(t, TRACK_FINDINGS, "findings: where to look");
	for (size_t i = 0; i < tscope_diagnosis_finding_count(diagnosis); i++) {
		struct tscope_finding finding = tscope_diagnosis_finding(diagnosis, i);

		put_finding(t, &finding);
	}
}
