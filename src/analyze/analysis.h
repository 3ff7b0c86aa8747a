/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_ANALYSIS_H
#define TSCOPE_ANALYZE_ANALYSIS_H

#include "analyze/analyzer.h"

#include <tscope/memory.h>

/*
 * Internal API to build analyses of ranks, runs and comparisons. Each level holds the sheets of its
 * own analyzers and answers for all others with those of the level before.
 */

/*
 * Runs the analyzers of one level over a scope (its devices are ignored).
 * before: the analysis of the level before, or NULL; it, and what the scope
 * points to, must outlive the new one.
 */
TSI_MUST_CHECK
enum tscope_status tsi_analyze_level(struct tscope_analysis **ret, enum analyzer_level level,
				     const struct analysis_scope *scope,
				     const struct tscope_analysis *before,
				     struct tscope_error *err);

/*
 * Lets the analysis of a file about memory answer for its analyzer, where this one of a
 * rank or run has no figures of its own; it must outlive this one.
 */
void tsi_analysis_put_memory(struct tscope_analysis *analysis, const struct tscope_analysis *memory,
			     enum tscope_memory_kind kind);

/*
 * Lets the analysis of another trace of the same rank and time answer for analyzers of which this
 * one and those before it have no figure; it must outlive this one. Up to MAX_SECONDARY_ANALYSES.
 */
enum { MAX_SECONDARY_ANALYSES = 3 };
void tsi_analysis_attach_secondary(struct tscope_analysis *analysis,
				   const struct tscope_analysis *other);

/* The steps of the trace that the analysis was made of. */
const struct step_series *tsi_analysis_steps(const struct tscope_analysis *analysis);

/* Runs the analyzers that still wait to be asked, of those before it, too. */
TSI_MUST_CHECK
enum tscope_status tsi_analysis_complete(const struct tscope_analysis *analysis,
					 struct tscope_error *err);

/* TSCOPE_E_NOMEM if an analyzer that was asked could not run: its figures are absent. */
TSI_MUST_CHECK
enum tscope_status tsi_analysis_status(const struct tscope_analysis *analysis,
				       struct tscope_error *err);

/* Copies what the analysis borrows from its trace, so that trace and timeline may go. */
TSI_MUST_CHECK
enum tscope_status tsi_analysis_detach(struct tscope_analysis *analysis, struct tscope_error *err);

/*
 * An analysis for which no analyzer ran, to be filled from elsewhere: with figures that were saved,
 * or that a test says.
 */
TSI_MUST_CHECK
enum tscope_status tsi_analysis_new(struct tscope_analysis **ret, struct tscope_error *err);

/* The sheet of an analyzer for the whole, begun if need be: the calls of facts.h fill it. */
TSI_MUST_CHECK
enum tscope_status tsi_analysis_sheet(struct tscope_analysis *analysis, size_t analyzer,
				      struct fact_sheet **sheet, struct tscope_error *err);

/*
 * A table of one scope, or NULL: for who writes a million cells of it, where to look up each is
 * dearer than to write it.
 */
const struct fact_table *tsi_analysis_table(const struct tscope_analysis *analysis, size_t analyzer,
					    size_t table, int scope);

/* Copies a text to where it lives as long as the analysis; one with a NUL in it ends there. */
TSI_MUST_CHECK
enum tscope_status tsi_analysis_keep_text(struct tscope_analysis *analysis, struct str text,
					  const char **kept, struct tscope_error *err);

#endif
