#!/bin/bash -eu
# SPDX-License-Identifier: MIT
# Builds the fuzz targets as OSS-Fuzz and ClusterFuzzLite want them: CC, CFLAGS, LIB_FUZZING_ENGINE
# and OUT are theirs. Locally: CC=clang CFLAGS=-fsanitize=fuzzer-no-link,address OUT=/tmp/out \
# LIB_FUZZING_ENGINE=-fsanitize=fuzzer scripts/oss-fuzz/build.sh
cd "$(dirname "$0")/../.."
work=${WORK:-/tmp}/tscope-oss-fuzz
[ -d "$work" ] || meson setup "$work" -Dfuzz=true -Dcli=false -Dman=disabled -Db_lundef=false \
	-Db_pie=false -Doptimization=plain -Dfuzz_engine="$LIB_FUZZING_ENGINE"
ninja -C "$work"
for target in "$work"/tests/fuzz/fuzz_*; do
	[ -x "$target" ] && [ -f "$target" ] || continue
	name=$(basename "$target")
	cp "$target" "$OUT"
	if [ -d "tests/fuzz/corpus/${name#fuzz_}" ]; then
		(cd "tests/fuzz/corpus/${name#fuzz_}" && zip -q -r "$OUT/${name}_seed_corpus.zip" .)
	fi
done
cp tests/fuzz/*.dict "$OUT"
