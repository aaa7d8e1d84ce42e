#!/usr/bin/env bash
# Coverage of the code that reads untrusted input, by the fuzz corpora alone and with the unit tests:
#   tools/coverage.sh [--build] [--check]
# --build builds first (preset coverage); --check exits with status 1 if the corpora alone cover less
# than 90 % of a decoder's lines or 75 % of its branches. `llvm-cov show` on build/coverage/corpus.profdata has details.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# A decoder consists of the files that parse input. Excluded: writers and converters (src/formats/xray), which only get data that
# a decoder has accepted; spool.cc, whose branches are the operating system's errors; symbolizer.cc and demangle.cc,
# where libdw and libiberty do the decoding.
declare -A decoders=(
  [xray]="src/formats/xray/{records,fdr_frames,fdr_walk,fdr_file_walk,basic_runs,timed_events,event_groups,verifier,yaml_trace}"
  [input]="src/bytes/{cursor,decompress,byte_source,input_file}"
  [elf]="src/program/{elf_image,elf_fields,instrumentation_map,instrumentation_map_elf,instrumentation_map_yaml}"
)
build=build/coverage
suffix=$(command -v llvm-cov-19 >/dev/null && echo -19 || true)

targets=()
for source in fuzz/*_fuzz.cc; do targets+=("$(basename "$source" .cc)"); done
tests=(telltale_bytes_test telltale_formats_xray_test telltale_program_test telltale_import_test)

check=
for option in "$@"; do
  case $option in
    --build)
      cmake --preset coverage --log-level=WARNING >/dev/null
      cmake --build "$build" --target "${targets[@]}" "${tests[@]}" >/dev/null
      ;;
    --check) check=yes ;;
    *) sed -n '2,5s/^# \?//p' "$0" >&2; exit 2 ;;
  esac
done

objects=()
for name in "${targets[@]:1}" "${tests[@]}"; do objects+=(-object "$build/bin/$name"); done
profiles=$(mktemp -d)
trap 'rm -rf "$profiles"' EXIT
for name in "${targets[@]}"; do
  LLVM_PROFILE_FILE=$profiles/corpus-$name.profraw "$build/bin/$name" "fuzz/corpus/${name%_fuzz}" >/dev/null
done
for name in "${tests[@]}"; do
  LLVM_PROFILE_FILE=$profiles/unit-$name.profraw "$build/bin/$name" --gtest_brief=1 >/dev/null
done
"llvm-profdata$suffix" merge -o "$build/corpus.profdata" "$profiles"/corpus-*.profraw
"llvm-profdata$suffix" merge -o "$build/all.profdata" "$profiles"/*.profraw

# Lines and branches of a decoder, in percent: "93.1 81.0".
covered() {
  local stem sources=()
  for stem in $(eval echo "${decoders[$2]}"); do
    for source in "$stem".h "$stem".cc; do [[ -f $source ]] && sources+=("$source"); done
  done
  "llvm-cov$suffix" export --summary-only "$build/bin/${targets[0]}" "${objects[@]}" -instr-profile="$1" \
    "${sources[@]}" 2>/dev/null |
    python3 -c 'import json, sys
total = json.load(sys.stdin)["data"][0]["totals"]
print("%.1f %.1f" % (total["lines"]["percent"], total["branches"]["percent"]))'
}

failed=0
printf '%-18s %18s %18s\n' '' 'corpora' 'corpora and tests'
printf '%-18s %9s %8s %9s %8s\n' decoder lines branches lines branches
for decoder in xray input elf; do
  read -r lines branches <<<"$(covered "$build/corpus.profdata" "$decoder")"
  read -r all_lines all_branches <<<"$(covered "$build/all.profdata" "$decoder")"
  printf '%-18s %8s%% %7s%% %8s%% %7s%%\n' "$decoder" "$lines" "$branches" "$all_lines" "$all_branches"
  if [[ $check ]] && python3 -c "exit(not ($lines < 90 or $branches < 75))"; then
    echo "$decoder: the corpora cover less than 90 % of lines or 75 % of branches" >&2
    failed=1
  fi
done
exit $failed
