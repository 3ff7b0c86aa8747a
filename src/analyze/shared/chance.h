/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_SHARED_CHANCE_H
#define TSCOPE_ANALYZE_SHARED_CHANCE_H

/*
 * Tails of Student's t distribution, to eight digits or more. They are made of additions,
 * multiplications, divisions and square roots only, which IEEE 754 rounds alike everywhere: no
 * exp(), log() or lgamma() of a library lets the same input give other bytes on another machine.
 */

/* Probability that t is at least this (>= 0). degrees > 0; INFINITY: the normal distribution. */
double tsi_student_tail(double t, double degrees);

/* The t with this tail, 0 < tail <= 0.5. */
double tsi_student_quantile(double tail, double degrees);

#endif
