/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_SESSION_RANK_RECORD_H
#define TSCOPE_SESSION_RANK_RECORD_H

#include "run/rank_file.h"
#include "session/load.h"

/*
 * Contents of a record of a .tsr file: which file was read, with what options, and all that a run
 * keeps of it (struct loaded), so that the run is made of records as of files.
 */

/* A file as it was read: of a record that is open. The texts live as long as the record's arena. */
struct rank_source {
	struct run_file file;
	uint64_t file_bytes;               /* its size then; 0: not known */
	struct tscope_run_options options; /* those that figures of a single file depend on */
};

/*
 * Writes the record of a file that was read, with what was read of each rank that was merged into
 * it, if any: loads[0] is of the whole file.
 */
TSI_MUST_CHECK
enum tscope_status tsi_rank_record_write(struct rank_writer *writer,
					 const struct rank_source *source,
					 const struct load *const *loads, size_t load_count,
					 struct tscope_error *err);

/* Reads the head of a record. file.saved is the record, and id 0. */
TSI_MUST_CHECK
enum tscope_status tsi_rank_record_open(struct rank_source *ret, struct str record,
					struct arena *arena, struct tscope_error *err);

/*
 * Loads what came of load->file, or of the rank that load->only wants, out of its record. Fails as
 * reading the file did.
 */
TSI_MUST_CHECK
enum tscope_status tsi_rank_record_load(struct loaded *loaded, const struct load *load,
					struct tscope_error *err);

/*
 * Takes over the options that files were mapped with where none are asked for.
 * TSCOPE_E_UNSUPPORTED: others are; the message names the option.
 */
TSI_MUST_CHECK
enum tscope_status tsi_rank_options_take(struct tscope_run_options *options,
					 const struct tscope_run_options *mapped,
					 struct tscope_error *err);

/* Are they alike, as far as files are mapped with them? */
bool tsi_rank_options_equal(const struct tscope_run_options *a, const struct tscope_run_options *b);

/* All bytes of a file of records, as long as the arena; also those that came before an error. */
TSI_MUST_CHECK
enum tscope_status tsi_rank_file_bytes(struct str *ret, const char *path,
				       const struct tscope_trace_options *options,
				       struct arena *arena, struct tscope_error *err);

/*
 * Checksum of the facts' definitions and the version: records with another one cannot be read
 * (tsi_rank_record_measure).
 */
uint32_t tsi_rank_schema(void);

#endif
