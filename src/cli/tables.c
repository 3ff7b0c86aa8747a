/* SPDX-License-Identifier: MIT */
#include "tables.h"

#include "inputs.h"
#include "load_run.h"
#include "message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A table and whose rows it is getting. */
struct walk {
	struct table_store *store;
	const struct table_source *source;
	struct table_shape shape;
	struct tscope_value values[TABLE_MAX_COLUMNS];
	bool is_begun;
};

static struct tscope_value integer(int64_t value)
{
	return (struct tscope_value){ .kind = TSCOPE_VALUE_INT, .integer = value };
}

static struct tscope_value integer_if(bool is_known, int64_t value)
{
	return is_known ? integer(value) : (struct tscope_value){ .kind = TSCOPE_VALUE_ABSENT };
}

static struct tscope_value text(const char *value)
{
	if (!value)
		return (struct tscope_value){ .kind = TSCOPE_VALUE_ABSENT };
	return (struct tscope_value){ .kind = TSCOPE_VALUE_TEXT, .text = value };
}

static void add_column(struct walk *walk, const char *name, const char *type)
{
	struct table_column *column = &walk->shape.columns[walk->shape.count++];

	snprintf(column->name, sizeof(column->name), "%s", name);
	column->type = type;
}

/* "run INTEGER, path TEXT": the columns of a table of ours, after the number of the run. */
static void begin_shape(struct walk *walk, const char *name, const char *const *columns,
			size_t count)
{
	walk->is_begun = false;
	walk->shape.count = 0;
	snprintf(walk->shape.name, sizeof(walk->shape.name), "%s", name);
	add_column(walk, "run", "INTEGER");
	for (size_t i = 0; i < count; i += 2)
		add_column(walk, columns[i], columns[i + 1]);
}

#define BEGIN(walk, name, ...)                                                                     \
	begin_shape(walk, name, (const char *const[]){ __VA_ARGS__ },                              \
		    sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))

static bool begin(struct walk *walk)
{
	if (!walk->is_begun && !walk->store->begin(walk->store, &walk->shape))
		return false;
	walk->is_begun = true;
	return true;
}

static bool put_row(struct walk *walk)
{
	walk->values[0] = integer(walk->source->number);
	return begin(walk) && walk->store->row(walk->store, walk->values);
}

static bool end(struct walk *walk)
{
	return !walk->is_begun || walk->store->end(walk->store);
}

/* ---- what a run is ---- */

static bool put_run(struct walk *walk)
{
	const struct tscope_run *run = walk->source->run;

	BEGIN(walk, "runs", "path", "TEXT", "time_ns", "INTEGER", "rank_count", "INTEGER",
	      "step_count", "INTEGER", "incomplete", "TEXT", "tscope", "TEXT");
	walk->values[1] = text(walk->source->path);
	walk->values[2] = integer(walk->source->time_ns);
	walk->values[3] = integer((int64_t)tscope_run_rank_count(run));
	walk->values[4] = integer((int64_t)tscope_run_step_count(run, TSCOPE_ALL_RANKS));
	walk->values[5] = text(tscope_run_incomplete(run));
	walk->values[6] = text(tscope_version());
	return put_row(walk) && end(walk);
}

static bool put_inputs(struct walk *walk)
{
	bool is_good = true;

	BEGIN(walk, "inputs", "path", "TEXT", "rank", "INTEGER", "format", "TEXT", "bytes",
	      "INTEGER", "events", "INTEGER", "dropped", "INTEGER", "damage", "TEXT");
	for (size_t i = 0; is_good && i < tscope_run_input_count(walk->source->run); i++) {
		struct tscope_run_input input = tscope_run_input(walk->source->run, i);

		walk->values[1] = text(input.path);
		walk->values[2] = integer_if(input.rank >= 0, input.rank);
		walk->values[3] = text(input.format);
		walk->values[4] = integer((int64_t)input.bytes);
		walk->values[5] = integer((int64_t)input.event_count);
		walk->values[6] = integer((int64_t)input.dropped_count);
		walk->values[7] = text(input.damage ? input.damage->message : NULL);
		is_good = put_row(walk);
	}
	return is_good && end(walk);
}

