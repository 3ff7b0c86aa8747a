/* SPDX-License-Identifier: MIT */
/* Every filter. No include guard: it is included twice. */
FILTER(gzip)
FILTER(zstd)
FILTER(lz4)
