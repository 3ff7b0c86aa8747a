/* SPDX-License-Identifier: MIT */
/*
 * tscope rules --devices: what MFU and rooflines are measured against, so that a
 * reader can hold it against the data sheets. Two tables, since one would be wider
 * than a terminal.
 */
#include "print_devices.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <tscope/device.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

enum { MAX_CELL = 64, MAX_NUMBER = 24 };

struct column {
	const char *title;
	enum content {
		CONTENT_NAME,
		CONTENT_PEAK, /* of one precision */
		CONTENT_HALF, /* of fp16 and bf16 */
		CONTENT_SPARSE,
		CONTENT_UNITS,
		CONTENT_MEMORY,
		CONTENT_RATE,
		CONTENT_SOURCE,
	} content;
	enum tscope_precision precision;
};

static const struct column peak_columns[] = {
	{ "device", CONTENT_NAME, 0 },
	{ "fp64", CONTENT_PEAK, TSCOPE_PRECISION_FP64 },
	{ "fp32", CONTENT_PEAK, TSCOPE_PRECISION_FP32 },
	{ "tf32", CONTENT_PEAK, TSCOPE_PRECISION_TF32 },
	{ "fp16/bf16", CONTENT_HALF, 0 },
	{ "fp8", CONTENT_PEAK, TSCOPE_PRECISION_FP8 },
	{ "int8", CONTENT_PEAK, TSCOPE_PRECISION_INT8 },
	{ "fp4", CONTENT_PEAK, TSCOPE_PRECISION_FP4 },
	{ "sparse", CONTENT_SPARSE, 0 },
};

static const struct column source_columns[] = {
	{ "device", CONTENT_NAME, 0 },   { "units", CONTENT_UNITS, 0 },
	{ "GiB", CONTENT_MEMORY, 0 },    { "TB/s", CONTENT_RATE, 0 },
	{ "source", CONTENT_SOURCE, 0 },
};

/* "989.4"; "-": not known. */
static void write_number(char cell[MAX_NUMBER], double number)
{
	snprintf(cell, MAX_NUMBER, number > 0 ? "%.5g" : "-", number);
}

/* "312"; "125/-" where there is no bfloat16, "-/275" where there is nothing else. */
static void write_half(char cell[MAX_CELL], const struct tscope_device *device)
{
	char fp16[MAX_NUMBER], bf16[MAX_NUMBER];

	write_number(fp16, device->peak_flops[TSCOPE_PRECISION_FP16] / 1e12);
	write_number(bf16, device->peak_flops[TSCOPE_PRECISION_BF16] / 1e12);
	if (strcmp(fp16, bf16) == 0)
		snprintf(cell, MAX_CELL, "%s", fp16);
	else
		snprintf(cell, MAX_CELL, "%s/%s", fp16, bf16);
}

static void write_cell(char cell[MAX_CELL], const struct column *column,
		       const struct tscope_device *device)
{
	switch (column->content) {
	case CONTENT_NAME:
		snprintf(cell, MAX_CELL, "%s", device->name);
		break;
	case CONTENT_PEAK:
		write_number(cell, device->peak_flops[column->precision] / 1e12);
		break;
	case CONTENT_HALF:
		write_half(cell, device);
		break;
	case CONTENT_SPARSE:
		write_number(cell, device->sparse_flops / 1e12);
		break;
	case CONTENT_UNITS:
		write_number(cell, device->sm_count);
		break;
	case CONTENT_MEMORY:
		write_number(cell, device->memory_gib);
		break;
	case CONTENT_RATE:
		write_number(cell, device->bytes_per_second / 1e12);
		break;
	case CONTENT_SOURCE:
		snprintf(cell, MAX_CELL, "%c: %s", device->confidence, device->source);
		break;
	}
}

static int width_of(const struct column *column)
{
	size_t width = strlen(column->title);
	char cell[MAX_CELL];

	for (size_t i = 0; i < tscope_device_count(); i++) {
		write_cell(cell, column, tscope_device(i));
		width = strlen(cell) > width ? strlen(cell) : width;
	}
	return (int)width;
}

static void print_cell(const struct column *column, const char *cell)
{
	if (column->content == CONTENT_NAME)
		printf("%-*s", width_of(column), cell);
	else if (column->content == CONTENT_SOURCE)
		printf("  %s", cell); /* the last one: nothing is aligned with its end */
	else
		printf("  %*s", width_of(column), cell);
}

static void print_table(const struct column *columns, size_t count)
{
	char cell[MAX_CELL];

	for (size_t i = 0; i < count; i++)
		print_cell(&columns[i], columns[i].title);
	putchar('\n');
	for (size_t row = 0; row < tscope_device_count(); row++) {
		for (size_t i = 0; i < count; i++) {
			write_cell(cell, &columns[i], tscope_device(row));
			print_cell(&columns[i], cell);
		}
		putchar('\n');
	}
}

void print_devices(void)
{
	fputs("TFLOP/s (int8: TOP/s) of dense products, by the type of their operands; sparse:\n"
	      "of 16 bits with 2:4 sparsity, which MFU is not measured against; -: not known.\n\n",
	      stdout);
	print_table(peak_columns, COUNT_OF(peak_columns));
	fputs("\nunits: multiprocessors, compute units. The letter says how sure the peak of 16\n"
	      "bits is: A two sources, or reproduced from units and clock; B one; C disputed.\n\n",
	      stdout);
	print_table(source_columns, COUNT_OF(source_columns));
}
