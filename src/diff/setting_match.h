/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DIFF_SETTING_MATCH_H
#define TSCOPE_DIFF_SETTING_MATCH_H

#include "base/arena.h"

#include <tscope/analysis.h>

/* Environments or configurations of two jobs, and their differences. */
struct setting {
	const char *name, *value;
	size_t row;
};

struct settings {
	struct setting *items; /* by name, each once */
	size_t count;
};

/*
 * A table of names and values; a saved one may be in any order. Of one name the last counts.
 */
struct settings tsi_settings_open(const struct tscope_analysis *analysis, const char *id,
				  struct arena *arena);

/* The value of a name, or NULL. */
const char *tsi_setting_find(const struct settings *settings, const char *name);

/* Whether the job recorded anything beyond what its trace says ("trace.gpu"). */
bool tsi_settings_know_job(const struct settings *settings);

/* Whether this setting of the environment can change numerics. */
bool tsi_setting_is_relevant(const char *name);

struct setting_pair {
	const char *name, *a, *b; /* NULL: the side has none */
};

/* The settings that differ. */
struct setting_pairs {
	struct setting_pair *items;
	size_t count;
};

/* sides: of A and B. */
struct setting_pairs tsi_settings_match(const struct settings *sides, struct arena *arena);

#endif
