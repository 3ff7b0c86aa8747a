/* SPDX-License-Identifier: MIT */
/* Every format that is decoded. No include guard: it is included twice. */
FORMAT(chrome_json)
FORMAT(viztracer_page)
