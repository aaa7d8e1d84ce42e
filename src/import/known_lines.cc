#include "import/known_lines.h"

#include <algorithm>
#include <utility>

namespace telltale {

using Deed = PathFacts::Deed;
using Said = PathFacts::Said;

KnownLines::OfRun KnownLines::add(const std::map<Deed, Said>& lines) {
  const std::scoped_lock lock(mutex_);
  OfRun run;
  run.reserve(lines.size());
  // Both are in order, and have mostly the same lines.
  auto at = numbers_.begin();
  for (const auto& [deed, said] : lines) {
    while (at != numbers_.end() && at->first < deed) ++at;
    if (at == numbers_.end() || at->first != deed)
      at = numbers_.emplace_hint(at, deed, static_cast<uint32_t>(numbers_.size()));
    run.push_back({at->second, said});
  }
  return run;
}

void KnownLines::collect_files(std::set<std::string>& files) const {
  for (const auto& [deed, number] : numbers_) telltale::collect_files(deed, files);
}

std::vector<Deed> KnownLines::take(const SiteFileNames& names) {
  std::map<Deed, std::vector<uint32_t>> renamed;
  for (const auto& [deed, number] : numbers_)
    renamed[names.empty() ? deed : rename_files(names, deed)].push_back(number);
  index_.resize(numbers_.size());
  numbers_.clear();
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
