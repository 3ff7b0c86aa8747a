/* SPDX-License-Identifier: MIT */
/*
 * Kinds of files by their first bytes: to refuse compressions and archives that
 * no filter undoes, with what to do instead, and to say in errors what it is
 * that somebody gave us. New kind: one row.
 */
#include "input/magic.h"

#include <string.h>

#include "base/attributes.h"
#include "input/input.h"

#define MAGIC(at, bytes, name, remedy)                                                             \
	{                                                                                          \
		(at), (bytes), sizeof(bytes) - 1, (name), (remedy), false                          \
	}
#define ARCHIVE(at, bytes, name, remedy)                                                           \
	{                                                                                          \
		(at), (bytes), sizeof(bytes) - 1, (name), (remedy), true                           \
	}

#define ARCHIVE_REMEDY "unpack it first, then give the files that are in it"
static const char archive_remedy[] = ARCHIVE_REMEDY;

static const char zip_remedy[] = ARCHIVE_REMEDY
	" (a checkpoint of torch.save is one, too: it holds tensors and no memory snapshot)";

/* The first that fits counts. */
static const struct magic kinds[] = {
	MAGIC(0, "\xfd\x37zXZ\0", "xz-compressed data", "unpack it first (xz -dk FILE)"),
	MAGIC(0, "BZh", "bzip2-compressed data", "unpack it first (bzip2 -dk FILE)"),
	MAGIC(0, "\x02\x21\x4c\x18", "lz4-compressed data (legacy format)",
	      "unpack it first (lz4 -d FILE)"),
	ARCHIVE(0, "PK\x03\x04", "zip archive", zip_remedy),
	ARCHIVE(0, "PK\x05\x06", "zip archive (empty)", archive_remedy),
	MAGIC(0, "7z\xbc\xaf\x27\x1c", "7z archive", archive_remedy),
	ARCHIVE(257, "ustar", "tar archive", archive_remedy),

	MAGIC(0, "\x1f\x8b", "gzip-compressed data", NULL),
	MAGIC(0, "\x28\xb5\x2f\xfd", "zstd-compressed data", NULL),
	MAGIC(0, "\x04\x22\x4d\x18", "lz4-compressed data", NULL),
	MAGIC(0, "\x78\x01", "zlib-compressed data", NULL),
	MAGIC(0, "\x78\x5e", "zlib-compressed data", NULL),
	MAGIC(0, "\x78\x9c", "zlib-compressed data", NULL),
	MAGIC(0, "\x78\xda", "zlib-compressed data", NULL),
	MAGIC(0, "\xff\xfe", "UTF-16 text", NULL),
	MAGIC(0, "\xfe\xff", "UTF-16 text", NULL),
	MAGIC(0, "SQLite format 3", "SQLite database", NULL),
	MAGIC(0, "NVIDIA", "Nsight report", NULL),
	MAGIC(0, "QDREP", "Nsight report", NULL),
	MAGIC(0, "memray\0", "memray capture", NULL),
	MAGIC(0, "PERFILE2", "perf.data recording", NULL),
	MAGIC(0, "\x89HDF\r\n\x1a\n", "HDF5 file", NULL),
	MAGIC(0, "PAR1", "Parquet file", NULL),
	MAGIC(0, "\x7f\x45LF", "ELF binary", NULL),
	MAGIC(0, "\x89PNG\r\n\x1a\n", "PNG image", NULL),
	MAGIC(0, "\xff\xd8\xff", "JPEG image", NULL),
	MAGIC(0, "GIF8", "GIF image", NULL),
	MAGIC(0, "%PDF-", "PDF document", NULL),
	MAGIC(0, "<!DOCTYPE html", "HTML page", NULL),
	MAGIC(0, "<!doctype html", "HTML page", NULL),
	MAGIC(0, "<html", "HTML page", NULL),
	MAGIC(0, "<?xml", "XML document", NULL),
};

const struct magic *tsi_magic_find(const char *data, size_t length)
{
	for (size_t i = 0; i < TSI_COUNT_OF(kinds); i++) {
		const struct magic *kind = &kinds[i];
		if (length >= kind->at + kind->length &&
		    memcmp(data + kind->at, kind->bytes, kind->length) == 0)
			return kind;
	}
	return NULL;
}

const char *tsi_input_name_of_magic(const char *data, size_t length)
{
	const struct magic *kind = tsi_magic_find(data, length);
	return kind ? kind->name : NULL;
}
