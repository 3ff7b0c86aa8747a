/* SPDX-License-Identifier: MIT */
/*
 * Steps to files: the end of `tscope export`, and the beginning of another
 * tool's path or of another `tscope report`. No digit is lost on the way: times
 * are decimal seconds with all nanoseconds, reals the shortest text that reads
 * back equal.
 */
#include "run/write_steps.h"

#include <inttypes.h>
#include <math.h>

#include "base/real.h"
#include "base/sum.h"
#include "run/record.h"
#include "run/scalars.h"

/* ---- JSON on one line ---- */

struct object {
	FILE *out;
	bool has_members;
};

static struct object open_object(FILE *out)
{
	fputc('{', out);
	return (struct object){ .out = out };
}

static void close_object(const struct object *object)
{
	fputc('}', object->out);
}

static void put_text(FILE *out, struct str text)
{
	fputc('"', out);
	for (size_t i = 0; i < text.length; i++) {
		unsigned char c = (unsigned char)text.data[i];

		if (c < ' ') {
			fprintf(out, "\\u%04x", (unsigned)c);
			continue;
		}
		if (c == '"' || c == '\\')
			fputc('\\', out);
		fputc(c, out);
	}
	fputc('"', out);
}

static void put_name(struct object *object, struct str name)
{
	if (object->has_members)
		fputc(',', object->out);
	object->has_members = true;
	put_text(object->out, name);
	fputc(':', object->out);
}

static void put_key(struct object *object, const char *key)
{
	put_name(object, tsi_str_of(key));
}

static void put_string(struct object *object, const char *key, const char *text)
{
	put_key(object, key);
	put_text(object->out, tsi_str_of(text));
}

static void put_int(struct object *object, const char *key, int64_t number)
{
	put_key(object, key);
	fprintf(object->out, "%" PRId64, number);
}

static void put_flag(struct object *object, const char *key, bool flag)
{
	put_key(object, key);
	fputs(flag ? "true" : "false", object->out);
}

/* 1500000000 as "1.5", 0 as "0.0". */
static void put_seconds(FILE *out, int64_t ns)
{
	char decimals[24];
	size_t length = 9;

	snprintf(decimals, sizeof(decimals), "%09" PRId64, ns % 1000000000);
	while (length > 1 && decimals[length - 1] == '0')
		length--;
	fprintf(out, "%" PRId64 ".%.*s", ns / 1000000000, (int)length, decimals);
}

/* NaN and infinity are written as Python does. */
static void put_real(FILE *out, double value)
{
	char text[REAL_TEXT_MAX];

	if (isnan(value)) {
		fputs("NaN", out);
	} else if (isinf(value)) {
		fputs(value < 0 ? "-Infinity" : "Infinity", out);
	} else {
		tsi_real_shortest(text, value);
		fputs(text, out);
	}
}

/* NAN: it is not said. */
static void put_number(struct object *object, const char *key, double number)
{
	if (isnan(number))
		return;
	put_key(object, key);
	put_real(object->out, number);
}

/* ---- a record ---- */

/* The records are written in order, and what is noted beside them is in the same order. */
struct steps_writer {
	FILE *out;
	const struct step_series *steps;
	size_t next_phase, next_scalar; /* of the extras */
};

/* The next extra if it is one of this record, or NULL. */
static const struct step_extra *next_extra(const struct step_extras *extras, size_t *next,
					   size_t record)
{
	if (*next == extras->count || extras->items[*next].record != record)
		return NULL;
	return &extras->items[(*next)++];
}

static void write_phases(struct steps_writer *w, const struct step_record *record, size_t index)
{
	const struct step_extra *extra;
	struct object phases = open_object(w->out);
	bool is_divided = record->phases != 0;

	for (enum phase phase = 0; phase < PHASE_COUNT; phase++) {
		if (!(record->phases & 1u << phase))
			continue;
		put_key(&phases, tsi_phase_name(phase));
		put_seconds(w->out, record->phase_ns[phase]);
	}
	while ((extra = next_extra(&w->steps->phases, &w->next_phase, index))) {
		put_name(&phases, tsi_intern_text(&w->steps->names, extra->name));
		put_seconds(w->out, tsi_extra_ns(extra));
		is_divided = true;
	}
	if (!is_divided && record->time_ns > 0) { /* else the step would seem to take no time */
		put_key(&phases, "unknown");
		put_seconds(w->out, record->time_ns);
	}
	close_object(&phases);
}

/* "loss" while another metric is the loss: readers would confuse the two. */
static bool is_hidden(const struct step_series *steps, struct str name)
{
	return (tsi_str_is(name, "loss") && tsi_scalar_of_role(steps, SCALAR_LOSS)) ||
	       (tsi_str_is(name, "grad_norm") && tsi_scalar_of_role(steps, SCALAR_GRAD_NORM));
}

