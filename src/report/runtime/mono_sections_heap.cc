// Heap shots: what was alive, and what held it.
#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <utility>

#include "analysis/heap_class_changes.h"
#include "base/keep_first.h"
#include "report/runtime/mono_sections.h"

namespace telltale {
namespace {

constexpr size_t kShownClasses = 30;  // without --verbose, as mprof-report

int64_t difference(uint64_t now, uint64_t before) {
  return static_cast<int64_t>(now) - static_cast<int64_t>(before);
}

}  // namespace

// A line a class and shot: the largest of each shot.
Table MonoSections::heap_classes(const std::vector<HeapShots::Shot>& shots) const {
  Table table({{"shot", "SHOT"},
               {"bytes", "BYTES"},
               {"objects", "OBJECTS"},
               {"average", "AVERAGE"},
               {"delta_bytes", "BYTES +"},
               {"delta_objects", "OBJECTS +"},
               {"type", "TYPE", Show::text},
               {"class", "CLASS", Show::text}});
  const size_t shown = in_.options.rows.value_or(in_.options.verbose ? ~size_t{0} : kShownClasses);
  std::span<const HeapShots::TypeSum> before;
  for (const HeapShots::Shot& shot : shots) {
    const auto add_row = [&](const HeapClassChange& change, std::string name) {
      const auto& [type, sum] = change.now;
      std::vector<Cell> cells = {uint64_t{shot.number}, sum.bytes, sum.objects,
                                 sum.objects == 0 ? 0 : sum.bytes / sum.objects};
      if (const auto& old = change.before) {
        cells.insert(cells.end(),
                     {difference(sum.bytes, old->bytes), difference(sum.objects, old->objects)});
      } else {
        cells.insert(cells.end(), {Cell(), Cell()});
      }
      cells.insert(cells.end(), {std::move(name), address(type)});
      table.add_row(cells);
    };
    auto [alive, gone] = heap_class_changes(before, shot.by_type);
    before = shot.by_type;
    std::vector<std::pair<HeapClassChange, std::string>> rows;
    rows.reserve(alive.size());
    for (const HeapClassChange& change : alive)
      rows.emplace_back(change, type_name(change.now.type));
    keep_first(rows, shown, [this](const auto& a, const auto& b) {
      return comes_first(a.first.now, a.second, b.first.now, b.second);
    });
    if (in_.options.like_mprof) gone.clear();  // mprof-report does not tell of them
    if (in_.options.rows) gone.resize(std::min(gone.size(), shown - rows.size()));
    for (auto& [change, name] : rows) add_row(change, std::move(name));
    for (const HeapClassChange& change : gone) add_row(change, type_name(change.now.type));
  }
  return table;
}

// Who refers to the objects of a class: other classes, and roots.
Table MonoSections::heap_references(const std::vector<HeapShots::Shot>& shots) const {
  Table table({{"shot", "SHOT"},
               {"type", "TYPE", Show::text},
               {"class", "CLASS", Show::text},
               {"references", "REFERENCES"},
               {"pinning", "PINNING"},
               {"from", "FROM", Show::text},
               {"from_class", "FROM CLASS", Show::text}});
  for (const HeapShots::Shot& shot : shots) {
    std::map<uint64_t, std::map<uint64_t, uint64_t>> references;  // class, from class
    for (const HeapShots::Link& link : shot.links)
      references[class_of(link.to)][class_of(link.from)] += link.count;
    std::map<uint64_t, HeapShotRoots::Sum> roots;  // by class
    for (const HeapShots::TypeRoots& to : shot.root_types) {
      roots[class_of(to.type)].add(to.roots);
      references.try_emplace(class_of(to.type));
    }
    const auto name_of = [&](uint64_t key) {
      return key == 0 ? std::string("unresolved class (nil)") : type_name(key);
    };
    for (const auto& [key, from] : references) {
      const auto of_roots = roots.find(key);
      if (of_roots != roots.end()) {
        table.add_row({uint64_t{shot.number}, name_of(key), address(key), of_roots->second.all,
                       of_roots->second.pinning, std::string("(roots)"), Cell()});
      }
      std::vector<std::pair<uint64_t, uint64_t>> sorted(from.begin(), from.end());
      std::ranges::stable_sort(sorted, std::greater(), &std::pair<uint64_t, uint64_t>::second);
      for (const auto& [from_key, count] : sorted) {
        table.add_row({uint64_t{shot.number}, name_of(key), address(key), count, Cell(),
                       name_of(from_key), address(from_key)});
      }
    }
  }
  return table;
}

Section MonoSections::heapshot() {
  Section section{"heapshot", "Heap shots", {}, {}};
  auto [shots, unfinished] = in_.facts.shots.take_shots();
  if (in_.options.like_mprof) {  // which takes what there is for whole shots
    std::ranges::move(unfinished, std::back_inserter(shots));
    std::ranges::sort(shots, {}, &HeapShots::Shot::number);
    unfinished.clear();
  }
  if (shots.empty() && unfinished.empty()) return section;
  Table table({{"shot", "SHOT"},
               {"at_ns", "AT", Show::duration},
               {"bytes", "BYTES"},
               {"objects", "OBJECTS"},
               {"classes", "CLASSES"},
               {"roots", "ROOTS"}});
  for (HeapShots::Shot& shot : shots) {
    shot.by_type =
        sum_by_class(std::move(shot.by_type), [this](uint64_t id) { return class_of(id); });
    Cell roots;  // only known with --traces
    if (in_.options.traces) roots = shot.roots;
    table.add_row({uint64_t{shot.number}, since_zero(shot.begin), shot.bytes, shot.objects,
                   uint64_t{shot.by_type.size()}, roots});
  }
  section.add("shots", "", std::move(table));
  Table left_out({{"shot", "SHOT"},
                  {"at_ns", "AT", Show::duration},
                  {"bytes", "BYTES"},
                  {"objects", "OBJECTS"}});
  for (const HeapShots::Shot& shot : unfinished) {
    left_out.add_row({uint64_t{shot.number}, since_zero(shot.begin), shot.bytes, shot.objects});
    unfinished_[shot.number] = {shot.number, shot.begin, HeapShotLeftOut::Why::unfinished};
  }
  section.add("unfinished", "Shots without an end in the recording, left out", std::move(left_out));
  section.add("classes", "Types", heap_classes(shots));
  if (in_.options.traces) section.add("references", "References", heap_references(shots));
  return section;
}

}  // namespace telltale
