/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_MEMORY_SITE_WORDS_H
#define TSCOPE_ANALYZE_MEMORY_SITE_WORDS_H

#include "base/str.h"

/* Sites of memory as findings and reports name them. */

/*
 * The innermost frame of a site without folders, "model.py:12:forward"; of C++ the node or the
 * function, "DivBackward0". A part of the site.
 */
struct str tsi_site_words(const char *site);

#endif
