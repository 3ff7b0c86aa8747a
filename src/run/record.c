/* SPDX-License-Identifier: MIT */
/*
 * From the JSON text of one step record to the record. A writer of another
 * language and version, or one that was killed, wrote the text: what is missing
 * is fine, what makes no sense is counted and left out, and the rest is taken.
 */
#include "run/record.h"

#include <math.h>
#include <string.h>

#include "base/sum.h"
#include "decode/json.h"
#include "run/metrics.h"

enum {
	NAME_MAX_BYTES = 256,     /* of a phase or a scalar, without escapes */
	ESCAPED_MAX = 6,          /* bytes that one byte may be written as: \u001f */
	RECORD_MAX_EXTRAS = 1024, /* phases, or scalars, of unknown names in one record */
	MAX_DEVICES = 1 << 16,
};

static const char *const member_names[] = { RECORD_MEMBERS(TSI_NAMED_TEXT) };

static const char *const memory_names[] = { STEP_MEMORIES(TSI_NAMED_TEXT) };

const char *tsi_step_memory_name(enum step_memory memory)
{
	return memory_names[memory];
}

/* ---- the members ---- */

/* 3 and 3.0 are integral, 3.5 and "3" are not. */
static bool parse_integral(struct str value, int64_t *number)
{
	double real;

	return !tsi_json_is_string(value) && tsi_json_to_int64(value, number) &&
	       tsi_json_to_double(value, &real) && (double)*number == real;
}

static void keep_member(struct record_text *record, struct str key, struct str value)
{
	for (size_t i = 0; i < RECORD_MEMBER_COUNT; i++) {
		if (tsi_str_equal(key, tsi_str_of(member_names[i]))) {
			record->members[i] = value;
			return;
		}
	}
	record->has_others = true;
}

bool tsi_record_split(struct record_text *record, struct str line)
{
	struct json_cursor members;
	struct str key, value;

	*record = (struct record_text){ 0 };
	tsi_json_object_open(&members, line);
	while (tsi_json_object_next(&members, &key, &value))
		keep_member(record, key, value);
	for (size_t i = RECORD_STEP; i <= RECORD_GLOBAL_STEP; i++)
		if (record->members[i].length > 0)
			return parse_integral(record->members[i], &record->number);
	return false;
}

/* ---- phases, scalars, memory ---- */

/* Where the values of one record go. */
struct target {
	struct step_series *steps;
	struct step_record *record; /* the last one of steps */
	struct store_log *log;
	bool has_bad_phase;
};

/* Reads one member of a block; what is bad is counted. */
typedef void read_member(struct target *to, struct str name, struct str value);

static void refuse_value(struct target *to)
{
	to->log->bad_value_count++;
}

/* Absent and null say the same: nothing. */
static bool is_said(struct str value)
{
	return value.length > 0 && !tsi_str_is(value, "null");
}

/* text: room for the name. False: it is too long, or none. */
static bool unescape_name(struct str *name, struct str key, char text[ESCAPED_MAX * NAME_MAX_BYTES])
{
	uint64_t bad_escapes = 0;

	if (key.length > ESCAPED_MAX * NAME_MAX_BYTES)
		return false;
	*name = (struct str){ text, tsi_json_unescape(key, text, &bad_escapes) };
	return name->length <= NAME_MAX_BYTES && !memchr(text, '\0', name->length);
}

static read_member read_phase;

static void refuse_phase(struct target *to)
{
	to->has_bad_phase = true;
	refuse_value(to);
}

static void read_block(struct target *to, struct str block, read_member *read)
{
	struct json_cursor members;
	struct str key, value;
	struct str name;
	char text[ESCAPED_MAX * NAME_MAX_BYTES];

	if (is_said(block) && block.data[0] != '{') {
		to->has_bad_phase |= read == read_phase;
		refuse_value(to);
		return;
	}
	tsi_json_object_open(&members, block);
	while (tsi_json_object_next(&members, &key, &value)) {
		/* A null among phases is a time that was no number. */
		if (!is_said(value) && read != read_phase)
			continue;
		if (unescape_name(&name, key, text))
			read(to, name, value);
		else
			refuse_value(to);
	}
}

/* A phase or scalar of another name. As with all members, of two with one name the last counts. */
static void set_extra(struct target *to, struct step_extras *extras, struct str name, double value)
{
	uint32_t record = (uint32_t)(to->steps->count - 1);
	bool is_full = extras->count >= RECORD_MAX_EXTRAS &&
		       extras->items[extras->count - RECORD_MAX_EXTRAS].record == record;

	if (is_full || !tsi_steps_add_extra(to->steps, extras, name, value)) {
		refuse_value(to);
		return;
	}

	size_t added = extras->count - 1;
	for (size_t i = added; i-- > 0 && extras->items[i].record == record;) {
		if (extras->items[i].name == extras->items[added].name) {
			extras->items[i].value = value;
			extras->count--;
			break;
		}
	}
}