static int64_t rank_number(const struct tscope_run *run, size_t rank)
{
	int64_t number = tscope_run_rank_number(run, rank);

	return number < 0 ? (int64_t)rank : number;
}

static bool put_ranks(struct walk *walk)
{
	const struct tscope_run *run = walk->source->run;
	bool is_good = true;

	BEGIN(walk, "ranks", "rank", "INTEGER", "step_count", "INTEGER", "device", "TEXT");
	for (size_t i = 0; is_good && i < tscope_run_rank_count(run); i++) {
		const struct tscope_analysis *analysis = tscope_run_rank_analysis(run, i);

		walk->values[1] = integer(rank_number(run, i));
		walk->values[2] = integer((int64_t)tscope_run_step_count(run, i));
		walk->values[3] = text(tscope_analysis_device_count(analysis) > 0
					       ? tscope_analysis_device_name(analysis, 0)
					       : NULL);
		is_good = put_row(walk);
	}
	return is_good && end(walk);
}

static bool put_steps(struct walk *walk)
{
	const struct tscope_run *run = walk->source->run;
	bool is_good = true;

	BEGIN(walk, "steps", "rank", "INTEGER", "step", "INTEGER", "time_ns", "INTEGER", "loss",
	      "REAL");
	for (size_t rank = 0; rank < tscope_run_rank_count(run); rank++) {
		for (size_t i = 0; is_good && i < tscope_run_step_count(run, rank); i++) {
			struct tscope_run_step step = tscope_run_step(run, rank, i);

			walk->values[1] = integer(rank_number(run, rank));
			walk->values[2] = integer(step.number);
			walk->values[3] = integer_if(step.is_timed, step.time_ns);
			walk->values[4] = (struct tscope_value){
				.kind = step.has_loss ? TSCOPE_VALUE_REAL : TSCOPE_VALUE_ABSENT,
				.real = step.loss,
			};
			is_good = put_row(walk);
		}
	}
	return is_good && end(walk);
}

static bool put_findings(struct walk *walk)
{
	const struct tscope_diagnosis *diagnosis = walk->source->diagnosis;
	bool is_good = true;

	BEGIN(walk, "findings", "rule", "TEXT", "severity", "TEXT", "confidence", "TEXT", "cause",
	      "TEXT", "title", "TEXT", "detail", "TEXT", "advice", "TEXT", "gain_ns", "INTEGER",
	      "rank", "INTEGER", "device", "INTEGER", "step", "INTEGER", "operator", "TEXT",
	      "kernel", "TEXT", "module", "TEXT", "source", "TEXT");
	for (size_t i = 0; is_good && i < tscope_diagnosis_finding_count(diagnosis); i++) {
		struct tscope_finding f = tscope_diagnosis_finding(diagnosis, i);
		const struct tscope_value values[] = {
			text(f.rule->id),
			text(tscope_severity_name(f.severity)),
			text(tscope_confidence_name(f.confidence)),
			text(f.cause),
			text(f.title),
			text(f.detail),
			text(f.advice),
			integer_if(f.has_gain, f.gain_ns),
			integer_if(f.subject.rank >= 0, f.subject.rank),
			integer_if(f.subject.device >= 0, f.subject.device),
			integer_if(f.subject.step >= 0, f.subject.step),
			text(f.subject.op),
			text(f.subject.kernel),
			text(f.subject.module),
			text(f.subject.source),
		};

		memcpy(walk->values + 1, values, sizeof(values));
		is_good = put_row(walk);
	}
	return is_good && end(walk);
}

static bool put_gates(struct walk *walk)
{
	bool is_good = true;

	BEGIN(walk, "gates", "expression", "TEXT", "verdict", "TEXT", "value", "REAL", "reason",
	      "TEXT");
	for (size_t i = 0; is_good && i < walk->source->gates->count; i++) {
		const struct tscope_gate_result *gate = &walk->source->gates->results[i];

		walk->values[1] = text(gate->expression);
		walk->values[2] = text(gate->held              ? "held"
				       : gate->is_inconclusive ? "undecided"
							       : "tripped");
		walk->values[3] = (struct tscope_value){
			.kind = gate->has_value ? TSCOPE_VALUE_REAL : TSCOPE_VALUE_ABSENT,
			.real = gate->value,
		};
		walk->values[4] = text(gate->reason);
		is_good = put_row(walk);
	}
	return is_good && end(walk);
}

