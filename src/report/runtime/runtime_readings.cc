#include "report/runtime/runtime_readings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "analysis/calls/percentile.h"
#include "analysis/runtime/calling_method.h"
#include "base/sort_rows.h"

namespace telltale {

std::string hex(uint64_t number) {
  std::array<char, 18> text = {'0', 'x'};
  return {text.data(), std::to_chars(text.data() + 2, text.data() + text.size(), number, 16).ptr};
}

void add_percentiles(Section& section, const std::string& key, std::vector<Ticks> values) {
  if (values.empty()) return;
  std::ranges::sort(values);
  Ticks sum = 0;
  for (const Ticks value : values) sum += value;
  section.add("total_" + key, sum);
  for (const unsigned percent : {50U, 90U, 99U})
    section.add(fmt::format("p{}_{}", percent, key), percentile(values, percent));
  section.add("max_" + key, values.back());
}

RuntimeReadings::RuntimeReadings(const RuntimeEvents& source, RuntimeReportOptions options,
                                 CallFilter filter, unsigned reads, ProblemLog& problems)
    : source_(source),
      options_(std::move(options)),
      filter_(std::move(filter)),
      problems_(problems),
      processes_(source),
      zero_(options_.like_mprof ? source.first_buffer_time() : source.calls().first_time()),
      has_vtables_(source.header().types_by_domain),
      largest_(options_.alloc_sort == "count" ? &HeapShots::Sum::objects : &HeapShots::Sum::bytes) {
  if (reads != 0) read_facts(reads);
}

void RuntimeReadings::read_facts(unsigned reads) {
  const size_t workers = options_.workers;
  const bool times = (reads & call_times_read) != 0;
  const bool at_once = times && !options_.like_mprof && filter_.keeps_every_call();
  // mprof-report truncates recorded stacks at the wrong end.
  const FramesKept frames_kept{.most = options_.max_frames, .innermost = !options_.like_mprof};
  const RuntimeFactsOptions facts_options{
      .filter = filter_,
      .zero = zero_,
      .workers = workers,
      .references = options_.traces && (reads & heap_references_read) != 0,
      .all_counters = options_.verbose,
      .like_mprof = options_.like_mprof,
      .frames_kept = frames_kept};
  CallsWanted wanted = CallsWanted::none;
  if (at_once) wanted = options_.traces ? CallsWanted::and_stacks : CallsWanted::profile;
  RuntimeAnswer answer = source_.runtime_facts(facts_options, wanted, log());
  facts = std::move(answer.facts);
  calls = std::move(answer.calls);
  stacks = std::move(answer.stacks);
  if ((reads & event_sizes_read) != 0) sizes = source_.event_sizes(workers, log());
  if (times && options_.like_mprof) {
    mprof_calls = source_.mprof_calls(filter_, zero_, workers, log());
  } else if (times && !at_once) {
    calls = facts->has_calls ? source_.calls().profile({filter_, workers, /*exact=*/false}, log())
                             : Profile();
  }
  if (options_.traces && !stacks) {
    stacks = source_.event_stacks({.filter = filter_,
                                   .zero = zero_,
                                   .workers = workers,
                                   .calls = times && facts->has_calls,
                                   .like_mprof = options_.like_mprof,
                                   .frames_kept = frames_kept},
                                  log());
  }
}

const RuntimeTimeline& RuntimeReadings::timeline() {
  if (!timeline_) timeline_ = source_.runtime_timeline(filter_, options_.workers, log());
  return *timeline_;
}

WeightedStacks RuntimeReadings::weighted_stacks(StackMetric weighed, const CallFilter& filter) {
  return source_.weighted_stacks(weighed, filter, options_.workers, log());
}

std::vector<HeapGraph> RuntimeReadings::last_heap_graphs(std::vector<HeapShotLeftOut>& left_out) {
  auto graphs = source_.last_heap_graphs(filter_, options_.workers, log(), &left_out);
  for (const HeapShotLeftOut& shot : left_out)
    if (shot.why != HeapShotLeftOut::Why::at_exit) in_part[shot.number] = shot;
  return graphs;
}

const RuntimeReadings::Shots& RuntimeReadings::shots() {
  if (shots_) return *shots_;
  using Why = HeapShotLeftOut::Why;
  WeightedStacks allocations = weighted_stacks(StackMetric::allocations, CallFilter());
  const std::map<size_t, Ticks> ends = allocations.end.by_process(source_.calls().streams());
  shots_.emplace();
  auto [whole, parts] = allocations.shots.take_shots();
  std::erase_if(whole, [this](const HeapShots::Shot& shot) { return !in_window(shot.begin); });
  std::erase_if(parts,
                [this](const HeapShots::LeftOut& part) { return !in_window(part.shot.begin); });
  for (HeapShots::Shot& shot : whole) {
    if (is_at_exit(shot.begin, shot.stream, ends, source_.calls().streams())) {
      shots_->left_out.push_back({std::move(shot), Why::at_exit});
    } else {
      shots_->shots.push_back(std::move(shot));
    }
  }
  for (HeapShots::LeftOut& part : parts) {
    in_part[part.shot.number] = {part.shot.number, part.shot.begin, part.why};
    shots_->left_out.push_back(std::move(part));
  }
  sort_rows(shots_->left_out, {}, [](const HeapShots::LeftOut& one) { return one.shot.number; });
  shots_->growth = heap_growth(shots_->shots, allocations.types);
  return *shots_;
}

Result<std::vector<TypeGrowth>> RuntimeReadings::growth() {
  using Why = HeapShotLeftOut::Why;
  const Shots& all = shots();
  std::map<size_t, size_t> of_process;
  for (const HeapShots::Shot& shot : all.shots)
    if (++of_process[shot.process] > 1) return all.growth;
  std::string found = fmt::format("{} of the running program", all.shots.size());
  for (const Why why : {Why::at_exit, Why::unfinished, Why::damaged}) {
    const auto count = std::ranges::count(all.left_out, why, &HeapShots::LeftOut::why);
    if (count != 0) found += fmt::format(", {} {}", count, name_of(why));
  }
  return usage_error(fmt::format(
      "--gate growth needs at least two heap shots of a process; {} has {}",
      filter_.keeps_every_time() ? "the recording" : "this window of the recording", found));
}

bool RuntimeReadings::in_window(Ticks time) const {
  const uint64_t at = since_start(time);
  return at >= filter_.from_ns && at < filter_.to_ns;
}

std::string RuntimeReadings::thread_name(size_t stream_number) const {
  const EventStream& told = stream(stream_number);
  return told.thread_name.empty() ? hex(static_cast<uint64_t>(told.thread.tid)) : told.thread_name;
}

uint64_t RuntimeReadings::class_of(uint64_t type) const {
  // For mprof-report, a vtable that is used before its load event never has a class.
  if (options_.like_mprof && has_vtables_ && facts->early_types.used_early(type)) return 0;
  const uint64_t known = facts->types.class_of(type);
  return known == 0 ? type : known;
}

std::string RuntimeReadings::type_name(uint64_t type) const {
  const std::string_view name = facts->types.class_name(type);
  if (!name.empty()) return std::string(name);
  if (type == 0 && options_.like_mprof && has_vtables_) return "unresolved class (nil)";
  return "unresolved class " + address(type);
}

bool RuntimeReadings::name_comes_first(uint64_t type_a, std::string_view name_a, uint64_t type_b,
                                       std::string_view name_b) const {
  const auto names = name_a.empty() || name_b.empty() ? type_name(type_a) <=> type_name(type_b)
                                                      : name_a <=> name_b;
  return names != 0 ? names < 0 : type_a < type_b;
}

std::string RuntimeReadings::site_text(const StackTable& table, StackTable::Id stack,
                                       std::string_view runtime_type) const {
  if (stack == StackTable::Id::empty && filter_.selects_functions()) return "[no selected method]";
  return calling_method(table, stack, source_.calls().functions(), runtime_type);
}

std::string RuntimeReadings::stack_text(const StackTable& table, StackTable::Id stack) const {
  constexpr size_t kShownFrames = 12;
  const std::vector<FunctionId> functions = table.functions(stack);
  const size_t most = options_.for_programs ? functions.size() : kShownFrames;
  const size_t first = functions.size() - std::min(functions.size(), most);
  std::string text = first == 0 ? "" : fmt::format("... {} more", first);
  for (size_t i = first; i < functions.size(); ++i) {
    if (!text.empty()) text += " > ";
    text += function_name(functions[i]);
  }
  return text;
}

void RuntimeReadings::add_lines(Table& table, const std::vector<TableCell>& first,
                                const AddressMap<StackSums::Sum>& sums,
                                bool recorded_stacks) const {
  const bool outermost = options_.like_mprof && recorded_stacks;
  const FramesKept kept{.most = options_.max_frames, .innermost = !outermost};
  for (const StackSums::Line& line : stack_lines(sums, stacks->stacks, kept)) {
    std::vector<TableCell> cells = first;
    cells.emplace_back(line.sum.value);
    std::string stack;
    for (const FunctionId function : line.functions) {
      if (!stack.empty()) stack += " > ";
      stack += function_name(function);
    }
    cells.emplace_back(std::move(stack));
    table.add_row(cells);
  }
}

void RuntimeReadings::add_traces(Table& table, const std::vector<TableCell>& first,
                                 const StackSums& sums, uint64_t owner) const {
  if (const auto* of_owner = sums.by_owner().find(owner))
    add_lines(table, first, *of_owner, stacks->recorded);
}

}  // namespace telltale
