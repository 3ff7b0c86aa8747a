# SPDX-License-Identifier: MIT
# An image that holds the static program and nothing else (5 MB):
#   docker build -t tscope . && docker run --rm -v "$PWD:/data:ro" tscope report /data/run
FROM debian:12 AS build
RUN apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
	gcc libc6-dev meson ninja-build pkg-config \
	zlib1g-dev libzstd-dev liblz4-dev libyaml-dev libiberty-dev libsqlite3-dev
COPY . /src
RUN meson setup /build /src -Dstatic=true -Dtests=false -Ddebug=false && meson compile -C /build tscope:executable && \
	strip -o /usr/local/bin/tscope /build/tscope

FROM scratch
COPY --from=build /usr/local/bin/tscope /tscope
ENTRYPOINT ["/tscope"]
