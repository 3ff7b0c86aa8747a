/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RUN_SCALARS_H
#define TSCOPE_RUN_SCALARS_H

#include "base/arena.h"
#include "run/metrics.h"
#include "run/steps.h"

#include <tscope/scalar.h>

/*
 * Metrics beside the steps of a rank: scalars.c joins them by the number of the step,
 * scalar_roles.c finds the loss, the learning rate … among them, scalar_settle.c puts these into
 * the records, metric_folder.c finishes names, and metric_conflict.c separates metrics of
 * different runs.
 */

/* Metrics of one file. */
struct scalar_part {
	const struct metric_log *log;
	const char *source; /* "csv", "tensorboard", … */
};

/*
 * Joins metrics to the steps of a rank by the number of the step: all of them become scalars, the
 * loss, too, until tsi_scalars_settle(). A step without a record gets one that holds nothing else,
 * no time either; records stay in the order of time, which is that of numbers where it is known for
 * one of two. Values of the job's own records for a name and step stay; of values from several
 * parts, the last holds. Values that are of no step (is_sample) are left out. O((n + m) log n).
 */
void tsi_scalars_join(struct step_series *steps, const struct scalar_part *parts,
		      size_t part_count);

/*
 * Marks as is_sample the values whose names tsi_scalar_counts_samples() knows; returns how many
 * are so marked, those that were before included. Without memory the arena says so.
 */
uint64_t tsi_scalars_mark_samples(struct metric_log *log, struct arena *arena);

/* Notes the names of the scalars that the records hold by now, with where they come from. */
void tsi_scalars_note(struct step_series *steps, const char *source);

/*
 * Gives each role to one name: to that of `names` (--scalar), where one is there, and to none
 * where it is not; else, of those that are named so by convention, to the best (see
 * tsi_scalar_role()), of these to that with the most values, of these to the first by name.
 * Values of the loss and of the gradient's norm go to the records, those of what was taken for
 * them before back to the scalars. names may be NULL. May be called again.
 */
void tsi_scalars_settle(struct step_series *steps, const struct tscope_scalar_names *names);

/* The role that a name has by convention, and how much it is preferred (0: most); SCALAR_OTHER. */
enum scalar_role tsi_scalar_role(struct str name, unsigned *rank);

/* Does a name say that its values are percentages, as "mfu(%)" does? */
bool tsi_scalar_is_percent(struct str name);

/* Does it say that its steps are counts of samples, as DeepSpeed's "Train/Samples/lr" does? */
bool tsi_scalar_counts_samples(struct str name);

/* "loss", "grad_norm", "learning_rate", "throughput", "mfu", "": never NULL. */
const char *tsi_scalar_role_name(enum scalar_role role);

/* The scalar of this role, or NULL. */
const struct step_scalar *tsi_scalar_of_role(const struct step_series *steps,
					     enum scalar_role role);

/* The value that a record holds of the loss or the gradient's norm; false: of another, or none. */
bool tsi_scalar_of_record(const struct step_record *record, enum scalar_role role, double *value);

/* Metrics of a file, and its path. */
struct metric_place {
	struct metric_log *log;
	const char *path;
};

/*
 * Puts folders into the names of metrics that nothing else distinguishes: metrics of a
 * folder of validation ("val", "logs_eval") beside one that is not, and the only metric of a
 * folder that is called after it ("loss_train"). The places are those of all files of a run; an
 * earlier call, for more of them, is undone. Without memory the arena says so.
 */
void tsi_metrics_name_by_folders(const struct metric_place *places, size_t count,
				 struct arena *arena);

/*
 * Are these metrics of different runs? So they are where a metric that both have differs, by more
 * than is lost where numbers are rounded, at three steps or more and at half of those that both
 * have. But a run that goes on from a checkpoint does the steps since then again: logs of which
 * one begins later, and that share less than half of their steps, do not contradict each other.
 * False without memory, of which the arena knows.
 */
bool tsi_metrics_contradict(const struct metric_log *a, const struct metric_log *b,
			    struct arena *arena);

/*
 * Compares metrics with the loss in a job's own records. That is of one rank and step, where a
 * logger writes the mean of several: only half as much, or twice, is different.
 */
bool tsi_metrics_contradict_steps(const struct metric_log *log, const struct step_series *steps,
				  struct arena *arena);

#endif
