#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#   librdkafka.sh PREFIX     builds the newest librdkafka there is as a package of sources, and installs it into PREFIX
#
# Debian 12 has 2.0.2, the oldest version that we work with; the newest travels in the crate rdkafka-sys, in the version
# named below. It is for tests: without TLS, SASL and optimization. With PKG_CONFIG_PATH=PREFIX/lib/pkgconfig Meson
# finds it. A PREFIX that has this version already is left as it is.
#
# The last line is librdkafka's version. Exit code: 0 it is there, 1 it could not be had or built.
set -eu

crate=4.10.0 # librdkafka 2.12.1

prefix=${1:?usage: librdkafka.sh PREFIX}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$prefix"
prefix=$(cd "$prefix" && pwd)
log=$prefix/build.log

gave_up() {
	tail -n 30 "$log" >&2
	echo "librdkafka.sh: $* (all of it: $log)" >&2
	exit 1
}

if test "$(cat "$prefix/crate" 2>/dev/null)" != "$crate"; then
	sh "$here/install.sh" newest
	source=$(mktemp -d)
	trap 'rm -rf "$source"' EXIT
	trap 'exit 1' INT TERM
	# Cargo fetches crates for a package that needs them, so there is one.
	printf '[package]\nname = "wants-librdkafka"\nversion = "0.0.0"\n[lib]\npath = "empty.rs"\n
[dependencies]\nrdkafka-sys = { version = "=%s", default-features = false }\n' "$crate" >"$source/Cargo.toml"
	: >"$source/empty.rs"
	(cd "$source" && cargo vendor vendor) >"$log" 2>&1 || gave_up "cargo could not fetch rdkafka-sys $crate"
	cd "$source/vendor/rdkafka-sys/librdkafka"
	# A crate keeps no execute bits.
	chmod +x configure lds-gen.py
	{
		./configure --prefix="$prefix" --disable-ssl --disable-gssapi --disable-curl --disable-zstd --disable-lz4-ext \
			--disable-optimization &&
			make -C src -j "$(nproc)" &&
			make -C src install
	} >>"$log" 2>&1 || gave_up "librdkafka could not be built"
	echo "$crate" >"$prefix/crate"
fi
PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --modversion rdkafka
