#include "analysis/heap/heap_growth.h"

#include <map>
#include <utility>

#include "base/sort_rows.h"

namespace telltale {
namespace {

void add_growth_of_process(const std::vector<const HeapShots::Shot*>& shots,
                           const LoadedTypes& types, std::vector<TypeGrowth>& all) {
  std::map<std::string, TypeGrowth> by_name;
  for (size_t i = 0; i < shots.size(); ++i) {
    for (const auto& [id, sum] : shots[i]->by_type) {
      std::string name = types.name_or_address(id);
      TypeGrowth& growth = by_name[name];
      growth.type = std::move(name);
      growth.process = shots[i]->process;
      growth.by_shot.resize(shots.size());
      growth.by_shot[i].objects += sum.objects;
      growth.by_shot[i].bytes += sum.bytes;
    }
  }
  for (auto& [name, growth] : by_name) {
    for (size_t i = 1; i < shots.size(); ++i) {
      const uint64_t before = growth.by_shot[i - 1].bytes;
      const uint64_t after = growth.by_shot[i].bytes;
      growth.steps_up += static_cast<size_t>(after > before);
      growth.steps_down += static_cast<size_t>(after < before);
    }
    all.push_back(std::move(growth));
  }
}

}  // namespace

std::vector<TypeGrowth> heap_growth(std::span<const HeapShots::Shot> shots,
                                    const LoadedTypes& types) {
  std::map<size_t, std::vector<const HeapShots::Shot*>> by_process;
  for (const HeapShots::Shot& shot : shots) by_process[shot.process].push_back(&shot);
  std::vector<TypeGrowth> all;
  for (const auto& [process, its_shots] : by_process)
    if (its_shots.size() > 1) add_growth_of_process(its_shots, types, all);
  sort_rows(all, std::greater(),
            [](const TypeGrowth& type) { return std::pair(type.grows_steadily(), type.bytes()); });
  return all;
}

}  // namespace telltale
