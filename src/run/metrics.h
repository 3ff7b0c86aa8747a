/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RUN_METRICS_H
#define TSCOPE_RUN_METRICS_H

#include "base/intern.h"
#include "input/input.h"

struct step_series; /* run/steps.h */

/*
 * Metrics: values by name and step, as loggers write them beside a job's own step records.
 * They have no durations; what joins them to the steps of a rank is the number of the step
 * (run/scalars.h).
 */

#define NO_METRIC_TIME INT64_MIN /* the file does not say when */

struct metric_point {
	int64_t step;
	int64_t time_ns; /* Unix time, or NO_METRIC_TIME */
	double value;    /* any double: NaN and infinity are what was logged */
	uint32_t name;   /* in metric_log.names */
	/*
	 * step counts the samples of a monitor that runs beside the job ("system/…" of
	 * MLflow): the value may be listed, but is of no step of the job.
	 */
	bool is_sample;
};

struct metric_log {
	/* In the order of the file: of equal name and step the last holds. */
	struct metric_point *points;
	size_t count, capacity;
	struct intern names;         /* also of metrics without a value */
	struct intern file_names;    /* those without folders (scalars.h), by the same numbers */
	uint64_t record_count;       /* lines, rows, records: what the source is made of */
	uint64_t bad_record_count;   /* of these, in no figure: broken, or a wrong checksum */
	uint64_t bad_value_count;    /* values that are no number */
	uint64_t without_step_count; /* values that say no step, in no figure */
	uint64_t other_count;        /* no scalars: images, histograms, graphs, texts */
	uint64_t lost_file_count;    /* files of a store that cannot be read */
	bool is_cut; /* the last record is incomplete: the job was writing, or killed */
};

/* An empty log. On failure it may be deinited. */
TSI_MUST_CHECK
enum tscope_status tsi_metric_log_init(struct metric_log *log, struct tscope_error *err);
void tsi_metric_log_deinit(struct metric_log *log); /* fine on a zeroed struct */

/*
 * Appends a value; one whose name is empty or too long is counted and left out.
 * TSCOPE_E_LIMIT: more than METRIC_MAX_POINTS or METRIC_MAX_NAMES.
 */
TSI_MUST_CHECK
enum tscope_status tsi_metric_log_add(struct metric_log *log, struct str name,
				      struct metric_point point, struct tscope_error *err);

/* As tsi_metric_log_add(), with a point->name that is in the log's names already. */
TSI_MUST_CHECK
enum tscope_status tsi_metric_log_put(struct metric_log *log, const struct metric_point *point,
				      struct tscope_error *err);

enum {
	METRIC_MAX_POINTS = 1 << 24,
	METRIC_MAX_NAMES = 1 << 16,
	METRIC_MAX_NAME_BYTES = 4096,
};

/* A value as Python's float() takes it: "1e-05", "-inf", "nan"; nothing else around it. */
bool tsi_metric_to_double(struct str text, double *value);

/* A whole number, as "12" or as "12.0". */
bool tsi_metric_to_step(struct str text, int64_t *step);

/* How well a column or key of this name says the step, 0 best; METRIC_NO_STEP: not at all. */
enum { METRIC_NO_STEP = 100 };
unsigned tsi_metric_step_rank(struct str name);

/* Does a column or key of this name hold seconds since 1970? */
bool tsi_metric_is_time(struct str name);

/* Seconds since 1970 to ns; NO_METRIC_TIME where they are no time. */
int64_t tsi_metric_time(double seconds);

/* How many bytes were read, and how they were packed. */
struct metric_reading {
	uint64_t source_bytes, bytes;
	char compression[32]; /* as tsi_input_filters() */
};

/* A file, or a folder, to be read. */
struct metric_file {
	const char *path;
	struct str name; /* of the metric, where the path has it */
	const struct input_options *options;
};

/*
 * A kind of files that metrics come in.
 *
 * To add one: write metrics_<id>.c with a `const struct metric_source
 * tsi_metrics_<id>`, add METRIC_SOURCE(<id>) to metric_source_list.h, the file to meson.build,
 * a test tests/unit/test_metrics_<id>.c and the kind to tscope-report(1).
 */
struct metric_source {
	const char *id; /* "csv", "json", "tensorboard", "mlflow" */
	/* How sure name and first bytes (up to 64 KiB) make it, in bits verified; 0: not mine. */
	unsigned (*taste)(const char *path, struct str head);
	/* The name of the metric in the path of its file; empty: none. NULL: never any. */
	struct str (*name)(const char *path);
	/*
	 * Reads one file to its end; name is that of its path. Broken parts are counted, and the
	 * rest is read.
	 */
	enum tscope_status (*read)(struct input *in, struct str name, struct metric_log *log,
				   struct tscope_error *err);
	/*
	 * For stores that are folders: is this one (TSCOPE_E_NOMEM: not known), and reads its
	 * files. NULL: the store is a file.
	 */
	enum tscope_status (*is_folder)(const char *path, const struct tscope_members *members,
					bool *is_this, struct tscope_error *err);
	enum tscope_status (*read_folder)(const struct metric_file *folder, struct metric_log *log,
					  struct metric_reading *reading, struct tscope_error *err);
	/* Takes what such a store says of the job into the provenance. TSCOPE_E_IO: not all. */
	enum tscope_status (*describe)(const struct metric_file *folder, struct step_series *steps,
				       struct tscope_error *err);
	/* Names of the folders beside it that belong to such a store, ended by NULL. */
	const char *const *beside;
};

/* Bits that a file must taste by to be taken out of a folder; one that was named needs 1. */
enum { METRIC_TASTE_CERTAIN = 32 };

/* The source that name and first bytes show by least_bits (1 or more), or NULL. */
const struct metric_source *tsi_metric_source_find(const char *path, struct str head,
						   unsigned least_bits);

/* *ret is the one whose folder this is, or NULL. Fails with TSCOPE_E_NOMEM only. */
TSI_MUST_CHECK
enum tscope_status tsi_metric_source_of_folder(const struct metric_source **ret, const char *path,
					       const struct tscope_members *members,
					       struct tscope_error *err);

/*
 * Reads a file, or all files of a folder, with limits as options say. Fails as the input does
 * and where a format has no way on (TSCOPE_E_DAMAGED); what was read before is in the log.
 * TSCOPE_E_EMPTY: there is no value.
 */
TSI_MUST_CHECK
enum tscope_status tsi_metrics_read(const struct metric_source *source, const char *path,
				    const struct input_options *options, struct metric_log *log,
				    struct metric_reading *reading, struct tscope_error *err);

/* For sources: reads one file, and adds to what was read. */
TSI_MUST_CHECK
enum tscope_status tsi_metrics_read_file(const struct metric_source *source,
					 const struct metric_file *file, struct metric_log *log,
					 struct metric_reading *reading, struct tscope_error *err);

#endif