static void read_phase(struct target *to, struct str name, struct str value)
{
	int64_t ns;

	if (tsi_json_is_string(value) || !tsi_json_seconds_to_ns(value, &ns) || ns < 0) {
		refuse_phase(to);
		return;
	}
	for (enum phase phase = 0; phase < PHASE_COUNT; phase++) {
		if (tsi_str_equal(name, tsi_str_of(tsi_phase_name(phase)))) {
			to->record->phase_ns[phase] = ns;
			to->record->phases |= (uint8_t)(1u << phase);
			return;
		}
	}
	set_extra(to, &to->steps->phases, name, (double)ns);
}

/*
 * A number, or what Python calls one: NaN, Infinity and -Infinity bare, and as
 * "nan" or "-inf" where a type that json does not know was written as its text.
 */
static bool parse_scalar(struct str value, double *number)
{
	struct str word = tsi_json_unquote(value);

	if (tsi_json_to_double(value, number))
		return true;
	return tsi_metric_to_double(word, number) && !isfinite(*number) &&
	       !tsi_str_starts(word, "+");
}

/* Anything may be logged: texts and lists are no scalars, and no damage either. */
static void read_scalar(struct target *to, struct str name, struct str value)
{
	double number;

	if (!parse_scalar(value, &number))
		return;
	if (tsi_str_is(name, "loss")) {
		to->record->loss = number;
		to->record->has |= STEP_HAS_LOSS;
	} else if (tsi_str_is(name, "grad_norm")) {
		to->record->grad_norm = number;
		to->record->has |= STEP_HAS_GRAD_NORM;
	} else {
		set_extra(to, &to->steps->scalars, name, number);
	}
}

static void read_memory(struct target *to, struct str name, struct str value)
{
	int64_t bytes;

	for (enum step_memory i = 0; i < STEP_MEMORY_COUNT; i++) {
		if (!tsi_str_equal(name, tsi_str_of(memory_names[i])))
			continue;
		if (!tsi_json_is_string(value) && *value.data != '-' &&
		    tsi_json_to_int64(value, &bytes)) {
			to->record->memory_bytes[i] = bytes;
			return;
		}
		to->record->memory_bytes[i] = NO_BYTES;
		to->record->has |= STEP_MEMORY_UNKNOWN;
		if (!tsi_str_is(value, "\"unknown\"")) /* as tscope export writes it */
			refuse_value(to);
		return;
	}
}

/* ---- our own: mark and budget ---- */

static uint8_t mark_of(struct str value, uint8_t otherwise)
{
	struct str name = tsi_json_unquote(value);

	if (!tsi_json_is_string(value))
		return otherwise;
	for (enum tscope_step_mark mark = 0; mark <= TSCOPE_STEP_UNRECORDED; mark++)
		if (tsi_str_equal(name, tsi_str_of(tscope_step_mark_name(mark))))
			return (uint8_t)mark;
	return otherwise;
}

static int64_t read_ns(struct target *to, struct str block, const char *name)
{
	struct str value = tsi_json_object_get(block, tsi_str_of(name));
	int64_t ns;

	if (!is_said(value))
		return 0;
	if (tsi_json_to_int64(value, &ns) && ns >= 0)
		return ns;
	to->log->bad_value_count++;
	return 0;
}

static double read_flops(struct target *to, struct str block, const char *name)
{
	struct str value = tsi_json_object_get(block, tsi_str_of(name));
	double flops;

	if (!is_said(value))
		return 0;
	if (tsi_json_to_double(value, &flops) && flops >= 0 && isfinite(flops))
		return flops;
	to->log->bad_value_count++;
	return 0;
}

/* A part cannot exceed the whole. */
static void check_flops(struct target *to, struct step_flops *flops)
{
	if (flops->repeated_flops > flops->flops || flops->counted_ns > flops->matrix_ns)
		to->log->bad_value_count++;
	if (flops->repeated_flops > flops->flops)
		flops->repeated_flops = flops->flops;
	if (flops->counted_ns > flops->matrix_ns)
		flops->counted_ns = flops->matrix_ns;
}

/* The parts sum to the line that they are of; if not, there are none. */
static void read_exposed(struct target *to, struct step_budget *budget, struct str block)
{
	tsi_wide sum_ns = 0;

	if (!is_said(block))
		return;
	for (enum exposed_part i = 0; i < EXPOSED_PART_COUNT; i++) {
		budget->exposed_ns[i] = read_ns(to, block, tsi_exposed_part_name(i));
		sum_ns += budget->exposed_ns[i];
	}
	budget->has_split = sum_ns == budget->device.line_ns[TSCOPE_BUDGET_EXPOSED_COMM] +
					      (tsi_wide)budget->host.line_ns[HOST_COMM];
	if (budget->has_split)
		return;
	to->log->bad_value_count++;
	memset(budget->exposed_ns, 0, sizeof(budget->exposed_ns));
}

