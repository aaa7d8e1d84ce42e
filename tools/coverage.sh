#!/usr/bin/env bash
# What the fuzz corpora alone, and the corpora with the unit tests, cover of the code that reads untrusted input:
#   tools/coverage.sh [--build] [--check]
# --build first builds what is needed (preset coverage); --check ends with status 1 when the corpora alone cover less
# than 90 % of a folder's lines or 75 % of its branches. `llvm-cov show` on build/coverage/corpus.profdata has details.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folders=(src/formats/xray src/program src/bytes src/import)
checked=(src/formats/xray src/program src/bytes) # src/import also holds what no corpus needs: several files as one
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

# Lines and branches of a folder, in percent: "93.1 81.0".
covered() {
  local sources
  mapfile -t sources < <(find "$2" -name '*.h' -o -name '*.cc' ! -name '*_test.cc')
  "llvm-cov$suffix" export --summary-only "$build/bin/${targets[0]}" "${objects[@]}" -instr-profile="$1" \
    "${sources[@]}" 2>/dev/null |
    python3 -c 'import json, sys
total = json.load(sys.stdin)["data"][0]["totals"]
print("%.1f %.1f" % (total["lines"]["percent"], total["branches"]["percent"]))'
}

failed=0
printf '%-18s %18s %18s\n' '' 'corpora' 'corpora and tests'
printf '%-18s %9s %8s %9s %8s\n' folder lines branches lines branches
for folder in "${folders[@]}"; do
  read -r lines branches <<<"$(covered "$build/corpus.profdata" "$folder")"
  read -r all_lines all_branches <<<"$(covered "$build/all.profdata" "$folder")"
  printf '%-18s %8s%% %7s%% %8s%% %7s%%\n' "$folder" "$lines" "$branches" "$all_lines" "$all_branches"
  if [[ $check && " ${checked[*]} " == *" $folder "* ]] &&
    python3 -c "exit(not ($lines < 90 or $branches < 75))"; then
    echo "$folder: the corpora cover less than 90 % of lines or 75 % of branches" >&2
    failed=1
  fi
done
exit $failed
