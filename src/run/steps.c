/* SPDX-License-Identifier: MIT */
/*
 * Step series: how they grow, how a trace's timeline becomes one, how the two
 * kinds of a rank are joined, and how several ranks become the steps of the run.
 */
#include "run/steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/error.h"
#include "base/sum.h"
#include "run/align.h"
#include "run/settings.h"
#include "run/step_memory.h"

enum { MAX_STEP_NAMES = 1 << 16 };

static const char *const phase_names[PHASE_COUNT] = {
	[PHASE_DATA] = "data",           [PHASE_FORWARD] = "forward", [PHASE_BACKWARD] = "backward",
	[PHASE_OPTIMIZER] = "optimizer", [PHASE_COMM] = "comm",       [PHASE_COMPUTE] = "compute",
	[PHASE_OTHER] = "other",
};

const char tsi_timeless_doubt[] =
	"no step record holds a phase that took time: times are not known";

const char tsi_overlap_doubt[] =
	"steps overlap: marks end after the next one begins, so how long steps take is not known";

const char tsi_mixed_doubt[] = "events of several processes are in one file: figures mix them";

const char *tsi_step_time_doubt(const struct step_series *steps)
{
	static const char *const doubts[] = { tsi_overlap_doubt, tsi_mixed_doubt };

	for (size_t i = 0; steps->is_of_trace && steps->doubt && i < TSI_COUNT_OF(doubts); i++)
		if (strcmp(steps->doubt, doubts[i]) == 0)
			return doubts[i];
	return NULL;
}

const char *tsi_exposed_part_name(enum exposed_part part)
{
	static const char *const names[EXPOSED_PART_COUNT] = { "wait", "transfer", "unsplit",
							       "own" };

	return names[part];
}

const char *tsi_phase_name(enum phase phase)
{
	return phase_names[phase];
}

int64_t tsi_time_of_run(const struct tscope_trace *trace, int64_t time_ns)
{
	int64_t unix_ns;

	return tsi_ckd_add(&unix_ns, time_ns, trace->info.base_time_ns) ? time_ns : unix_ns;
}

void tsi_steps_init(struct step_series *steps)
{
	*steps = (struct step_series){
		.rank = -1,
		.world_size = -1,
		.provenance = { .started_s = NAN, .wall_s = NAN, .step_count = -1 },
	};
	steps->has_failed = tsi_intern_init(&steps->names, MAX_STEP_NAMES, NULL) != TSCOPE_OK;
}

enum tscope_status tsi_steps_status(const struct step_series *steps, struct tscope_error *err)
{
	return steps->has_failed ? tsi_fail_nomem(err) : TSCOPE_OK;
}

uint32_t tsi_steps_name(struct step_series *steps, struct str text)
{
	enum tscope_status status = TSCOPE_E_NOMEM;
	uint32_t id;

	if (!steps->has_failed)
		status = tsi_intern_add(&steps->names, text, &id, NULL);
	steps->has_failed |= status == TSCOPE_E_NOMEM;
	return status == TSCOPE_OK ? id : NO_ROW;
}

void tsi_steps_deinit(struct step_series *steps)
{
	free(steps->records);
	free(steps->budgets);
	free(steps->phases.items);
	free(steps->scalars.items);
	free(steps->scalar_names);
	free(steps->provenance.environment.items);
	free(steps->provenance.config.items);
	tsi_intern_deinit(&steps->names);
	*steps = (struct step_series){ 0 };
}

void tsi_steps_move(struct step_series *to, struct step_series *from)
{
	tsi_steps_deinit(to);
	*to = *from;
	*from = (struct step_series){ 0 };
}

/* Room for one item more in an array of the series. False without memory. */
static bool has_room(struct step_series *steps, void *items, size_t *capacity, size_t count,
		     size_t item_bytes)
{
	steps->has_failed =
		steps->has_failed || count >= NO_ROW ||
		tsi_array_reserve(items, capacity, count + 1, item_bytes, NULL) != TSCOPE_OK;
	return !steps->has_failed;
}

static struct step_record *add_record(struct step_series *steps, const struct step_record *record)
{
	if (!has_room(steps, &steps->records, &steps->capacity, steps->count, sizeof(*record)))
		return NULL;
	steps->records[steps->count] = *record;
	return &steps->records[steps->count++];
}

struct step_record tsi_step_record(int64_t number)
{
	struct step_record record = { .number = number, .budget = NO_ROW };

