/* SPDX-License-Identifier: MIT */
/*
 * Environment and configuration that the job states in run.json. A trace states parts of its
 * environment, too: names that begin with "trace.".
 */
#include "analyze/facts.h"

#define FACTS(X)                                                                                   \
	X(NAME, "name", TEXT, "name of the run")                                                   \
	X(STARTED_S, "started_s", NUMBER, "Unix time of its start, in s")                          \
	X(RECORDED_WALL_S, "recorded_wall_s", NUMBER, "from start to end, in s")                   \
	X(RECORDED_STEP_COUNT, "recorded_step_count", COUNT, "steps that it ran, warm-up included")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define ENVIRONMENT_COLUMNS(X)                                                                     \
	X(ENVIRONMENT_NAME, "name", TEXT, "of the variable")                                       \
	X(ENVIRONMENT_VALUE, "value", TEXT, "a text, or JSON of anything else")

TSI_FACT_LIST(enum environment_column, environment_columns, ENVIRONMENT_COLUMNS);

#define CONFIG_COLUMNS(X)                                                                          \
	X(CONFIG_NAME, "name", TEXT, "of the entry")                                               \
	X(CONFIG_VALUE, "value", TEXT, "a text, or JSON of anything else")

TSI_FACT_LIST(enum config_column, config_columns, CONFIG_COLUMNS);

#define TABLES(X)                                                                                  \
	X(ENVIRONMENT_TABLE, "environment", environment_columns,                                   \
	  "environment, nested names joined by a dot, sorted")                                     \
	X(CONFIG_TABLE, "config", config_columns, "configuration, by its outermost names, sorted")

TSI_TABLE_LIST(enum table, tables, TABLES);

_Static_assert((int)ENVIRONMENT_NAME == (int)CONFIG_NAME &&
		       (int)ENVIRONMENT_VALUE == (int)CONFIG_VALUE,
	       "both tables have the same columns");

static void list_settings(struct fact_sheet *out, enum table table,
			  const struct step_settings *settings, const struct intern *names)
{
	for (size_t i = 0; i < settings->count; i++) {
		const struct step_setting *setting = &settings->items[i];
		struct tscope_value *cells = tsi_table_row(out, table);
		cells[ENVIRONMENT_NAME] = tsi_text(tsi_intern_text(names, setting->name).data);
		cells[ENVIRONMENT_VALUE] = tsi_text(tsi_intern_text(names, setting->value).data);
	}
}

static void fill_provenance(const struct analysis_scope *scope, struct fact_sheet *out)
{
	const struct step_provenance *provenance = &scope->steps->provenance;
	const struct intern *names = &scope->steps->names;

	if (provenance->run_name)
		tsi_fact_text(out, NAME, tsi_intern_text(names, provenance->run_name).data);
	tsi_fact_real(out, STARTED_S, provenance->started_s);
	tsi_fact_real(out, RECORDED_WALL_S, provenance->wall_s);
	if (provenance->step_count >= 0)
		tsi_fact_int(out, RECORDED_STEP_COUNT, provenance->step_count);
	list_settings(out, ENVIRONMENT_TABLE, &provenance->environment, names);
	list_settings(out, CONFIG_TABLE, &provenance->config, names);
}

const struct analyzer tsi_analyzer_provenance = {
	.def = {
		.id = "provenance",
		.summary = "environment and configuration of the job",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "run.json beside the step records, or a trace",
	},
	/* The run's is that of its lowest rank. */
	.is_of_file = true,
	.levels = LEVEL_TRACE | LEVEL_RANK,
	.fill = fill_provenance,
};
