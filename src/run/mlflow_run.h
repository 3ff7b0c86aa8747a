/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RUN_MLFLOW_RUN_H
#define TSCOPE_RUN_MLFLOW_RUN_H

#include "run/metrics.h"
#include "run/steps.h"

/* A run of MLflow's file store, by the path of its folder "metrics": what stands beside it. */

/* Does anything that a run has stand there? Fails with TSCOPE_E_NOMEM only. */
TSI_MUST_CHECK
enum tscope_status tsi_is_mlflow_run(const char *metrics, const struct tscope_members *members,
				     bool *is_run, struct tscope_error *err);

/*
 * Takes name, start and duration of a run into the provenance, and its parameters as the
 * configuration. TSCOPE_E_IO: what is there and cannot be read is missing; without memory *steps
 * has failed.
 */
TSI_MUST_CHECK
enum tscope_status tsi_mlflow_describe(const struct metric_file *metrics, struct step_series *steps,
				       struct tscope_error *err);

#endif
