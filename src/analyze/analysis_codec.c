/* SPDX-License-Identifier: MIT */
/*
 * An analysis as bytes (base/codec.h): facts by their places in the analyzers' definitions, whose
 * names a checksum stands for.
 */
#include "analyze/analysis_codec.h"

#include <math.h>

#include "analyze/analysis_parts.h"
#include "base/array.h"
#include "base/crc32c.h"

enum { MAX_DEVICES = 1024 };

struct analysis_codec {
	struct codec *codec;
	struct intern *words;
};

static bool fits_unit(const struct tscope_value *value, enum tscope_unit unit)
{
	switch (value->kind) {
	case TSCOPE_VALUE_INT:
	case TSCOPE_VALUE_REAL:
		return unit != TSCOPE_UNIT_TEXT && unit != TSCOPE_UNIT_FLAG;
	case TSCOPE_VALUE_TEXT:
		return unit == TSCOPE_UNIT_TEXT || unit == TSCOPE_UNIT_ANY;
	case TSCOPE_VALUE_FLAG:
		return unit == TSCOPE_UNIT_FLAG || unit == TSCOPE_UNIT_ANY;
	default:
		return value->kind == TSCOPE_VALUE_ABSENT;
	}
}

static void code_integer(struct codec *codec, int64_t *integer)
{
	static const struct field field = { 0, sizeof(int64_t), FIELD_INT64, 0, 0 };

	tsi_code_struct(codec, integer, &(struct field_list){ &field, 1, sizeof(*integer) });
}

static void code_value(const struct analysis_codec *of, struct tscope_value *value,
		       enum tscope_unit unit)
{
	struct codec *codec = of->codec;
	uint64_t kind = value->kind, flag = value->kind == TSCOPE_VALUE_FLAG && value->flag;

	tsi_code_uint(codec, &kind);
	if (kind > TSCOPE_VALUE_FLAG)
		tsi_codec_refuse(codec, "a value of no kind");
	if (!tsi_codec_is_good(codec))
		return;
	if (codec->is_reading)
		*value = (struct tscope_value){ .kind = (enum tscope_value_kind)kind };
	if (kind == TSCOPE_VALUE_INT)
		code_integer(codec, &value->integer);
	else if (kind == TSCOPE_VALUE_REAL)
		tsi_code_real(codec, &value->real);
	else if (kind == TSCOPE_VALUE_TEXT)
		tsi_code_word(codec, &value->text, of->words);
	else if (kind == TSCOPE_VALUE_FLAG)
		tsi_code_uint(codec, &flag);
	if (!codec->is_reading)
		return;
	if (kind == TSCOPE_VALUE_FLAG)
		value->flag = flag != 0;
	if (!fits_unit(value, unit) || flag > 1 ||
	    (kind == TSCOPE_VALUE_REAL && !isfinite(value->real)) ||
	    (kind == TSCOPE_VALUE_TEXT && !value->text)) {
		tsi_codec_refuse(codec, "a value that its unit does not have");
		*value = (struct tscope_value){ 0 };
	}
}

static void code_table(const struct analysis_codec *of, struct fact_table *table,
		       const struct tscope_table_def *def)
{
	struct codec *codec = of->codec;

	tsi_code_count(codec, &table->row_count, def->column_count);
	if (codec->is_reading && table->row_count > 0 &&
	    tsi_array_new(&table->cells, table->row_count * def->column_count,
			  sizeof(*table->cells), NULL) != TSCOPE_OK) {
		codec->has_failed = true;
		table->row_count = 0;
	}
	if (codec->is_reading)
		table->row_capacity = table->row_count;
	for (size_t column = 0; column < def->column_count; column++)
		for (size_t row = 0; row < table->row_count && tsi_codec_is_good(codec); row++)
			code_value(of, &table->cells[row * def->column_count + column],
				   def->columns[column].unit);
}

