/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_CLI_OPTION_VALUES_H
#define TSCOPE_CLI_OPTION_VALUES_H

#include <tscope/error.h>

/*
 * Each reads the text of a value into a field of struct options; the table of options.c says which
 * one. Returns NULL, or what is expected instead.
 */
const char *parse_unsigned(const char *text, void *field);
const char *parse_rank(const char *text, void *field);
const char *parse_ranks(const char *text, void *field);
const char *parse_count(const char *text, void *field);
const char *parse_positive_unsigned(const char *text, void *field);
const char *parse_quorum(const char *text, void *field);
const char *parse_flops(const char *text, void *field);
const char *parse_tflops(const char *text, void *field);
const char *parse_tolerance(const char *text, void *field);
const char *parse_model(const char *text, void *field);
const char *parse_scalar(const char *text, void *field);
const char *parse_memory_size(const char *text, void *field);
const char *parse_file_size(const char *text, void *field);
const char *parse_flag(const char *text, void *field);
const char *parse_text(const char *text, void *field);
const char *parse_value(const char *text, void *field);
const char *parse_format(const char *text, void *field);
const char *parse_tag(const char *text, void *field);
const char *parse_color(const char *text, void *field);
const char *parse_moment(const char *text, void *field);
const char *parse_stack_weight(const char *text, void *field);
const char *parse_grouping(const char *text, void *field);
const char *parse_undecided(const char *text, void *field);
const char *parse_progress(const char *text, void *field);
const char *parse_shard(const char *text, void *field);
const char *parse_time(const char *text, void *field);
const char *parse_steps(const char *text, void *field);

/* Explain what is wrong with a value. */
enum tscope_status check_model(const char *text, struct tscope_error *err);
enum tscope_status check_scalar(const char *text, struct tscope_error *err);

/* "text, json or csv"; each line but the last ends with line_end. */
const char *list_formats(const char *line_end);

#endif
