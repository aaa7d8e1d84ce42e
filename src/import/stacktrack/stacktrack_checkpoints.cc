#include "import/stacktrack/stacktrack_checkpoints.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>

#include "base/sort_rows.h"
#include "formats/stacktrack/wire.h"

namespace telltale {
namespace {

// The entry of a sorted range that applies to `place`: the last before it in its file, else the
// first after it there, else the nearest in another file. `range` is not empty.
template <typename Iterator, typename PlaceOf>
Iterator choose(Iterator begin, Iterator end, StacktrackCheckpoints::Place place,
                PlaceOf place_of) {
  const Iterator after =
      std::partition_point(begin, end, [&](const auto& entry) { return place_of(entry) <= place; });
  if (after != begin) {
    const Iterator before = std::prev(after);
    const bool same_file_behind = after != end && place_of(*after).file == place.file;
    if (place_of(*before).file == place.file || !same_file_behind) return before;
  }
  return after;
}

// `shown`: of a style that the specification does not have.
CheckpointKind kind_of(uint64_t style, CheckpointKind shown) {
  switch (static_cast<stacktrack::Style>(style)) {
    case stacktrack::Style::function:
    case stacktrack::Style::block:
      return CheckpointKind::scope;
    case stacktrack::Style::step:
      return CheckpointKind::step;
    case stacktrack::Style::value:
      return CheckpointKind::variable;
  }
  return shown;
}

uint32_t to_line(uint64_t line) {
  return line > std::numeric_limits<uint32_t>::max() ? 0 : static_cast<uint32_t>(line);
}

}  // namespace

void StacktrackCheckpoints::name_file(uint32_t part_number, uint64_t file_number, Place place,
                                      std::string name) {
  std::map<Place, std::string>& names = part(part_number).files[file_number];
  if (!names.empty() && names.rbegin()->second == name && names.rbegin()->first.file == place.file)
    return;
  names.emplace(place, std::move(name));
}

void StacktrackCheckpoints::define(uint32_t part_number, uint64_t scope, Definition definition) {
  std::vector<Definition>& known = part(part_number).scopes[scope].definitions;
  const auto content = [](const Definition& d) {
    return std::tie(d.place.file, d.style, d.line, d.file_number, d.name);
  };
  if (!known.empty() && content(known.back()) == content(definition)) return;
  known.push_back(std::move(definition));
}

void StacktrackCheckpoints::hit(uint32_t part_number, uint64_t scope, bool exit, bool with_text) {
  Scope& known = part(part_number).scopes[scope];
  known.exits = known.exits || exit;
  known.has_text = known.has_text || with_text;
}

StacktrackCheckpoints::Process& StacktrackCheckpoints::part(uint32_t number) {
  if (number >= processes_.size()) processes_.resize(number + size_t{1});
  return processes_[number];
}

void StacktrackCheckpoints::join(std::span<const uint32_t> processes) {
  std::vector<Process> parts = std::exchange(processes_, {});
  for (size_t i = 0; i < parts.size(); ++i) {
    Process& process = part(processes[i]);
    for (auto& [index, scope] : parts[i].scopes) {
      Scope& known = process.scopes[index];
      known.exits = known.exits || scope.exits;
      known.has_text = known.has_text || scope.has_text;
      std::ranges::move(scope.definitions, std::back_inserter(known.definitions));
    }
    for (auto& [number, names] : parts[i].files) process.files[number].merge(names);
  }
}

std::string StacktrackCheckpoints::file_name(const Process& process,
                                             const Definition& definition) const {
  const auto found = process.files.find(definition.file_number);
  if (found == process.files.end()) return {};
  return choose(found->second.begin(), found->second.end(), definition.place,
                [](const auto& entry) { return entry.first; })
      ->second;
}

uint32_t StacktrackCheckpoints::intern(std::string name, std::string file, uint32_t line,
                                       CheckpointKind kind) {
  // Lengths as prefixes make keys unambiguous.
  const std::string key = fmt::format("{} {} {} {} {}{}", static_cast<int>(kind), line, name.size(),
                                      file.size(), name, file);
  const auto [found, fresh] =
      by_content_.try_emplace(key, static_cast<uint32_t>(checkpoints_.size()));
  if (fresh) {
    checkpoints_.push_back({{.name = std::move(name),
                             .linkage_name = {},
                             .file = std::move(file),
                             .line = line,
                             .module = {}},
                            kind});
  }
  return found->second;
}

void StacktrackCheckpoints::finish(std::span<const uint32_t> processes) {
  join(processes);
  for (Process& process : processes_) finish(process);
  by_content_.clear();
}

void StacktrackCheckpoints::finish(Process& process) {
  // In order of scope index, so that ids do not depend on hash order.
  std::vector<std::pair<uint64_t, Scope*>> ordered;
  ordered.reserve(process.scopes.size());
  for (auto& [index, scope] : process.scopes) ordered.emplace_back(index, &scope);
  std::ranges::sort(ordered);
  for (auto& [index, scope] : ordered) {
    const CheckpointKind shown = scope->exits      ? CheckpointKind::scope
                                 : scope->has_text ? CheckpointKind::variable
                                                   : CheckpointKind::step;
    // The order in which texts end differs from that of their records.
    sort_rows(scope->definitions, {}, &Definition::place);
    for (Definition& definition : scope->definitions) {
      const CheckpointKind kind = kind_of(definition.style, shown);
      const std::string file = file_name(process, definition);
      std::string name = definition.name;
      if (name.empty()) {
        name = file.empty() ? fmt::format("#{}", index)
                            : fmt::format("{}:{}", std::filesystem::path(file).filename().string(),
                                          definition.line);
      }
      definition.checkpoint = intern(std::move(name), file, to_line(definition.line), kind);
    }
    if (scope->definitions.empty()) {
      scope->only = intern(fmt::format("#{}", index), {}, 0, shown);
    } else if (std::ranges::all_of(scope->definitions, [&](const Definition& definition) {
                 return definition.checkpoint == scope->definitions.front().checkpoint;
               })) {
      scope->only = scope->definitions.front().checkpoint;
      scope->definitions.clear();
    }
  }
}

FunctionId StacktrackCheckpoints::find(uint32_t process, uint64_t scope, Place place) const {
  if (process >= processes_.size()) return FunctionId{~0U};
  const Process& known = processes_[process];
  const auto found = known.scopes.find(scope);
  if (found == known.scopes.end()) return FunctionId{~0U};
  const Scope& entry = found->second;
  if (entry.definitions.empty()) return FunctionId{entry.only};
  return FunctionId{choose(entry.definitions.begin(), entry.definitions.end(), place,
                           [](const Definition& definition) { return definition.place; })
                        ->checkpoint};
}

const FunctionInfo& StacktrackCheckpoints::describe(FunctionId id) const {
  if (to_number(id) < checkpoints_.size()) return checkpoints_[to_number(id)].info;
  return unknown_;
}

}  // namespace telltale