	for (size_t i = 0; i < STEP_MEMORY_COUNT; i++)
		record.memory_bytes[i] = NO_BYTES;
	return record;
}

struct step_record *tsi_steps_add(struct step_series *steps, int64_t number)
{
	struct step_record record = tsi_step_record(number);

	return add_record(steps, &record);
}

bool tsi_steps_add_extra(struct step_series *steps, struct step_extras *extras, struct str name,
			 double value)
{
	uint32_t id = tsi_steps_name(steps, name);

	if (id == NO_ROW || !has_room(steps, &extras->items, &extras->capacity, extras->count,
				      sizeof(*extras->items)))
		return false;
	extras->items[extras->count++] =
		(struct step_extra){ (uint32_t)(steps->count - 1), id, value };
	return true;
}

uint32_t tsi_steps_add_budget(struct step_series *steps, const struct step_budget *budget)
{
	if (!has_room(steps, &steps->budgets, &steps->budget_capacity, steps->budget_count,
		      sizeof(*budget)))
		return NO_ROW;
	steps->budgets[steps->budget_count] = *budget;
	return (uint32_t)steps->budget_count++;
}

static bool is_in_range(const struct step_record *record,
			const struct tscope_timeline_options *options)
{
	return !options->has_range ||
	       (record->number >= options->first_step && record->number <= options->last_step);
}

/* Takes the extras of records that are gone out, and renumbers the others. */
static void keep_extras(struct step_extras *extras, const struct step_record *records,
			size_t record_count, const struct tscope_timeline_options *options)
{
	size_t kept = 0, gone = 0;
	uint32_t record = 0;

	for (size_t i = 0; i < extras->count; i++) {
		struct step_extra extra = extras->items[i];

		for (; record < extra.record; record++)
			gone += !is_in_range(&records[record], options);
		if (extra.record >= record_count || !is_in_range(&records[extra.record], options))
			continue;
		extra.record -= (uint32_t)gone;
		extras->items[kept++] = extra;
	}
	extras->count = kept;
}

void tsi_steps_select(struct step_series *steps, const struct tscope_timeline_options *options)
{
	size_t kept = 0;

	if (!options)
		return;
	keep_extras(&steps->phases, steps->records, steps->count, options);
	keep_extras(&steps->scalars, steps->records, steps->count, options);
	for (size_t i = 0; i < steps->count; i++)
		if (is_in_range(&steps->records[i], options))
			steps->records[kept++] = steps->records[i];
	steps->count = kept;
	for (size_t i = 0; i < kept && i < options->warmup; i++) {
		steps->records[i].mark = TSCOPE_STEP_WARMUP;
		if (steps->records[i].budget != NO_ROW)
			steps->budgets[steps->records[i].budget].mark = TSCOPE_STEP_WARMUP;
	}
}

/* ---- from a timeline ---- */

static struct step_budget budget_of_step(const struct tscope_timeline *timeline, uint32_t step)
{
	struct step_budget sum = {
		.start_ns = tsi_time_of_run(timeline->trace, timeline->steps[step].start_ns),
		.wall_ns = timeline->steps[step].wall_ns,
		.mark = (uint8_t)timeline->steps[step].mark,
	};

	if (timeline->host_budgets)
		sum.host = timeline->host_budgets[step];
	for (uint32_t d = 0; d < timeline->trace->device_count; d++) {
		const struct budget *part = tsi_timeline_budget(timeline, step, d);
		for (size_t line = 0; line < TSCOPE_BUDGET_LINE_COUNT; line++)
			tsi_sum(&sum.device.line_ns[line], part->line_ns[line]);
		for (size_t phase = 0; phase < PHASE_COUNT; phase++)
			tsi_sum(&sum.device.compute_phase_ns[phase], part->compute_phase_ns[phase]);
		for (size_t cause = 0; cause < IDLE_CAUSE_COUNT; cause++)
			tsi_sum(&sum.device.idle_ns[cause], part->idle_ns[cause]);
	}
	return sum;
}

/*
 * A device's time as pytscope's phases: compute by the phase that launched it,
 * communication and data where they are exposed, everything else as "other". Of
 * several devices it is the mean, and what division leaves over is "other", so that
 * the phases sum to the wall time.
 */
