#include "import/sampler/report_stack.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>

#include "formats/sampler/backtrace.h"
#include "formats/sampler/counter_rows.h"
#include "formats/sampler/report_reader.h"
#include "formats/sampler/wire.h"
#include "import/study_stacks.h"
#include "program/demangle.h"

namespace telltale {
namespace {

void add_frames(const sampler::BacktraceFrame& frame, BacktraceResolver& resolver,
                std::vector<isolation::StackFrame>& stack) {
  for (ResolvedFrame& resolved : resolver.resolve_inlined(frame)) {
    isolation::StackFrame named{std::move(resolved.function), std::move(resolved.file),
                                resolved.line, std::move(resolved.module)};
    if (named.function.empty() && !frame.symbol.empty()) named.function = demangle(frame.symbol);
    if (named.function.empty() && frame.offset) {
      const std::string_view module = frame.module;
      named.function = fmt::format("{}+{:#x}", module.substr(module.rfind('/') + 1), *frame.offset);
    }
    stack.push_back(std::move(named));
  }
}

}  // namespace

std::vector<isolation::StackFrame> read_report_stack(const InputFile& report,
                                                     BacktraceResolver& resolver) {
  std::vector<isolation::StackFrame> stack;
  bool inside = false;
  sampler::ReportReader reader(report.bytes());
  while (const auto item = reader.next()) {
    using Kind = sampler::ReportItem::Kind;
    if (item->kind == Kind::report_begin) {
      if (!stack.empty()) break;  // a sanitizer aborts the program once more
      inside = item->id == sampler::kBacktraceReport;
    } else if (item->kind == Kind::report_end) {
      inside = false;
    } else if (inside && item->kind == Kind::text) {
      sampler::for_each_line(item->bytes, [&](std::string_view line, size_t) {
        if (const auto frame = sampler::parse_backtrace_frame(line))
          add_frames(*frame, resolver, stack);
      });
    }
  }
  shorten_stack(stack);
  return stack;
}

}  // namespace telltale
