#!/usr/bin/env bash
# ./dev demo: records telltale's own decoder at work with telltale's XRay recorder, and looks at the recording. Then, if
# clang is installed, isolates the bugs of a program from 2,000 of its runs (examples/sheet/study.sh), and explains a crash
# line by line.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
telltale=build/release/bin/telltale
out=build/demo
recording=$out/decoder.xray
program=$out/traced_decoder

say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
# Shows a command as one would type it, then runs it.
run() {
  printf '\033[36m$ %s\033[0m\n' "$*"
  "$@"
}

say "telltale's decoder, compiled by g++ with -finstrument-functions"
cmake -S examples/traced_decoder -B "$out" -G Ninja -DCMAKE_CXX_COMPILER=g++ \
  -DCMAKE_CXX_COMPILER_LAUNCHER=ccache --log-level=WARNING >/dev/null
cmake --build "$out" -j "$(nproc)"
xargs awk 'END { print NR " lines of C++" }' <"$out/sources.txt"

say "running it: it reads a trace, and leaves one of itself"
build/release/bin/make_trace "$out/input.xray" 8000
rm -f "$recording" "$recording.side"
run $telltale run -o "$recording" -- "$program" "$out/input.xray"

say "what is this file?"
run $telltale info "$recording"

say "where did the time go?"
run $telltale top --limit 10 "$recording" | cut -c1-160

say "a flame graph: one page, for any browser"
run $telltale flame "$recording" -o "$out/decoder.html"
ls -l "$out/decoder.html"

say "a timeline for ui.perfetto.dev"
run $telltale convert "$recording" -o "$out/decoder.perfetto-trace"
ls -l "$out/decoder.perfetto-trace"

examples/sheet/study.sh "$out" "${TELLTALE_DEMO_RUNS:-2000}"

if build/release/bin/telltale-cc --version >/dev/null 2>&1; then
  say "a crash, explained by what ran before it"
  run build/release/bin/telltale-cc --trace=pt.schema -silent examples/settings/settings.c -o "$out/settings"
  rm -f "$out/crash.core"
  printf '\033[36m$ %s\033[0m\n' "TELLTALE_PATHS=$out/crash.core $out/settings 'ports=80,443;limits=7,!9'"
  TELLTALE_PATHS=$out/crash.core "$out/settings" 'ports=80,443;limits=7,!9' || true
  ls -l "$out/crash.core"
  run $telltale paths "$out/crash.core" --function add --function read_list
  run $telltale paths "$out/crash.core" --html -o "$out/crash.html"
fi

say "what next?"
cat <<TEXT
  open $out/decoder.html                 click a box to go deeper
  open https://ui.perfetto.dev           and drop $out/decoder.perfetto-trace on the page
  $telltale run --overhead 5 -- $program $out/input.xray    what does recording cost?
  $telltale run --sparse 16 --function '*decode*' -- $program $out/input.xray
  $telltale dump $recording | less       every record with its place in the file
  $telltale check $recording             is it valid by its own grammar?
  $telltale sites $program | less        the functions that XRay can watch
  $telltale top --json $recording        the same table for a script
  $telltale --help                       all verbs
TEXT
[[ ! -f $out/crash.html ]] || echo "  open $out/crash.html                   step through what ran before a crash"
[[ ! -f $out/study.html ]] || echo "  open $out/study.html                   the predicates that predict the crashes"
