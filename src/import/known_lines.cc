#include "import/known_lines.h"

#include <algorithm>
#include <boost/container/flat_map.hpp>
#include <map>
#include <utility>

namespace telltale {

using Deed = PathFacts::Deed;
using Said = PathFacts::Said;

KnownLines::OfRun KnownLines::add(std::span<const LinesOfFunction> run_says) {
  const std::scoped_lock lock(mutex_);
  OfRun run;
  size_t count = 0;
  for (const LinesOfFunction& one : run_says) count += one.lines.size();
  run.reserve(count);
  for (const auto& [function, lines] : run_says) {
    boost::container::flat_map<SourceLine, uint32_t>& numbers = numbers_[function];
    // Both are in order, and have mostly the same lines.
    auto at = numbers.begin();
    for (const auto& [line, said] : lines) {
      while (at != numbers.end() && at->first < line) ++at;
      if (at == numbers.end() || at->first != line) {
        at = numbers.try_emplace(line, count_).first;
        ++count_;
      }
      run.push_back({at->second, said});
    }
  }
  return run;
}

KnownLines::OfRun KnownLines::add(const std::map<Deed, Said>& stored) {
  const std::scoped_lock lock(mutex_);
  OfRun run;
  run.reserve(stored.size());
  // Both are in order, and have mostly the same lines.
  auto at = stored_numbers_.begin();
  for (const auto& [deed, said] : stored) {
    while (at != stored_numbers_.end() && at->first < deed) ++at;
    if (at == stored_numbers_.end() || at->first != deed)
      at = stored_numbers_.emplace_hint(at, deed, count_++);
    run.push_back({at->second, said});
  }
  return run;
}

template <typename Visit>
void KnownLines::for_each(const Visit& visit) const {
  for (const auto& [function, numbers] : numbers_) {
    for (const auto& [line, number] : numbers)
      visit(Deed{.function = function, .places = {{line.first, line.second}}}, number);
  }
  for (const auto& [deed, number] : stored_numbers_) visit(deed, number);
}

void KnownLines::collect_files(std::set<std::string>& files) const {
  for_each([&](const Deed& deed, uint32_t /*number*/) { telltale::collect_files(deed, files); });
}

std::vector<Deed> KnownLines::take(const SiteFileNames& names) {
  std::map<Deed, std::vector<uint32_t>> renamed;
  for_each([&](const Deed& deed, uint32_t number) {
    renamed[names.empty() ? deed : rename_files(names, deed)].push_back(number);
  });
  index_.resize(count_);
  numbers_.clear();
  stored_numbers_.clear();
  std::vector<Deed> lines;
  for (const auto& [deed, numbers] : renamed) {
    for (const uint32_t number : numbers) index_[number] = static_cast<uint32_t>(lines.size());
    lines.push_back(deed);
  }
  return lines;
}

void KnownLines::sort(OfRun& run) const {
  for (Line& line : run) line.number = index_[line.number];
  std::ranges::sort(run, {}, [](const Line& line) { return line.number; });
  OfRun joined;
  for (const Line& line : run) {
    if (joined.empty() || joined.back().number != line.number) {
      joined.push_back(line);
    } else {
      joined.back().said = PathFacts::join(joined.back().said, line.said);
    }
  }
  run = std::move(joined);
}

}  // namespace telltale
