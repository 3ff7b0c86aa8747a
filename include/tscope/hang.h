/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_HANG_H
#define TSCOPE_HANG_H

#include <tscope/analysis.h>

/*
 * Dumps of PyTorch's flight recorder, one a rank, written when a collective timed out: who keeps
 * the job from going on becomes facts (hang.*), which rules, gates and reports take like those of
 * a trace.
 */
struct tscope_hang;

/*
 * Reads the dumps among the files and in the folders that the paths name; what else lies in a
 * folder is left out. options may be NULL: threads, blocks, progress and the limit of decompressed
 * bytes count, the rest is of traces. Dumps that cannot be read are inputs with an error, and their
 * ranks count as not known. TSCOPE_E_IO, _FORMAT (no dump at all), _DAMAGED (none that can be
 * read), _LIMIT, _NOMEM. The caller frees.
 */
enum tscope_status tscope_hang_open(struct tscope_hang **ret, const char *const *paths,
				    size_t path_count, const struct tscope_trace_options *options,
				    struct tscope_error *err);

/* A dump in memory; the name replaces a path, and may contain the rank. */
struct tscope_hang_dump {
	const char *name;
	const void *data;
	size_t length;
};

/* As above, from memory; the bytes are needed only during the call. */
enum tscope_status tscope_hang_open_memory(struct tscope_hang **ret,
					   const struct tscope_hang_dump *dumps, size_t count,
					   const struct tscope_trace_options *options,
					   struct tscope_error *err);

/* NULL is fine. */
void tscope_hang_free(struct tscope_hang *hang);

/* The first of the paths, as given. */
const char *tscope_hang_path(const struct tscope_hang *hang);

/* A file. Texts live as long as the object and are never NULL. */
struct tscope_hang_input {
	const char *path;        /* as it was found */
	const char *form;        /* "pickle", "json" */
	const char *compression; /* "none", "gzip" */
	const char *version;     /* of the recorder's format */
	uint64_t source_bytes, bytes;
	uint64_t entry_count, dropped_count;
	int64_t rank;                       /* or -1 */
	bool is_named;                      /* given as a file, not found in a folder */
	bool is_superseded;                 /* an older dump of the same rank: in no figure */
	const struct tscope_error *failure; /* why it could not be read, or NULL */
};

size_t tscope_hang_input_count(const struct tscope_hang *hang);
struct tscope_hang_input tscope_hang_input(const struct tscope_hang *hang, size_t index);

/* The facts. The result holds nothing of the dumps; the caller frees it. */
enum tscope_status tscope_hang_analyze(struct tscope_analysis **ret, const struct tscope_hang *hang,
				       const struct tscope_analysis_options *options,
				       struct tscope_error *err);

#endif