/* ---- facts and tables ---- */

static bool put_facts_of(struct walk *walk, const struct tscope_analysis *analysis, size_t analyzer,
			 int scope)
{
	const struct tscope_analyzer_def *def = tscope_analyzer(analyzer);
	bool is_good = true;

	for (size_t i = 0; is_good && i < def->fact_count; i++) {
		char name[TABLE_NAME_MAX];

		walk->values[4] = tscope_analysis_fact(analysis, analyzer, i, scope);
		if (walk->values[4].kind == TSCOPE_VALUE_ABSENT)
			continue;
		snprintf(name, sizeof(name), "%s.%s", def->id, def->facts[i].name);
		walk->values[3] = text(name);
		walk->values[5] = text(tscope_unit_name(def->facts[i].unit));
		walk->values[6] = text(tscope_analysis_fact_doubt(analysis, analyzer, i, scope));
		is_good = put_row(walk);
	}
	return is_good;
}

static bool put_rows_of(struct walk *walk, const struct tscope_analysis *analysis, size_t analyzer,
			size_t table, int scope)
{
	size_t columns = tscope_analyzer(analyzer)->tables[table].column_count;
	size_t count = tscope_analysis_row_count(analysis, analyzer, table, scope);
	bool is_good = true;

	for (size_t row = 0; is_good && row < count; row++) {
		walk->values[3] = integer((int64_t)row + 1);
		for (size_t i = 0; i < columns && i + 4 < TABLE_MAX_COLUMNS; i++)
			walk->values[4 + i] =
				tscope_analysis_cell(analysis, analyzer, table, scope, row, i);
		is_good = put_row(walk);
	}
	return is_good;
}

enum { ALL_FACTS = -1 };

/* Visits the whole trace and each device; table: an index, or all facts. */
static bool put_scopes(struct walk *walk, const struct tscope_analysis *analysis, size_t analyzer,
		       int table)
{
	int devices = (int)tscope_analysis_device_count(analysis);
	bool is_good = true;

	for (int scope = TSCOPE_WHOLE_TRACE; is_good && scope < devices; scope++) {
		if (!tscope_analysis_has(analysis, analyzer, scope))
			continue;
		walk->values[2] = integer_if(
			scope >= 0,
			scope < 0 ? 0 : tscope_analysis_device_ordinal(analysis, (uint32_t)scope));
		is_good = table == ALL_FACTS
				  ? put_facts_of(walk, analysis, analyzer, scope)
				  : put_rows_of(walk, analysis, analyzer, (size_t)table, scope);
	}
	return is_good;
}

/* Visits the run, whose rank is NULL, and each rank. */
static bool put_analyses(struct walk *walk, size_t analyzer, int table)
{
	const struct tscope_run *run = walk->source->run;
	bool is_good;

	walk->values[1] = integer_if(false, 0);
	is_good = put_scopes(walk, tscope_run_analysis(run), analyzer, table);
	for (size_t i = 0; is_good && i < tscope_run_rank_count(run); i++) {
		walk->values[1] = integer(rank_number(run, i));
		is_good = put_scopes(walk, tscope_run_rank_analysis(run, i), analyzer, table);
	}
	return is_good;
}

static bool put_facts(struct walk *walk)
{
	bool is_good = true;

	BEGIN(walk, "facts", "rank", "INTEGER", "device", "INTEGER", "name", "TEXT", "value", "",
	      "unit", "TEXT", "doubt", "TEXT");
	for (size_t i = 0; is_good && i < tscope_analyzer_count(); i++)
		is_good = put_analyses(walk, i, ALL_FACTS);
	return is_good && end(walk);
}