static void write_scalars(struct steps_writer *w, const struct step_record *record, size_t index)
{
	const struct step_extra *extra;
	struct object scalars = open_object(w->out);

	if (record->has & STEP_HAS_LOSS) {
		put_key(&scalars, "loss");
		put_real(w->out, record->loss);
	}
	if (record->has & STEP_HAS_GRAD_NORM) {
		put_key(&scalars, "grad_norm");
		put_real(w->out, record->grad_norm);
	}
	while ((extra = next_extra(&w->steps->scalars, &w->next_scalar, index))) {
		struct str name = tsi_intern_text(&w->steps->names, extra->name);

		if (is_hidden(w->steps, name))
			continue;
		put_name(&scalars, name);
		put_real(w->out, extra->value);
	}
	close_object(&scalars);
}

/* Bytes that were no size are none for who reads them again. */
static void write_memory(FILE *out, const struct step_record *record)
{
	struct object memory = open_object(out);

	for (enum step_memory i = 0; i < STEP_MEMORY_COUNT; i++)
		if (record->memory_bytes[i] != NO_BYTES)
			put_int(&memory, tsi_step_memory_name(i), record->memory_bytes[i]);
		else if (record->has & STEP_MEMORY_UNKNOWN)
			put_string(&memory, tsi_step_memory_name(i), "unknown");
	close_object(&memory);
}

static bool has_memory(const struct step_record *record)
{
	for (size_t i = 0; i < STEP_MEMORY_COUNT; i++)
		if (record->memory_bytes[i] != NO_BYTES)
			return true;
	return record->has & STEP_MEMORY_UNKNOWN;
}

static void put_mark(struct object *object, const char *key, uint8_t mark)
{
	put_string(object, key, tscope_step_mark_name((enum tscope_step_mark)mark));
}

static void write_device_budget(struct object *line, const struct budget *budget)
{
	put_key(line, "budget_ns");
	struct object lines = open_object(line->out);
	for (enum tscope_budget_line i = 0; i < TSCOPE_BUDGET_LINE_COUNT; i++)
		put_int(&lines, tscope_budget_line_name(i), budget->line_ns[i]);
	close_object(&lines);

	put_key(line, "compute_phase_ns");
	struct object phases = open_object(line->out);
	for (enum phase phase = 0; phase < PHASE_COUNT; phase++)
		put_int(&phases, tsi_phase_name(phase), budget->compute_phase_ns[phase]);
	close_object(&phases);
}

static void write_host_budget(struct object *line, const struct host_budget *budget)
{
	put_key(line, "host_budget_ns");
	struct object lines = open_object(line->out);
	for (enum host_line i = 0; i < HOST_LINE_COUNT; i++)
		put_int(&lines, tsi_host_line_name(i), budget->line_ns[i]);
	close_object(&lines);
}

static void write_flops(struct object *line, const struct step_flops *flops)
{
	if (flops->flops <= 0 && flops->matrix_ns <= 0)
		return;
	put_key(line, "flops");
	struct object members = open_object(line->out);
	put_number(&members, "all", flops->flops);
	put_number(&members, "repeated", flops->repeated_flops);
	put_int(&members, "matrix_ns", flops->matrix_ns);
	put_int(&members, "counted_ns", flops->counted_ns);
	close_object(&members);
}

/* The parts of a line of communication, where they sum to it. */
static void write_exposed(struct object *line, const struct step_budget *budget, int64_t line_ns)
{
	tsi_wide sum_ns = 0;

	for (enum exposed_part i = 0; i < EXPOSED_PART_COUNT; i++)
		sum_ns += budget->exposed_ns[i];
	if (!budget->has_split || sum_ns != line_ns)
		return;
	put_key(line, "exposed_ns");
	struct object parts = open_object(line->out);
	for (enum exposed_part i = 0; i < EXPOSED_PART_COUNT; i++)
		put_int(&parts, tsi_exposed_part_name(i), budget->exposed_ns[i]);
	close_object(&parts);
}

static void write_budget(struct steps_writer *w, struct object *line,
			 const struct step_record *record)
{
	const struct step_budget *budget = &w->steps->budgets[record->budget];

	put_int(line, "start_ns", budget->start_ns);
	put_int(line, "wall_ns", budget->wall_ns);
	if (budget->mark != record->mark)
		put_mark(line, "budget_mark", budget->mark);
	if (w->steps->device_count > 0) {
		write_device_budget(line, &budget->device);
		write_exposed(line, budget, budget->device.line_ns[TSCOPE_BUDGET_EXPOSED_COMM]);
	} else {
		write_host_budget(line, &budget->host);
		write_exposed(line, budget, budget->host.line_ns[HOST_COMM]);
	}
	write_flops(line, &budget->flops);
	if (budget->has_alloc_peak)
		put_int(line, "alloc_peak_ns", budget->alloc_peak_ns);
}

