// Sections about heap shots: live objects and references to them.
#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/heap/heap_class_changes.h"
#include "base/keep_first.h"
#include "base/sort_rows.h"
#include "report/runtime/runtime_fields.h"
#include "report/runtime/runtime_readings.h"
#include "report/runtime/runtime_reports.h"

namespace telltale::reports {
namespace {

using field::address;
using field::bytes;
using field::change;
using field::count;
using field::rows;
using field::text;

constexpr std::array kShots = {
    kPid,
    kProcessNumber,
    kShot,
    kAt,
    bytes("bytes", "Bytes of its objects."),
    count("objects", "Objects."),
    count("classes", "Different classes."),
    count("roots", "Roots; known with --traces.").or_null(),
};
constexpr std::array kInPart = {kPid,
                                kProcessNumber,
                                kShot,
                                kAt,
                                bytes("bytes", "Bytes of its objects."),
                                count("objects", "Objects."),
                                text("why", "unfinished or damaged.")};
constexpr std::array kClasses = {
    kPid,
    kProcessNumber,
    kShot,
    bytes("bytes", "Bytes of the objects."),
    count("objects", "Objects."),
    bytes("average", "Bytes an object, rounded down."),
    change("delta_bytes", Unit::bytes, "Change since the previous shot.")
        .titled("BYTES +")
        .or_null(),
    change("delta_objects", Unit::count, "Change since the previous shot.")
        .titled("OBJECTS +")
        .or_null(),
    kType,
    kClass,
};
constexpr std::array kReferences = {
    kPid,
    kProcessNumber,
    kShot,
    kType,
    kClass,
    count("references", "References to objects of the class."),
    count("pinning", "Of these from pinning roots.").or_null(),
    text("from", "Type that refers to them, or (roots)."),
    address("from_class", "Its class.").or_null(),
};
constexpr std::array kHeapShotMembers = {
    rows("shots", kShots, "Whole heap shots.").sometimes(),
    rows("unfinished", kInPart, "Shots of which a part is missing, left out.")
        .titled("Shots of which a part is missing, ignored")
        .sometimes(),
    rows("classes", kClasses, "Classes of each shot.").titled("Types").sometimes(),
    rows("references", kReferences, "With --traces: who refers to what.")
        .titled("References")
        .sometimes(),
};

constexpr size_t kShownClasses = 30;  // without --verbose, as mprof-report

int64_t difference(uint64_t now, uint64_t before) {
  return static_cast<int64_t>(now) - static_cast<int64_t>(before);
}

std::array<TableCell, kClasses.size()> class_row(const RuntimeReadings& in,
                                                 const HeapShots::Shot& shot,
                                                 const HeapClassChange& of_class) {
  const auto& [type, sum] = of_class.now;
  const auto& before = of_class.before;
  return {in.pid(shot.process),
          in.process_number(shot.process),
          uint64_t{shot.number},
          sum.bytes,
          sum.objects,
          sum.objects == 0 ? uint64_t{0} : sum.bytes / sum.objects,
          before ? TableCell(difference(sum.bytes, before->bytes)) : TableCell(),
          before ? TableCell(difference(sum.objects, before->objects)) : TableCell(),
          in.type_name(type),
          in.address(type)};
}

// One row per class and shot: the largest of each shot.
Table classes_table(const RuntimeReadings& in, const std::vector<HeapShots::Shot>& shots) {
  const RuntimeReportOptions& options = in.options();
  Table table(in.by_process(kClasses));
  const size_t shown = options.rows.value_or(options.verbose ? ~size_t{0} : kShownClasses);
  std::map<size_t, std::span<const HeapShots::TypeSum>> last;  // by process
  for (const HeapShots::Shot& shot : shots) {
    std::span<const HeapShots::TypeSum>& before = last[shot.process];
    auto [alive, gone] = heap_class_changes(before, shot.by_type);
    before = shot.by_type;
    // Ties need names, which take longer to find than to compare sums: only those that may be
    // shown.
    keep_first_and_ties(alive, shown, [&in](const HeapClassChange& a, const HeapClassChange& b) {
      return in.is_larger(a.now.sum, b.now.sum);
    });
    std::vector<std::pair<HeapClassChange, std::string_view>> largest;
    largest.reserve(alive.size());
    for (const HeapClassChange& each : alive)
      largest.emplace_back(each, in.recorded_type_name(each.now.type));
    keep_first(largest, shown, [&in](const auto& a, const auto& b) {
      return in.comes_first(a.first.now, a.second, b.first.now, b.second);
    });
    if (options.like_mprof) gone.clear();  // mprof-report does not print them
    if (options.rows) gone.resize(std::min(gone.size(), shown - largest.size()));
    for (const auto& [each, name] : largest) table.add(class_row(in, shot, each));
    for (const HeapClassChange& each : gone) table.add(class_row(in, shot, each));
  }
  return table;
}

// The referrers of a class's objects: other classes, and roots.
Table references_table(const RuntimeReadings& in, const std::vector<HeapShots::Shot>& shots) {
  Table table(in.by_process(kReferences));
  for (const HeapShots::Shot& shot : shots) {
    std::map<uint64_t, std::map<uint64_t, uint64_t>> references;  // class, from class
    for (const HeapShots::Link& link : shot.links)
      references[in.class_of(link.to)][in.class_of(link.from)] += link.count;
    std::map<uint64_t, HeapShotRoots::Sum> roots;  // by class
    for (const HeapShots::TypeRoots& to : shot.root_types) {
      roots[in.class_of(to.type)].add(to.roots);
      references.try_emplace(in.class_of(to.type));
    }
    const auto name_of_class = [&](uint64_t key) {
      return key == 0 ? std::string("unresolved class (nil)") : in.type_name(key);
    };
    for (const auto& [key, from] : references) {
      const auto of_roots = roots.find(key);
      if (of_roots != roots.end()) {
        table.add_row({in.pid(shot.process), in.process_number(shot.process), uint64_t{shot.number},
                       name_of_class(key), in.address(key), of_roots->second.all,
                       of_roots->second.pinning, std::string("(roots)"), TableCell()});
      }
      std::vector<std::pair<uint64_t, uint64_t>> sorted(from.begin(), from.end());
      sort_rows(sorted, std::greater(), &std::pair<uint64_t, uint64_t>::second);
      for (const auto& [from_key, references_from] : sorted) {
        table.add_row({in.pid(shot.process), in.process_number(shot.process), uint64_t{shot.number},
                       name_of_class(key), in.address(key), references_from, TableCell(),
                       name_of_class(from_key), in.address(from_key)});
      }
    }
  }
  return table;
}

void make_heapshot(const ReportInput& input, Section& section) {
  RuntimeReadings& in = *input.runtime;
  auto [shots, parts] = in.facts->shots.take_shots();
  if (in.options().like_mprof) {  // which treats them as complete
    for (HeapShots::LeftOut& part : parts) shots.push_back(std::move(part.shot));
    sort_rows(shots, {}, &HeapShots::Shot::number);
    parts.clear();
  }
  if (shots.empty() && parts.empty()) return;
  Table whole(in.by_process(kShots));
  for (HeapShots::Shot& shot : shots) {
    shot.by_type =
        sum_by_class(std::move(shot.by_type), [&in](uint64_t id) { return in.class_of(id); });
    TableCell roots;  // only known with --traces
    if (in.options().traces) roots = shot.roots;
    whole.add_row({in.pid(shot.process), in.process_number(shot.process), uint64_t{shot.number},
                   in.since_zero(shot.begin), shot.bytes, shot.objects,
                   uint64_t{shot.by_type.size()}, roots});
  }
  section.add("shots", std::move(whole));
  Table left_out(in.by_process(kInPart));
  for (const auto& [shot, why] : parts) {
    left_out.add_row({in.pid(shot.process), in.process_number(shot.process), uint64_t{shot.number},
                      in.since_zero(shot.begin), shot.bytes, shot.objects,
                      std::string(name_of(why))});
    in.in_part[shot.number] = {shot.number, shot.begin, why};
  }
  section.add("unfinished", std::move(left_out));
  section.add("classes", classes_table(in, shots));
  if (in.options().traces) section.add("references", references_table(in, shots));
}

}  // namespace

constinit const Report kHeapshot{
    .name = "heapshot",
    .title = "Heap shots",
    .sentence = "What was alive, by class.",
    .needs = Capability::runtime_events,
    .members = kHeapShotMembers,
    .make = make_heapshot,
    .by_default = true,
    .reads = RuntimeReadings::facts_read | RuntimeReadings::heap_references_read};

}  // namespace telltale::reports
