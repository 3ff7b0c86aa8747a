/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_REPORT_NUMBER_H
#define TSCOPE_REPORT_NUMBER_H

#include <tscope/analysis.h>
#include <tscope/gate.h>

/*
 * Numbers as text for people, scaled and rounded, with a point whatever the
 * locale of the program.
 */
enum { NUMBER_MAX = 48 }; /* room for any of them, with its NUL */

/* So many significant digits, as "%g" writes them: for what has no usual size. Finite. */
void tsi_number_significant(char text[NUMBER_MAX], double value, int digits);

/*
 * A value in the unit of its definition: "12.34 ms", "1.50 MiB", "40,213",
 * "39.8 %", "25.1 GB/s", "yes"; "-" where it is absent. For values of any kind but text.
 */
void tsi_number_people(char text[NUMBER_MAX], struct tscope_value value, enum tscope_unit unit);

/* A difference, with a plus sign if it is above 0: "+12.34 ms". */
void tsi_number_signed(char text[NUMBER_MAX], struct tscope_value value, enum tscope_unit unit);

/* As tsi_number_signed(), but ratios in points: "-4.1 points" is not a change by 4.1 %. */
void tsi_number_difference(char text[NUMBER_MAX], struct tscope_value value, enum tscope_unit unit);

enum gate_verdict { GATE_HELD, GATE_TRIPPED, GATE_UNDECIDED };

static inline enum gate_verdict tsi_gate_verdict(const struct tscope_gate_result *gate)
{
	return gate->is_inconclusive ? GATE_UNDECIDED : gate->held ? GATE_HELD : GATE_TRIPPED;
}

size_t tsi_gate_count(const struct tscope_gate_result *gates, size_t count,
		      enum gate_verdict verdict);

/* The value that a gate compared: in its unit if known, "-" if absent. */
void tsi_number_gate(char text[NUMBER_MAX], const struct tscope_gate_result *gate);

/* tsi_number_people() of an integer. */
void tsi_number_people_int(char text[NUMBER_MAX], int64_t number, enum tscope_unit unit);

#endif