static void phases_of_devices(struct step_record *record, const struct budget *budget,
			      uint32_t device_count)
{
	const int64_t *compute = budget->compute_phase_ns, *line = budget->line_ns;
	int64_t *phase = record->phase_ns, rest_ns = record->time_ns;

	phase[PHASE_FORWARD] = compute[PHASE_FORWARD] / device_count;
	phase[PHASE_BACKWARD] = compute[PHASE_BACKWARD] / device_count;
	phase[PHASE_OPTIMIZER] = compute[PHASE_OPTIMIZER] / device_count;
	phase[PHASE_COMPUTE] = line[TSCOPE_BUDGET_COMPUTE] / device_count - phase[PHASE_FORWARD] -
			       phase[PHASE_BACKWARD] - phase[PHASE_OPTIMIZER];
	phase[PHASE_COMM] = line[TSCOPE_BUDGET_EXPOSED_COMM] / device_count;
	phase[PHASE_DATA] = line[TSCOPE_BUDGET_DATA_STALL] / device_count;
	for (size_t i = 0; i < PHASE_OTHER; i++)
		rest_ns -= phase[i];
	phase[PHASE_OTHER] = rest_ns;
}

static void phases_of_host(struct step_record *record, const struct host_budget *budget)
{
	static const enum phase phase_of_line[HOST_LINE_COUNT] = {
		[HOST_DATA] = PHASE_DATA,         [HOST_FORWARD] = PHASE_FORWARD,
		[HOST_BACKWARD] = PHASE_BACKWARD, [HOST_OPTIMIZER] = PHASE_OPTIMIZER,
		[HOST_COMM] = PHASE_COMM,         [HOST_OTHER] = PHASE_OTHER,
	};

	for (size_t line = 0; line < HOST_LINE_COUNT; line++)
		record->phase_ns[phase_of_line[line]] = budget->line_ns[line];
}

static void fill_from_timeline(struct step_record *record, const struct tscope_timeline *timeline,
			       const struct step_budget *budget)
{
	record->mark = budget->mark;
	record->has = STEP_HAS_TIME;
	record->time_ns = budget->wall_ns;
	if (timeline->host_budgets)
		phases_of_host(record, &budget->host);
	else if (timeline->trace->device_count)
		phases_of_devices(record, &budget->device, timeline->trace->device_count);
	for (size_t phase = 0; phase < PHASE_COUNT; phase++)
		if (record->phase_ns[phase] != 0)
			record->phases |= (uint8_t)(1u << phase);
}

/*
 * Do ranks send to one another, as the stages of a pipeline do? Only what the
 * operator is called decides: kernels that send and receive do all-to-all, too.
 */
static bool has_point_to_point(const struct tscope_trace *trace)
{
	for (size_t i = 0; i < trace->collective_count; i++) {
		struct str name = tsi_intern_text(&trace->names, trace->collectives[i].name);

		if (trace->collectives[i].kind == COLLECTIVE_SEND_RECV &&
		    (tsi_str_find(name, TSI_STR("send")) >= 0 ||
		     tsi_str_find(name, TSI_STR("recv")) >= 0))
			return true;
	}
	return false;
}

void tsi_steps_add_timeline(struct step_series *steps, const struct tscope_timeline *timeline)
{
	const struct tscope_trace *trace = timeline->trace;
	bool has_budget = !tsi_timeline_has_several_workers(timeline);

	steps->device_count = trace->device_count;
	steps->has_start = trace->info.has_base_time;
	steps->has_point_to_point = has_point_to_point(trace);
	steps->is_of_trace = true;
	steps->is_counted = !timeline->is_numbered;
	for (uint32_t i = 0; i < timeline->step_count; i++) {
		struct step_budget budget = budget_of_step(timeline, i);
		struct step_record *record = tsi_steps_add(steps, timeline->steps[i].number);
		uint32_t index = has_budget ? tsi_steps_add_budget(steps, &budget) : NO_ROW;

		if (steps->has_failed)
			return;
		record->budget = index;
		fill_from_timeline(record, timeline, &budget);
	}
	tsi_note_memory(steps, timeline);
	tsi_settings_of_trace(steps, trace);
}

/* ---- joining ---- */

/* A peak, or why there is none. */
static bool says_something(const struct step_peak *peak)
{
	return peak->flops_per_second > 0 || peak->lack[0] != '\0';
}

/* Takes what is said once for all budgets of a series. */
static void describe_budgets(struct step_series *steps, const struct step_series *from)
{
	steps->device_count = from->device_count;
	steps->has_start = from->has_start;
	steps->has_point_to_point |= from->has_point_to_point;
	steps->is_counted |= from->is_counted;
	tsi_sum(&steps->memory_event_count, from->memory_event_count);
	tsi_sum(&steps->oom_count, from->oom_count);
	if (!(steps->peak.flops_per_second > 0) && says_something(&from->peak))
		steps->peak = from->peak;
	if (!steps->doubt)
		steps->doubt = from->doubt;
}

