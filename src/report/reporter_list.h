/* SPDX-License-Identifier: MIT */
/* Every reporter: its name is that of the format. No include guard: it is included twice. */
REPORTER(text)
REPORTER(json)
REPORTER(baseline)
REPORTER(markdown)
REPORTER(github)
REPORTER(junit)
REPORTER(sarif)
REPORTER(openmetrics)
REPORTER(csv)
REPORTER(html)