/* The lines of each device sum to the wall time. 0: unknown, as the step took no time. */
static uint32_t devices_of(const struct step_budget *budget)
{
	int64_t sum_ns = 0, count;

	if (budget->wall_ns == 0)
		return 0;
	for (size_t line = 0; line < TSCOPE_BUDGET_LINE_COUNT; line++)
		tsi_sum(&sum_ns, budget->device.line_ns[line]);
	count = sum_ns / budget->wall_ns;
	return (uint32_t)(count < 1 ? 1 : count > MAX_DEVICES ? MAX_DEVICES : count);
}

bool tsi_record_has_budget(const struct record_text *text)
{
	int64_t wall_ns;

	return tsi_json_to_int64(text->members[RECORD_WALL_NS], &wall_ns) && wall_ns >= 0 &&
	       (is_said(text->members[RECORD_BUDGET_NS]) ||
		is_said(text->members[RECORD_HOST_BUDGET_NS]));
}

static void read_budget(struct target *to, const struct record_text *text)
{
	const struct str *members = text->members;
	struct step_budget budget = {
		.mark = mark_of(members[RECORD_BUDGET_MARK], to->record->mark),
	};

	if (!tsi_record_has_budget(text))
		return;
	(void)tsi_json_to_int64(members[RECORD_START_NS], &budget.start_ns);
	(void)tsi_json_to_int64(members[RECORD_WALL_NS], &budget.wall_ns);
	for (enum tscope_budget_line line = 0; line < TSCOPE_BUDGET_LINE_COUNT; line++)
		budget.device.line_ns[line] =
			read_ns(to, members[RECORD_BUDGET_NS], tscope_budget_line_name(line));
	for (enum phase phase = 0; phase < PHASE_COUNT; phase++)
		budget.device.compute_phase_ns[phase] =
			read_ns(to, members[RECORD_COMPUTE_PHASE_NS], tsi_phase_name(phase));
	for (enum host_line line = 0; line < HOST_LINE_COUNT; line++)
		budget.host.line_ns[line] =
			read_ns(to, members[RECORD_HOST_BUDGET_NS], tsi_host_line_name(line));
	budget.flops = (struct step_flops){
		.flops = read_flops(to, members[RECORD_FLOPS], "all"),
		.repeated_flops = read_flops(to, members[RECORD_FLOPS], "repeated"),
		.matrix_ns = read_ns(to, members[RECORD_FLOPS], "matrix_ns"),
		.counted_ns = read_ns(to, members[RECORD_FLOPS], "counted_ns"),
	};
	check_flops(to, &budget.flops);
	budget.has_alloc_peak =
		tsi_json_to_int64(members[RECORD_ALLOC_PEAK_NS], &budget.alloc_peak_ns);
	read_exposed(to, &budget, members[RECORD_EXPOSED_NS]);
	if (is_said(members[RECORD_BUDGET_NS]) && to->steps->device_count == 0)
		to->steps->device_count = devices_of(&budget);
	to->record->budget = tsi_steps_add_budget(to->steps, &budget);
}

/* ---- the whole ---- */

static int64_t sum_of_phases(const struct target *to)
{
	const struct step_extras *extras = &to->steps->phases;
	uint32_t record = (uint32_t)(to->steps->count - 1);
	int64_t sum_ns = 0;

	for (size_t phase = 0; phase < PHASE_COUNT; phase++)
		tsi_sum(&sum_ns, to->record->phase_ns[phase]);
	for (size_t i = extras->count; i-- > 0 && extras->items[i].record == record;)
		tsi_sum(&sum_ns, tsi_extra_ns(&extras->items[i]));
	return sum_ns;
}

/*
 * A record without phases is judged when all are read (tsi_steps_settle_times), unless it is a
 * budget of ours. The sum of the other phases is no step's time where one is no duration.
 */
static void take_time(struct target *to, const struct record_text *text)
{
	const struct str *members = text->members;
	int64_t sum_ns = sum_of_phases(to);

	if (to->has_bad_phase || sum_ns == INT64_MAX ||
	    tsi_str_is(members[RECORD_TIMED], "\"unknown\""))
		to->record->has |= STEP_TIME_UNKNOWN;
	else if (members[RECORD_PHASES].length > 0 ||
		 (!tsi_record_has_budget(text) && !tsi_str_is(members[RECORD_TIMED], "false")))
		to->record->has |= STEP_HAS_TIME;
	if (to->record->has & STEP_HAS_TIME)
		to->record->time_ns = sum_ns;
}

void tsi_record_add(struct step_series *steps, const struct record_text *record,
		    struct store_log *log)
{
	const struct str *members = record->members;
	struct target to = {
		.steps = steps,
		.log = log,
		.record = tsi_steps_add(steps, record->number),
	};

	if (!to.record)
		return;
	read_block(&to, members[RECORD_PHASES], read_phase);
	read_block(&to, members[RECORD_SCALARS], read_scalar);
	read_block(&to, members[RECORD_MEMORY], read_memory);
	to.record->mark = mark_of(members[RECORD_MARK], TSCOPE_STEP_COUNTED);
	take_time(&to, record);
	read_budget(&to, record);
}