void tsi_steps_append(struct step_series *steps, const struct step_series *from)
{
	describe_budgets(steps, from);
	steps->is_of_trace |= from->is_of_trace;
	for (size_t i = 0; i < from->count; i++) {
		struct step_record record = from->records[i];

		if (record.budget != NO_ROW)
			record.budget = tsi_steps_add_budget(steps, &from->budgets[record.budget]);
		(void)add_record(steps, &record);
	}
}

size_t tsi_count_timed(const struct step_series *steps)
{
	size_t count = 0;

	for (size_t i = 0; i < steps->count; i++)
		count += tsi_step_is_timed(&steps->records[i]);
	return count;
}

int64_t tsi_count_unknown_times(const struct step_series *steps)
{
	int64_t count = steps->unknown_time_count;

	for (size_t i = 0; i < steps->count; i++)
		count += (steps->records[i].has & STEP_TIME_UNKNOWN) &&
			 steps->records[i].mark == TSCOPE_STEP_COUNTED;
	return count;
}

enum tscope_status tsi_steps_by_number(struct sort_pair **ret, size_t *count,
				       const struct step_series *steps, bool only_timed,
				       struct tscope_error *err)
{
	struct sort_pair *pairs = NULL, *scratch = NULL;
	size_t taken = 0;

	if (tsi_array_new(&pairs, steps->count, sizeof(*pairs), err) != TSCOPE_OK ||
	    tsi_array_new(&scratch, steps->count, sizeof(*scratch), err) != TSCOPE_OK) {
		free(pairs);
		return TSCOPE_E_NOMEM;
	}
	for (size_t i = 0; i < steps->count; i++)
		if (!only_timed || tsi_step_is_timed(&steps->records[i]))
			pairs[taken++] =
				(struct sort_pair){ tsi_sort_key_of_int64(steps->records[i].number),
						    i };
	tsi_sort_pairs(pairs, scratch, taken);
	free(scratch);
	*ret = pairs;
	*count = taken;
	return TSCOPE_OK;
}

uint32_t tsi_step_of_number(const struct sort_pair *pairs, size_t count, int64_t number)
{
	uint64_t key = tsi_sort_key_of_int64(number);
	size_t low = 0, high = count;

	TSI_BISECT(low, high, pairs[middle].key < key);
	return low < count && pairs[low].key == key ? (uint32_t)pairs[low].value : NO_ROW;
}

/* How many records hold no phase; forget: of their times nothing is known. */
static size_t count_timeless(struct step_series *steps, bool forget)
{
	const struct step_extras *extras = &steps->phases;
	size_t count = 0, extra = 0;

	for (size_t i = 0; i < steps->count; i++) {
		struct step_record *record = &steps->records[i];
		bool has_phase = record->phases != 0;

		for (; extra < extras->count && extras->items[extra].record == i; extra++)
			has_phase = true;
		count += !has_phase;
		if (!forget || has_phase || !(record->has & STEP_HAS_TIME))
			continue;
		record->has &= (uint8_t)~STEP_HAS_TIME;
		record->has |= STEP_TIME_UNKNOWN;
	}
	return count;
}

static bool takes_time(const struct step_series *steps)
{
	for (size_t i = 0; i < steps->count; i++)
		if (!(steps->records[i].has & STEP_HAS_TIME) || steps->records[i].time_ns > 0)
			return true;
	return false;
}

void tsi_steps_settle_times(struct step_series *steps)
{
	size_t count = count_timeless(steps, false);

	steps->is_timeless = steps->count > 0 && (count == steps->count || !takes_time(steps));
	if (count > 0 && !steps->is_timeless)
		count_timeless(steps, true);
}

/* Before times come from elsewhere: those that are there mean nothing. */
static void forget_times(struct step_series *steps)
{
	for (size_t i = 0; i < steps->count; i++)
		steps->records[i].has &= (uint8_t) ~(STEP_HAS_TIME | STEP_TIME_UNKNOWN);
	steps->is_timeless = false;
}