static const char *type_of(enum tscope_unit unit)
{
	switch (unit) {
	case TSCOPE_UNIT_COUNT:
	case TSCOPE_UNIT_NS:
	case TSCOPE_UNIT_BYTES:
	case TSCOPE_UNIT_FLAG:
		return "INTEGER";
	case TSCOPE_UNIT_TEXT:
		return "TEXT";
	case TSCOPE_UNIT_ANY:
		return "";
	default:
		return "REAL";
	}
}

/* kernels.by_name → kernels_by_name */
static void begin_table(struct walk *walk, size_t analyzer, size_t index)
{
	const struct tscope_table_def *table = &tscope_analyzer(analyzer)->tables[index];
	char name[TABLE_NAME_MAX];

	snprintf(name, sizeof(name), "%s_%s", tscope_analyzer(analyzer)->id, table->name);
	BEGIN(walk, name, "of_rank", "INTEGER", "of_device", "INTEGER", "n", "INTEGER");
	for (size_t i = 0; i < table->column_count && walk->shape.count < TABLE_MAX_COLUMNS; i++)
		add_column(walk, table->columns[i].name, type_of(table->columns[i].unit));
}

static bool is_read_by_views(const char *name)
{
	static const char *const names[] = { "kernels_by_name", "operators_by_name",
					     "collectives_by_kind", "series_steps" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static bool put_tables(struct walk *walk)
{
	bool is_good = true;

	for (size_t i = 0; i < tscope_analyzer_count(); i++) {
		for (size_t k = 0; is_good && k < tscope_analyzer(i)->table_count; k++) {
			begin_table(walk, i, k);
			is_good = (!is_read_by_views(walk->shape.name) || begin(walk)) &&
				  put_analyses(walk, i, (int)k) && end(walk);
		}
	}
	return is_good;
}

const char *tables_budget_column(size_t index)
{
	size_t analyzer, table;
	const struct tscope_table_def *def = tscope_table_find("series.steps", &analyzer, &table);

	for (size_t i = 0; def && i < def->column_count; i++)
		if (strncmp(def->columns[i].name, "line_", 5) == 0 && index-- == 0)
			return def->columns[i].name;
	return NULL;
}

/* ---- spans ---- */

static bool put_spans_of(struct walk *walk, const struct tscope_trace *trace)
{
	bool is_good = true;

	for (uint32_t row = 0; is_good && row < tscope_trace_span_count(trace); row++) {
		struct tscope_span span = tscope_trace_span(trace, row);
		struct tscope_track track = tscope_trace_track(trace, span.track);
		const struct tscope_value values[] = {
			integer(span.start_ns),
			integer(span.dur_ns),
			text(span.name),
			text(tscope_span_class_name(span.span_class)),
			text(track.pid),
			text(track.tid),
			integer_if(track.device >= 0, track.device),
			integer_if(track.stream >= 0, track.stream),
			integer(row),
			integer_if(span.launch != UINT32_MAX, span.launch),
			integer_if(span.op != UINT32_MAX, span.op),
		};

		memcpy(walk->values + 3, values, sizeof(values));
		is_good = put_row(walk);
	}
	return is_good;
}

/* The traces of a run are closed when it is analysed; each is read once more. */
static bool put_spans(struct walk *walk)
{
	const struct tscope_run *run = walk->source->run;
	bool is_good = true;

	BEGIN(walk, "spans", "input", "INTEGER", "rank", "INTEGER", "start_ns", "INTEGER", "dur_ns",
	      "INTEGER", "name", "TEXT", "class", "TEXT", "pid", "TEXT", "tid", "TEXT", "device",
	      "INTEGER", "stream", "INTEGER", "span", "INTEGER", "launch_span", "INTEGER",
	      "op_span", "INTEGER");
	for (size_t i = 0; is_good && i < tscope_run_input_count(run); i++) {
		struct tscope_run_input input = tscope_run_input(run, i);
		struct tscope_error err = { 0 };
		struct tscope_trace *trace;

		if (input.kind != TSCOPE_INPUT_TRACE)
			continue;
		if (tscope_trace_open(&trace, input.path, &walk->source->options->trace, &err) !=
		    TSCOPE_OK) {
			say_error(input.path, &err, "");
			return false;
		}
		walk->values[1] = integer((int64_t)i + 1);
		walk->values[2] = integer_if(input.rank >= 0, input.rank);
		is_good = put_spans_of(walk, trace);
		tscope_trace_free(trace);
	}
	return is_good && end(walk);
}

bool tables_write(struct table_store *store, const struct table_source *source)
{
	struct walk *walk = calloc(1, sizeof(*walk));
	bool is_good;

	if (!walk) {
		say_nomem();
		return false;
	}
	walk->store = store;
	walk->source = source;
	is_good = put_run(walk) && put_inputs(walk) && put_ranks(walk) && put_steps(walk) &&
		  put_facts(walk) && put_tables(walk) && put_findings(walk) && put_gates(walk) &&
		  (!source->options->events || put_spans(walk));
	free(walk);
	return is_good && load_judge_ranks(source->run) == EXIT_CODE_OK;
}

static const char csv_prefix[] = "csv:";

const char *tables_path(const struct options *options)
{
	size_t length = sizeof(csv_prefix) - 1;

	if (options->tables && strncmp(options->tables, csv_prefix, length) == 0)
		return options->tables + length;
	return options->tables;
}

static enum exit_code write_store(struct table_source *sources, size_t count,
				  const struct tscope_runs *runs, const struct options *options)
{
	const char *path = tables_path(options);
	struct inputs inputs;
	enum exit_code code;

	inputs_init(&inputs, options);
	inputs_add_runs(&inputs, runs);
	code = path == options->tables ? tables_to_sqlite(path, sources, count, &inputs)
				       : tables_to_csv(path, sources, count, &inputs);
	inputs_deinit(&inputs);
	return code;
}

/*
 * When the last of its files was written; a copy that keeps times is the same run. A file that is
 * not there was mapped elsewhere, or comes through a pipe. False, and said, where that is unknown.
 */
static bool find_time_of_inputs(int64_t *time_ns, const struct tscope_run *run)
{
	*time_ns = 0;
	for (size_t i = 0; i < tscope_run_input_count(run); i++) {
		const char *path = tscope_run_input(run, i).path;
		struct stat status;
		int64_t own_ns;

		if (stat(path, &status) != 0) {
			if (errno == ENOENT || errno == ENOTDIR)
				continue;
			say_about(path, "cannot tell when it was written: ", strerror(errno));
			return false;
		}
		own_ns = (int64_t)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec;
		*time_ns = own_ns > *time_ns ? own_ns : *time_ns;
	}
	return true;
}

static enum exit_code export_judged(const struct tscope_runs *runs, struct judged *judged,
				    struct table_source *sources, const struct options *options)
{
	size_t count = tscope_runs_count(runs);
	enum exit_code code = EXIT_CODE_OK;

	for (size_t i = 0; code == EXIT_CODE_OK && i < count; i++) {
		const struct tscope_run *run = tscope_runs_get(runs, i);

		code = judged_fill(&judged[i], run, options);
		sources[i] = (struct table_source){
			.run = run,
			.diagnosis = judged[i].diagnosis,
			.gates = &judged[i].gates,
			.options = options,
			.path = count > 1 ? tscope_run_input(run, 0).path : options->operands[0],
		};
		if (!find_time_of_inputs(&sources[i].time_ns, run))
			code = worse(code, EXIT_CODE_INPUT);
	}
	if (code == EXIT_CODE_OK)
		code = write_store(sources, count, runs, options);
	for (size_t i = 0; i < count; i++)
		code = worse(code, gates_judge(&judged[i].gates, count > 1 ? sources[i].path : NULL,
					       options));
	return code;
}

enum exit_code tables_export(const struct tscope_runs *runs, const struct options *options)
{
	size_t count = tscope_runs_count(runs);
	struct judged *judged = calloc(count, sizeof(*judged));
	struct table_source *sources = calloc(count, sizeof(*sources));
	enum exit_code code = EXIT_CODE_INTERNAL;

	if (judged && sources)
		code = export_judged(runs, judged, sources, options);
	else
		say_nomem();
	judged_free(judged, count);
	free(sources);
	return code;
}
