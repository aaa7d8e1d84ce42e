#!/bin/sh
# Runs one fuzz target of build/fuzz for some seconds, its seeds first; inputs that it finds are kept below build/fuzz/found.
# Usage: run_fuzz_target.sh NAME SECONDS [SEED]
# The test suite names a seed: whether a change passes then depends on the change. Without one, each run tries other
# inputs.
set -eu
cd "$(dirname "$0")/.."
name=$1 seconds=$2 seed=${3:-0} # libFuzzer takes 0 as: choose one
found=build/fuzz/found/$name
mkdir -p "$found"
# A small quarantine keeps AddressSanitizer's own memory below the limit.
export ASAN_OPTIONS="quarantine_size_mb=8:${ASAN_OPTIONS:-}"
made=build/fuzz/fuzz/${name}_seeds # seeds that the build makes
[ -d "$made" ] || made=
exec "build/fuzz/bin/${name}_fuzz" -max_total_time="$seconds" -seed="$seed" -rss_limit_mb=256 -malloc_limit_mb=64 -timeout=5 \
  -print_final_stats=1 -verbosity=0 -artifact_prefix="$found-" "$found" "fuzz/corpus/$name" $made