/* Takes over how long a step took and what its time went to. */
static void take_time(struct step_record *record, const struct step_record *from)
{
	record->time_ns = from->time_ns;
	memcpy(record->phase_ns, from->phase_ns, sizeof(record->phase_ns));
	record->phases = from->phases;
	record->has |= from->has & STEP_HAS_TIME;
	if (record->mark == TSCOPE_STEP_COUNTED)
		record->mark = from->mark;
}

/* The record's own figures stay. That of the peak's time, too, is only the trace's. */
static void take_memory(struct step_record *record, struct step_budget *budget,
			const struct step_record *from)
{
	budget->has_alloc_peak &= record->memory_bytes[STEP_MEMORY_PEAK_ALLOC] == NO_BYTES;
	for (size_t i = 0; i < STEP_MEMORY_COUNT; i++)
		if (record->memory_bytes[i] == NO_BYTES)
			record->memory_bytes[i] = from->memory_bytes[i];
}

/* Joins a step of a trace to the record `index`, or to a new one where that is NO_ROW. */
static void join_step(struct step_series *steps, uint32_t index, const struct step_series *from,
		      const struct step_record *other)
{
	uint32_t budget = tsi_steps_add_budget(steps, &from->budgets[other->budget]);
	struct step_record *record =
		index == NO_ROW ? tsi_steps_add(steps, other->number) : &steps->records[index];

	if (steps->has_failed)
		return;
	if (index != NO_ROW) {
		take_memory(record, &steps->budgets[budget], other);
	} else {
		record->mark = other->mark;
		steps->budgets[budget].has_alloc_peak = false;
	}
	record->budget = budget;
	if (steps->is_of_trace)
		take_time(record, other);
}

void tsi_steps_join(struct step_series *records, const struct step_series *from)
{
	size_t own_count = 0;
	struct sort_pair *by_number = NULL;

	if (tsi_steps_by_number(&by_number, &own_count, records, false, NULL) != TSCOPE_OK)
		records->has_failed = true;
	describe_budgets(records, from);
	if (records->is_timeless && from->is_of_trace) {
		forget_times(records);
		records->is_of_trace = true;
	}
	for (size_t i = 0; !records->has_failed && i < from->count; i++) {
		const struct step_record *other = &from->records[i];
		if (other->budget != NO_ROW)
			join_step(records, tsi_step_of_number(by_number, own_count, other->number),
				  from, other);
	}
	free(by_number);
}

/* The rank that took longest for an aligned step; ties: the lowest. */
static size_t slowest_rank(const struct step_alignment *alignment, const struct step_series *ranks,
			   size_t step)
{
	const struct step_record *most = NULL;
	size_t slowest = 0;

	for (size_t rank = 0; rank < alignment->rank_count; rank++) {
		const struct step_record *record = tsi_aligned(alignment, ranks, step, rank);

		if (!record || (most && record->time_ns <= most->time_ns))
			continue;
		most = record;
		slowest = rank;
	}
	return slowest;
}

/* The first extra of a record or a later one. */
static size_t find_extra(const struct step_extras *extras, uint32_t record)
{
	size_t low = 0, high = extras->count;

	TSI_BISECT(low, high, extras->items[middle].record < record);
	return low;
}

/* Appends a record of another series, with its phases of unknown names and without its budget. */
static void copy_record(struct step_series *steps, const struct step_series *from, uint32_t index)
{
	const struct step_extras *phases = &from->phases;
	struct step_record record = from->records[index];

	record.budget = NO_ROW;
	if (!add_record(steps, &record))
		return;
	for (size_t i = find_extra(phases, index);
	     i < phases->count && phases->items[i].record == index; i++)
		tsi_steps_add_extra(steps, &steps->phases,
				    tsi_intern_text(&from->names, phases->items[i].name),
				    phases->items[i].value);
}

void tsi_steps_slowest(struct step_series *ret, const struct step_series *ranks, size_t rank_count,
		       unsigned quorum_percent)
{
	struct step_alignment alignment;

	if (tsi_align(&alignment, ranks, rank_count, quorum_percent, NULL) != TSCOPE_OK)
		ret->has_failed = true;

	for (size_t i = 0; i < rank_count; i++) {
		ret->is_timeless |= ranks[i].is_timeless;
		ret->unknown_time_count += tsi_count_unknown_times(&ranks[i]);
	}
	for (size_t i = 0; !ret->has_failed && i < alignment.count; i++) {
		size_t rank = slowest_rank(&alignment, ranks, i);

		copy_record(ret, &ranks[rank], alignment.records[i * rank_count + rank]);
	}
	tsi_alignment_deinit(&alignment);
}
