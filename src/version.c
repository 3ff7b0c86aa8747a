/* SPDX-License-Identifier: MIT */
/*
 * Which tscope this is and which libraries it was built with. An input that needs one that was left
 * out is still recognised; the error then sends people to `tscope --version`, and this is what they
 * find there.
 */
#include <tscope/tscope.h>

#include "base/attributes.h"
#include "config.h"

#if HAVE_ZLIB
#include <zlib.h>
#define ZLIB_FEATURE "zlib " ZLIB_VERSION
#else
#define ZLIB_FEATURE "zlib: not built in"
#endif

#if HAVE_ISAL
#include <isa-l.h>
#define TEXT_OF(number) #number
#define DOTTED(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)
#define ISAL_FEATURE "isa-l " DOTTED(ISAL_MAJOR_VERSION, ISAL_MINOR_VERSION, ISAL_PATCH_VERSION)
#else
#define ISAL_FEATURE "isa-l: not built in"
#endif

#if HAVE_ZSTD
#include <zstd.h>
#define ZSTD_FEATURE "zstd " ZSTD_VERSION_STRING
#else
#define ZSTD_FEATURE "zstd: not built in"
#endif

#if HAVE_LZ4
#include <lz4.h>
#define LZ4_FEATURE "lz4 " LZ4_VERSION_STRING
#else
#define LZ4_FEATURE "lz4: not built in"
#endif

#if HAVE_YAML
#define YAML_FEATURE "libyaml " LIBYAML_VERSION
#else
#define YAML_FEATURE "libyaml: not built in"
#endif

#if HAVE_LIBIBERTY
#define LIBIBERTY_FEATURE "libiberty"
#else
#define LIBIBERTY_FEATURE "libiberty: not built in"
#endif

#if HAVE_ARCHIVE
#include <archive.h>
#ifdef ARCHIVE_LIBRARY
#define ARCHIVE_FEATURE "libarchive " ARCHIVE_VERSION_ONLY_STRING ", loaded by archives"
#else
#define ARCHIVE_FEATURE "libarchive " ARCHIVE_VERSION_ONLY_STRING
#endif
#else
#define ARCHIVE_FEATURE "libarchive: not built in"
#endif

const char *tscope_version(void)
{
	return TSCOPE_VERSION;
}

const char *tscope_build_feature(size_t index)
{
	static const char *const features[] = {
		ZLIB_FEATURE, ISAL_FEATURE,      ZSTD_FEATURE,    LZ4_FEATURE,
		YAML_FEATURE, LIBIBERTY_FEATURE, ARCHIVE_FEATURE,
	};
	return index < TSI_COUNT_OF(features) ? features[index] : NULL;
}