/* 0: the analyzer did not run; 1: it did. */
static void code_sheet(const struct analysis_codec *of, struct fact_sheet *sheet,
		       const struct tscope_analyzer_def *def)
{
	struct codec *codec = of->codec;
	uint64_t is_there = sheet->def ? 1 : 0;

	tsi_code_uint(codec, &is_there);
	if (!is_there || !tsi_codec_is_good(codec))
		return;
	if (codec->is_reading && tsi_fact_sheet_init(sheet, def, NULL) != TSCOPE_OK) {
		codec->has_failed = true;
		return;
	}
	tsi_code_word(codec, &sheet->unreliable, of->words);
	for (size_t i = 0; i < def->fact_count; i++)
		code_value(of, &sheet->facts[i], def->facts[i].unit);
	for (size_t i = 0; i < def->fact_count; i++)
		tsi_code_word(codec, &sheet->doubts[i], of->words);
	for (size_t i = 0; i < def->table_count && tsi_codec_is_good(codec); i++)
		code_table(of, &sheet->tables[i], &def->tables[i]);
}

static void code_devices(const struct analysis_codec *of, struct tscope_analysis *analysis)
{
	static const struct field fields[] = {
		TSI_FIELD(struct analysis_device, ordinal, 0, 0),
	};
	struct codec *codec = of->codec;
	size_t count = analysis->device_count;

	tsi_code_list(codec, &analysis->devices, &count,
		      &TSI_LIST_OF(struct analysis_device, fields), NULL);
	if (count > MAX_DEVICES && codec->is_reading)
		tsi_codec_refuse(codec, "too many devices");
	if (!tsi_codec_is_good(codec))
		return;
	analysis->device_count = (uint32_t)count;
	for (size_t i = 0; i < count; i++) {
		tsi_code_word(codec, &analysis->devices[i].name, of->words);
		if (!analysis->devices[i].name)
			analysis->devices[i].name = "";
	}
}

static void code_all(const struct analysis_codec *of, struct tscope_analysis *analysis)
{
	code_devices(of, analysis);
	if (!tsi_codec_is_good(of->codec))
		return;
	if (of->codec->is_reading && tsi_make_sheets(analysis, NULL) != TSCOPE_OK) {
		of->codec->has_failed = true;
		return;
	}
	for (size_t i = 0; i < tscope_analyzer_count() && tsi_codec_is_good(of->codec); i++)
		for (size_t slot = 0; slot < tsi_sheet_slots(analysis, i); slot++)
			code_sheet(of, tsi_sheet_at(analysis, i, slot), tscope_analyzer(i));
}

void tsi_code_analysis(struct codec *codec, struct tscope_analysis **analysis)
{
	struct intern words;

	if (codec->is_reading) {
		*analysis = NULL;
		if (tsi_array_new(analysis, 1, sizeof(**analysis), NULL) != TSCOPE_OK ||
		    tsi_intern_init(&(*analysis)->texts, UINT32_MAX - 1, NULL) != TSCOPE_OK)
			codec->has_failed = true;
		else
			code_all(&(struct analysis_codec){ codec, &(*analysis)->texts }, *analysis);
		return;
	}
	if (tsi_intern_init(&words, UINT32_MAX - 1, NULL) != TSCOPE_OK)
		codec->has_failed = true;
	else
		code_all(&(struct analysis_codec){ codec, &words }, *analysis);
	tsi_intern_deinit(&words);
}

/* ---- schema ---- */

static uint32_t add_text(uint32_t crc, const char *text)
{
	return tsi_crc32c(crc, text, strlen(text) + 1);
}

static uint32_t add_defs(uint32_t crc, const struct tscope_fact_def *defs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		crc = add_text(crc, defs[i].name);
		crc = add_text(crc, tscope_unit_name(defs[i].unit));
	}
	return add_text(crc, "");
}

uint32_t tsi_analysis_schema(void)
{
	uint32_t crc = 0;

	for (size_t i = 0; i < tscope_analyzer_count(); i++) {
		const struct tscope_analyzer_def *def = tscope_analyzer(i);

		crc = add_text(crc, def->id);
		crc = add_text(crc, def->per_device ? "per device" : "");
		crc = add_defs(crc, def->facts, def->fact_count);
		for (size_t k = 0; k < def->table_count; k++) {
			crc = add_text(crc, def->tables[k].name);
			crc = add_defs(crc, def->tables[k].columns, def->tables[k].column_count);
		}
	}
	return crc;
}
