#!/bin/bash -eu
# SPDX-License-Identifier: MIT
# Builds the fuzz targets as OSS-Fuzz and ClusterFuzzLite want them: CC, CFLAGS, LIB_FUZZING_ENGINE
# and OUT are theirs, and it starts at the top of the source. Locally: CC=clang OUT=/tmp/out \
# CFLAGS=-fsanitize=fuzzer-no-link,address LIB_FUZZING_ENGINE=-fsanitize=fuzzer scripts/oss-fuzz/build.sh
work=${WORK:-/tmp}/tscope-oss-fuzz
# The machines that run the targets have no library that was installed here.
[ -d "$work" ] || meson setup "$work" -Dfuzz=true -Dcli=false -Dman=disabled -Db_lundef=false \
	-Db_pie=false -Doptimization=plain -Dprefer_static=true -Disal=disabled -Darchive=disabled \
	-Dfuzz_engine="$LIB_FUZZING_ENGINE"
for source in tests/fuzz/fuzz_*.c; do
	name=$(basename "$source" .c)
	input=${name#fuzz_}
	ninja -C "$work" "tests/fuzz/$name"
	cp "$work/tests/fuzz/$name" "$OUT"
	# Entropic scheduling counts features for nine tenths of the time where a target reaches much code.
	printf '[libfuzzer]\nentropic = 0\n' >"$OUT/$name.options"
	if [ -f "tests/fuzz/$input.dict" ]; then
		cp "tests/fuzz/$input.dict" "$OUT/$name.dict"
	else
		cp tests/fuzz/trace.dict "$OUT/$name.dict"
	fi
	if [ -d "tests/fuzz/corpus/$input" ]; then
		(cd "tests/fuzz/corpus/$input" && zip -q -r "$OUT/${name}_seed_corpus.zip" .)
	fi
done