static void write_record(struct steps_writer *w, size_t index)
{
	const struct step_record *record = &w->steps->records[index];
	struct object line = open_object(w->out);

	put_int(&line, "step", record->number);
	if (record->has & STEP_HAS_TIME) {
		put_key(&line, "phases");
		write_phases(w, record, index);
	} else if (record->has & STEP_TIME_UNKNOWN) {
		put_string(&line, "timed", "unknown");
	} else if (record->budget == NO_ROW) {
		put_flag(&line, "timed", false);
	}
	put_key(&line, "scalars");
	write_scalars(w, record, index);
	if (has_memory(record)) {
		put_key(&line, "memory");
		write_memory(w->out, record);
	}
	if (record->mark != TSCOPE_STEP_COUNTED)
		put_mark(&line, "mark", record->mark);
	if (record->budget != NO_ROW)
		write_budget(w, &line, record);
	close_object(&line);
	fputc('\n', w->out);
}

void tsi_write_steps(FILE *out, const struct step_series *steps)
{
	struct steps_writer w = { .out = out, .steps = steps };

	for (size_t i = 0; i < steps->count; i++)
		write_record(&w, i);
}

/* ---- run.json ---- */

static void write_peak(struct object *own, const struct step_peak *peak)
{
	if (!(peak->flops_per_second > 0) && !peak->device && peak->precision[0] == '\0' &&
	    peak->lack[0] == '\0')
		return;
	put_key(own, "peak");
	struct object members = open_object(own->out);
	put_number(&members, "flops_per_second", peak->flops_per_second);
	if (peak->device)
		put_string(&members, "device", peak->device);
	put_string(&members, "precision", peak->precision);
	put_string(&members, "lack", peak->lack);
	close_object(&members);
}

/*
 * Other readers know flops_per_step and peak_flops only, and expect a name. Where these are
 * made of what the steps and the peak below say, or of nothing, reading them back must not take
 * them for more.
 */
static void write_own(FILE *out, const struct step_series *steps)
{
	struct object own = open_object(out);

	put_flag(&own, "has_start", steps->has_start);
	put_flag(&own, "point_to_point", steps->has_point_to_point);
	put_flag(&own, "times_from_trace", steps->is_of_trace);
	if (steps->provenance.run_name == 0)
		put_flag(&own, "name_from_tscope", true);
	if (steps->provenance.step_count < 0)
		put_flag(&own, "n_steps_from_records", true);
	if (!(steps->flops_per_step > 0) && steps->counted_flops_per_step > 0)
		put_flag(&own, "flops_from_operators", true);
	if (!(steps->peak_flops > 0) && steps->peak.flops_per_second > 0)
		put_flag(&own, "peak_from_device", true);
	if (steps->memory_event_count > 0) {
		put_int(&own, "memory_event_count", steps->memory_event_count);
		put_int(&own, "oom_count", steps->oom_count);
	}
	if (steps->hardware_flops_per_step > 0)
		put_number(&own, "hardware_flops_per_step", steps->hardware_flops_per_step);
	write_peak(&own, &steps->peak);
	if (steps->doubt)
		put_string(&own, "doubt", steps->doubt);
	close_object(&own);
}

static void write_settings(struct object *object, const char *key, const struct intern *names,
			   const struct step_settings *settings)
{
	if (settings->count == 0)
		return;
	put_key(object, key);
	struct object members = open_object(object->out);
	for (size_t i = 0; i < settings->count; i++) {
		struct str value = tsi_intern_text(names, settings->items[i].value);

		put_name(&members, tsi_intern_text(names, settings->items[i].name));
		if (settings->items[i].is_text)
			put_text(object->out, value);
		else
			fwrite(value.data, 1, value.length, object->out);
	}
	close_object(&members);
}

static void write_provenance(struct object *run, const struct step_series *steps)
{
	const struct step_provenance *provenance = &steps->provenance;

	put_number(run, "started", provenance->started_s);
	put_number(run, "wall_time", provenance->wall_s);
	write_settings(run, "environment", &steps->names, &provenance->environment);
	write_settings(run, "config", &steps->names, &provenance->config);
}

void tsi_write_run_json(FILE *out, const struct step_series *steps)
{
	const struct step_provenance *provenance = &steps->provenance;
	double flops =
		steps->flops_per_step > 0 ? steps->flops_per_step : steps->counted_flops_per_step;
	double peak = steps->peak_flops > 0 ? steps->peak_flops : steps->peak.flops_per_second;
	struct object run = open_object(out);

	put_key(&run, "name");
	put_text(out, provenance->run_name ? tsi_intern_text(&steps->names, provenance->run_name)
					   : TSI_STR("run"));
	if (steps->rank >= 0)
		put_int(&run, "rank", steps->rank);
	if (steps->world_size >= 0)
		put_int(&run, "world_size", steps->world_size);
	put_int(&run, "n_steps",
		provenance->step_count >= 0 ? provenance->step_count : (int64_t)steps->count);
	if (flops > 0)
		put_number(&run, "flops_per_step", flops);
	if (peak > 0)
		put_number(&run, "peak_flops", peak);
	write_provenance(&run, steps);
	put_key(&run, "tscope");
	write_own(out, steps);
	close_object(&run);
	fputc('\n', out);
}
