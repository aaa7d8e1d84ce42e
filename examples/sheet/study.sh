#!/usr/bin/env bash
# Runs the spreadsheet of this folder many times, completely observed and sampled, and asks what predicts its crashes.
# Part of ./dev demo; writes to OUT. Usage: study.sh [OUT [RUNS]]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
bin=$PWD/build/release/bin
out=${1:-build/demo}
runs=${2:-2000}
mkdir -p "$out"
out=$(cd "$out" && pwd)

say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
run() {
  printf '\033[36m$ %s\033[0m\n' "${*//$bin\//}"
  "$@"
}

# telltale-cc needs one of the clang releases that it has a plugin for.
for plugin in build/release/lib/telltale/telltale-sampler-clang-*.so; do
  release=${plugin##*-}
  if [[ -x $bin/telltale-cc && -f $plugin ]] && command -v "clang-${release%.so}" >/dev/null; then found=1; fi
done
if [[ -z ${found:-} ]]; then
  say "skipped: what predicts the crashes of a program?"
  echo "  This needs clang and its headers: ./dev setup tests, then ./dev demo again (examples/sheet/study.sh)."
  exit 0
fi

say "a spreadsheet with two bugs: $(cat examples/sheet/*.[ch] | wc -l) lines of C, compiled by telltale-cc"
cd examples/sheet
run "$bin/telltale-cc" -g -O1 -frelative-paths -fsampler-scheme=branches -fsampler-scheme=returns \
  -fsampler-scheme=scalar-pairs *.c -o "$out/sheet" -lm
cd "$out"
rm -rf complete sampled

say "$runs days of work with it, everything observed: what predicts the crashes?"
run "$bin/telltale" run --study complete --times "$runs" --jobs "$(nproc)" --seed 1 -- ./sheet --work {} --quiet
run "$bin/telltale" isolate complete

say "the same with one observation in 100, as in a program that users have"
run "$bin/telltale" run --study sampled --times "$runs" --jobs "$(nproc)" --seed 1 --sparsity 100 -- ./sheet --work {} --quiet
run "$bin/telltale" isolate sampled --limit 3

say "as a page, with the source around each predictor"
run "$bin/telltale" isolate complete --html --source "$OLDPWD" -o study.html
ls -l study.html
