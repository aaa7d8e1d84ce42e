// Heap shots: what was alive, and what held it.
#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "cli/mono_sections.h"

namespace telltale::cli {
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
  const bool like = in_.options.like_mprof;
  const bool by_count = in_.options.alloc_sort == "count";
  const size_t shown = in_.options.rows.value_or(in_.options.verbose ? ~size_t{0} : kShownClasses);
  std::map<uint64_t, HeapShots::Sum> before;
  for (size_t i = 0; i < shots.size(); ++i) {
    std::map<uint64_t, HeapShots::Sum> now;
    std::map<uint64_t, std::string> names;
    for (const auto& [id, sum] : shots[i].by_type) {
      const TypeKey key = type_key(id);
      names[key.id] = key.name;
      now[key.id].bytes += sum.bytes;
      now[key.id].objects += sum.objects;
    }
    if (!like) {  // what is gone is told, too
      for (const auto& [key, sum] : before) now.try_emplace(key);
    }
    std::vector<std::pair<uint64_t, HeapShots::Sum>> rows(now.begin(), now.end());
    const auto name_in_order = [&](uint64_t id) {  // what is gone has none, and comes last
      const auto name = names.find(id);
      return name == names.end() ? std::string_view() : std::string_view(name->second);
    };
    std::ranges::sort(rows, [&](const auto& a, const auto& b) {
      const auto key = [&](const auto& row) {
        const auto& [id, sum] = row;
        return std::tuple(by_count ? ~sum.objects : ~sum.bytes,
                          by_count ? ~sum.bytes : ~sum.objects, name_in_order(id), id);
      };
      return key(a) < key(b);
    });
    size_t listed = 0;  // --rows limits types that vanished, too
    for (const auto& [id, sum] : rows) {
      if ((sum.objects != 0 || in_.options.rows) && ++listed > shown) continue;
      const auto old = before.find(id);
      std::vector<Cell> cells = {uint64_t{shots[i].number}, sum.bytes, sum.objects,
                                 sum.objects == 0 ? 0 : sum.bytes / sum.objects};
      if (old != before.end()) {
        cells.insert(cells.end(), {difference(sum.bytes, old->second.bytes),
                                   difference(sum.objects, old->second.objects)});
      } else {
        cells.insert(cells.end(), {Cell(), Cell()});
      }
      cells.insert(cells.end(), {sum.objects == 0 ? type_name(id) : names[id], address(id)});
      table.add_row(cells);
    }
    std::erase_if(now, [](const auto& row) { return row.second.objects == 0; });
    before = std::move(now);
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
      references[type_key(link.to).id][type_key(link.from).id] += link.count;
    std::map<uint64_t, HeapShotRoots::Sum> roots;  // by class
    for (const HeapShots::TypeRoots& to : shot.root_types) {
      roots[type_key(to.type).id].add(to.roots);
      references.try_emplace(type_key(to.type).id);
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
  for (size_t i = 0; i < shots.size(); ++i) {
    std::map<uint64_t, bool> classes;
    for (const auto& [id, sum] : shots[i].by_type) classes[type_key(id).id] = true;
    Cell roots;  // only known with --traces
    if (in_.options.traces) roots = shots[i].roots;
    table.add_row({uint64_t{shots[i].number}, since_zero(shots[i].begin), shots[i].bytes,
                   shots[i].objects, uint64_t{classes.size()}, roots});
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

}  // namespace telltale::cli
