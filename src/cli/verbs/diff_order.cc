#include "cli/verbs/diff_order.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/calls/call_sequence.h"
#include "cli/options/compared_names.h"
#include "cli/options/diff_gate.h"
#include "cli/options/function_match.h"
#include "cli/options/message.h"
#include "cli/options/open_one.h"
#include "import/timed_calls.h"
#include "output/escape.h"
#include "output/output_file.h"
#include "report/calls/sequence_page.h"
#include "report/calls/sequence_report.h"

namespace telltale::cli {
namespace {

// 24 bytes each.
constexpr size_t kMostCalls = 100'000'000;

struct OneThread {
  std::unique_ptr<const Recording> recording;
  EventStream thread;  // of an empty recording: no thread
  CallSequence sequence;
};

uint64_t bytes_of(const TimedCalls& calls, size_t stream) {
  uint64_t bytes = 0;
  for (size_t shard = 0; shard < calls.streams()[stream].shards; ++shard)
    bytes += calls.shard_bytes(stream, shard);
  return bytes;
}

// The longest of the threads that the filter keeps.
std::optional<size_t> choose_thread(const TimedCalls& calls, const CallFilter& filter) {
  std::optional<size_t> chosen;
  uint64_t most = 0;
  for (size_t i = 0; i < calls.streams().size(); ++i) {
    if (!filter.keeps_thread(calls.streams()[i].thread)) continue;
    const uint64_t bytes = bytes_of(calls, i);
    if (chosen && bytes <= most) continue;
    chosen = i;
    most = bytes;
  }
  return chosen;
}

Result<OneThread> read_thread(const ReadingOptions& reading, size_t side,
                              const std::vector<std::string>& programs, NameNumbers& numbers,
                              ProblemLog& problems) {
  Result<CallFilter> filter = reading.filter();
  if (!filter) return std::unexpected(filter.error());
  if (filter->threads.size() > 2)
    return usage_error("--order compares two threads; --thread names one of each recording");
  if (filter->threads.size() == 2) filter->threads = {filter->threads[side]};
  auto recording = open_one(reading, side, programs);
  if (!recording) return std::unexpected(recording.error());
  OneThread one{.recording = *std::move(recording), .thread = {}, .sequence = {}};
  settle_window(*one.recording, reading, *filter);
  const TimedCalls& calls = *one.recording->timed_calls();
  problems.merge(one.recording->problems());
  const std::optional<size_t> chosen = choose_thread(calls, *filter);
  if (!chosen) {
    if (filter->threads.empty()) return one;
    return usage_error(reading.files[side] + " has no such thread");
  }
  one.thread = calls.streams()[*chosen];
  one.sequence = collect_call_sequence(calls, *chosen, *filter, kMostCalls, numbers, problems);
  if (!one.sequence.whole) {
    print_message("telltale: {}: only the first {} calls are compared; --time chooses others\n",
                  visible(reading.files[side]), kMostCalls);
  }
  return one;
}

// Errors: usage, if a side lacks the names that are compared.
Result<void> check_names(const OneThread& before, const OneThread& after,
                         const NameNumbers& numbers) {
  ComparedNames names;
  names.add(ComparedNames::kBefore, *before.recording);
  names.add(ComparedNames::kAfter, *after.recording);
  std::vector<std::array<bool, 2>> seen(numbers.size());
  for (const CallSequence::Call& call : before.sequence.calls) seen[call.name][0] = true;
  for (const CallSequence::Call& call : after.sequence.calls) seen[call.name][1] = true;
  for (uint32_t number = 0; number < numbers.size(); ++number)
    names.add_function(numbers.name(number), seen[number][0], seen[number][1]);
  return names.check(false);
}

Result<void> write_page_file(const SequenceReport& report, const ProblemLog& problems,
                             const OutputOption& output) {
  Result<OutputFile> out = open_output(output);
  if (!out) return std::unexpected(out.error());
  if (const Result<void> written = write_sequence_page(report, problems, *out); !written)
    return written;
  return out->finish();
}

}  // namespace

int diff_order(const ReadingOptions& reading, const DiffOrderOptions& options) {
  if (options.page) {
    for (const auto* const inputs :
         {&reading.files, &reading.programs, &options.programs_before, &options.programs_after}) {
      if (const auto free = check_output(*options.page, *inputs); !free)
        return report_error(free.error());
    }
  }
  ProblemLog problems;
  NameNumbers numbers;
  const Result<OneThread> a = read_thread(reading, 0, options.programs_before, numbers, problems);
  if (!a) return report_error(a.error());
  const Result<OneThread> b = read_thread(reading, 1, options.programs_after, numbers, problems);
  if (!b) return report_error(b.error());
  if (const Result<void> named = check_names(*a, *b, numbers); !named)
    return report_error(named.error());
  const SequenceAlignment alignment = align_call_sequences(a->sequence, b->sequence);
  const auto side = [&](const OneThread& one, size_t index) {
    return SequenceSide{reading.files[index], one.thread, one.sequence};
  };
  const SequenceReport report{side(*a, 0), side(*b, 1), numbers, alignment};
  const ReadingOptions with_programs =
      with_programs_of_sides(reading, options.programs_before, options.programs_after);
  remark_chosen_functions(*a->recording, *b->recording);
  for (uint32_t number = 0; number < numbers.size(); ++number)
    if (remark_if_number(numbers.name(number), with_programs)) break;
  if (options.page) {
    if (const Result<void> done = write_page_file(report, problems, *options.page); !done)
      return report_error(done.error());
    return report_problems(reading, problems);
  }
  print(reading.json  ? sequence_document(report, problems)
        : reading.csv ? sequence_csv(report)
                      : sequence_text(report, options.rows));
  return report_problems(reading, problems);
}

}  // namespace telltale::cli
