#include "cli/help/verb_examples.h"

#include <algorithm>
#include <array>

namespace telltale::cli {
namespace {

struct VerbExample {
  std::string_view verb;
  Example example;
};

// By verb; those of one verb in the order in which they are shown.
constexpr auto kExamples = std::to_array<VerbExample>({
    {"", {"telltale run -o prog.xray -- ./prog ARGUMENTS", "record a program"}},
    {"", {"telltale top prog.xray", "where did the time go?"}},
    {"", {"telltale diff old.xray new.xray --gate calls=10%", "what changed? a gate for tests"}},
    {"info", {"telltale info prog.xray", "format, threads, span, what was lost"}},
    {"info", {"telltale info recordings/", "all recordings of a process tree together"}},
    {"top",
     {"telltale top prog.xray --limit 20", "the 20 functions with the most time of their own"}},
    {"top",
     {"telltale top prog.xray --sort total --function 'shop::*'",
      "a namespace, by time including callees"}},
    {"top",
     {"telltale top prog.xray --thread 4711 --time 1.5ms..2ms", "one thread in a window of time"}},
    {"top", {"telltale top prog.xray --running", "without the time in which threads waited"}},
    {"report", {"telltale report prog.xray", "everything notable, on one page of text"}},
    {"report",
     {"telltale report app.mlpd --reports heapshot,alloc", "two of the reports on a Mono program"}},
    {"replay", {"telltale replay prog.xray --last 10ms", "how it ended"}},
    {"replay",
     {"telltale replay prog.xray --around 1.5ms --merge", "all threads in order of time"}},
    {"replay",
     {"telltale replay prog.xray --thread 4711 --call 35", "one call and what is inside"}},
    {"slow", {"telltale slow parse prog.xray", "its slowest calls, beside a typical one"}},
    {"slow", {"telltale slow 'Store::*' prog.xray --limit 3 --time -1s..", "of the last second"}},
    {"histogram", {"telltale histogram parse prog.xray", "how long its calls took"}},
    {"stacks", {"telltale stacks prog.xray > prog.folded", "for flame graph scripts"}},
    {"stacks", {"telltale stacks prog.xray --measure calls", "how often each call path ran"}},
    {"flame", {"telltale flame prog.xray -o prog.html", "a page for the browser"}},
    {"flame", {"telltale flame old.xray new.xray -o diff.html", "what grew and what shrank"}},
    {"flame", {"telltale flame prog.xray -o prog.svg", "a picture"}},
    {"graph",
     {"telltale graph prog.xray | dot -Tsvg > prog.svg", "who calls whom, drawn by Graphviz"}},
    {"diff", {"telltale diff old.xray new.xray", "functions and paths, by difference"}},
    {"diff",
     {"telltale diff old.xray new.xray --gate calls=10%",
      "exit status 1 if a function has over 10 % more calls"}},
    {"diff",
     {"telltale diff old.xray new.xray --order",
      "calls that were inserted, deleted or moved, in order"}},
    {"diff",
     {"telltale diff a1.xray a2.xray -- b1.xray b2.xray --gate self=5%",
      "several runs of each: times with a confidence interval"}},
    {"bench",
     {"telltale bench --gate calls=0%,self=5% ./old data -- ./new data",
      "record both in turns; exit status 1 if the second is worse"}},
    {"dump", {"telltale dump prog.xray | less", "every record with its offset"}},
    {"dump",
     {"telltale dump prog.xray --function main --depth 3", "only what belongs to these calls"}},
    {"check", {"telltale check prog.xray", "valid, or the first violation with its offset"}},
    {"convert", {"telltale convert prog.xray -o prog.pftrace", "for ui.perfetto.dev"}},
    {"convert", {"telltale convert prog.xray --to pprof -o prog.pb.gz", "for go tool pprof"}},
    {"convert",
     {"telltale convert prog.xray --to fdr3 -o old.xray", "for readers of an older version"}},
    {"expand_events", {"telltale expand_events server.tlg", "the records as XML"}},
    {"expand_events",
     {"telltale expand_events --show_format", "this platform's layout of records"}},
    {"sites", {"telltale sites ./prog", "functions and sleds that a recorder can watch"}},
    {"resolve",
     {"telltale resolve crash.report --program ./prog", "counts with their places in the source"}},
    {"paths", {"telltale paths core --program ./prog", "the lines that ran before the crash"}},
    {"paths",
     {"telltale paths core --program ./prog --slice", "the lines that may have made it crash"}},
    {"paths",
     {"telltale paths core --program ./prog --html -o paths.html", "step through them in a page"}},
    {"coverage",
     {"telltale coverage core --program ./prog --lines", "which lines had run, and which never"}},
    {"coverage", {"telltale coverage core --program ./prog --to lcov -o prog.info", "for genhtml"}},
    {"run", {"telltale run -o prog.xray -- ./prog ARGUMENTS", "record every call"}},
    {"run", {"telltale run --min 1us --without 'std::*' -- ./prog", "a small recording"}},
    {"run", {"telltale run --mode ring --size 64M -- ./prog", "keep what came last"}},
    {"run", {"telltale run -- make check", "record what a launcher starts"}},
    {"run", {"telltale run --overhead 5 -- ./prog", "what does recording cost?"}},
    {"run",
     {"telltale run --collect https://reports.example:8443 --ask -- ./prog",
      "send a report of this run, if the user agrees"}},
    {"run", {"telltale run --control -o prog.xray -- ./prog", "and see `telltale help control`"}},
    {"control", {"telltale control 4711 status", "does process 4711 record, and where?"}},
    {"control", {"telltale control 4711 stop", "finish the file; the program runs on"}},
    {"control",
     {"telltale control 4711 filter --min 1us --without 'std::*'", "record less from now on"}},
    {"study", {"telltale study info runs/", "how many runs passed and failed"}},
    {"send", {"telltale send --to https://reports.example:8443", "send the reports that wait"}},
    {"collect", {"telltale collect --store reports", "receive reports at 127.0.0.1:8080"}},
    {"store", {"telltale store fold reports", "move what was received into Parquet files"}},
    {"store", {"telltale store info reports", "how many runs passed and failed, by build"}},
    {"isolate", {"telltale isolate runs/", "what predicts failure, best first"}},
    {"isolate", {"telltale isolate runs/ -o isolate.html", "the same as a page"}},
    {"heapshot", {"telltale heapshot app.mlpd", "ask the running program for a heap shot"}},
    {"sampler",
     {"telltale sampler extract-section .debug_site_info ./prog", "the sites of a program"}},
    {"extract-section",
     {"telltale extract-section .debug_site_info ./prog", "the sites of a program"}},
    {"extract-cfg",
     {"telltale extract-cfg ./prog --to dot --function main | dot -Tsvg > main.svg",
      "a function's blocks, drawn by Graphviz"}},
    {"extract-report",
     {"telltale extract-report samples < crash.report", "the counters of a report"}},
    {"resolveSamples",
     {"telltale extract-report samples < crash.report | telltale resolveSamples ./prog",
      "counters with their places"}},
    {"resolveTimestamps",
     {"telltale extract-report timestamps < crash.report | telltale resolveTimestamps ./prog",
      "when places were last observed"}},
    {"resolve-backtrace",
     {"telltale extract-report main-backtrace < crash.report | telltale resolve-backtrace ./prog",
      "the stack at the crash"}},
    {"resolve-cfg", {"telltale resolve-cfg ./prog", "its control flow graphs"}},
    {"decimate-samples",
     {"telltale decimate-samples 100 < full.report > sparse.report",
      "as if one event in 100 had been counted"}},
    {"precompute",
     {"SAMPLER_SPARSITY=100 telltale precompute countdowns",
      "countdowns for SAMPLER_EVENT_COUNTDOWNS"}},
    {"find-sampler-info",
     {"telltale find-sampler-info --extract build/ --save info/", "before programs are stripped"}},
    {"help", {"telltale help top", "the options of a verb"}},
    {"man", {"telltale man top | man -l -", "a manual page"}},
    {"completion", {"source <(telltale completion bash)", "in ~/.bashrc"}},
});
static_assert(std::ranges::is_sorted(kExamples, {}, [](const VerbExample& each) {
  // The position of the verb's first example: those of one verb are together.
  return std::ranges::find(kExamples, each.verb, &VerbExample::verb) - kExamples.begin();
}));

// One array of examples, so that a verb's are a span of it.
constexpr auto kAll = [] {
  std::array<Example, kExamples.size()> all;
  std::ranges::transform(kExamples, all.begin(), &VerbExample::example);
  return all;
}();

}  // namespace

std::span<const Example> examples_of(std::string_view verb) {
  const auto range = std::ranges::find(kExamples, verb, &VerbExample::verb);
  const auto count = std::ranges::count(kExamples, verb, &VerbExample::verb);
  return std::span(kAll).subspan(static_cast<size_t>(range - kExamples.begin()),
                                 static_cast<size_t>(count));
}

}  // namespace telltale::cli
