/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DIFF_FACT_BASIS_H
#define TSCOPE_DIFF_FACT_BASIS_H

#include <tscope/analysis.h>

/*
 * By what the difference of a fact is judged. Where nothing special is known of it: counts, bytes,
 * FLOPs, texts and flags are exact; times, rates and ratios are not tested.
 *
 * To add one: a row in fact_basis.c.
 */
enum fact_basis {
	BASIS_LEFT_OUT, /* differs between any two healthy runs: paths, times of day, indices */
	BASIS_NONE,     /* differs by chance, and nothing is known step by step */
	BASIS_EXACT,
	BASIS_STEP,         /* the test of the step time */
	BASIS_WALL,         /* the same, where each side is one rank */
	BASIS_TYPICAL_STEP, /* of it the rank test alone */
	BASIS_UTILISATION,  /* FLOPs by time: as BASIS_STEP if all but the time is equal */
	BASIS_PART,         /* the test of a part of the step time */
	BASIS_SHARE,        /* of the part's share */
	BASIS_ALLOCATION,   /* the test of what is allocated at the end of steps */
};

enum { BASIS_COLUMN_MAX = 64 };

struct fact_judgement {
	enum fact_basis basis;
	bool falls;                    /* when what is tested rises: rates */
	char column[BASIS_COLUMN_MAX]; /* of series.steps, for PART and SHARE */
};

/* id: "step_time.mean_ns". */
struct fact_judgement tsi_judge_fact(const char *id, enum tscope_unit unit);

#endif
