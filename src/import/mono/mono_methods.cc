#include "import/mono/mono_methods.h"

#include <fmt/format.h>

#include <bit>

namespace telltale {

const FunctionInfo& MonoFunctionNames::describe(FunctionId id) const {
  static const FunctionInfo kUnknown{.name = "#?", .linkage_name = {}, .file = {}, .module = {}};
  const std::lock_guard lock(mutex_);
  return to_number(id) < infos_.size() ? infos_[to_number(id)] : kUnknown;
}

FunctionId MonoFunctionNames::add(std::string name) {
  const std::lock_guard lock(mutex_);
  infos_.emplace_back().name = std::move(name);
  return FunctionId{static_cast<uint32_t>(infos_.size() - 1)};
}

FunctionId MonoFunctionNames::add_shared(const std::string& name, uint32_t occurrence) {
  const std::lock_guard lock(mutex_);
  const auto [place, is_new] = shared_.try_emplace({name, occurrence});
  if (is_new) {
    infos_.emplace_back().name = name;
    place->second = FunctionId{static_cast<uint32_t>(infos_.size() - 1)};
  }
  return place->second;
}

MonoMethods::MonoMethods(std::shared_ptr<MonoFunctionNames> names, bool share_names,
                         FindAll find_all)
    : names_(std::move(names)), share_names_(share_names), find_all_(std::move(find_all)) {
  auto table = std::make_unique<Table>();
  table->slots.resize(64);
  table->shift = 64 - 6;
  publish(std::move(table));
}

void MonoMethods::add(const std::vector<Found>& found) {
  const std::lock_guard lock(mutex_);
  auto table = grown(found.size());
  for (const Found& method : found) insert(*table, method);
  publish(std::move(table));
}

MonoMethods::Slot& MonoMethods::slot_of(Table& table, uint64_t method) {
  size_t at = static_cast<size_t>((method * kFactor) >> table.shift);
  while (table.slots[at].used && table.slots[at].method != method)
    at = (at + 1) & (table.slots.size() - 1);
  return table.slots[at];
}

std::unique_ptr<MonoMethods::Table> MonoMethods::grown(size_t more) const {
  const Table& old = *table_.load(std::memory_order_acquire);
  auto table = std::make_unique<Table>();
  table->slots.resize(std::bit_ceil(4 * (old.count + more) + 64));
  table->shift = 64 - static_cast<unsigned>(std::countr_zero(table->slots.size()));
  for (const Slot& slot : old.slots)
    if (slot.used) slot_of(*table, slot.method) = slot;
  table->count = old.count;
  return table;
}

void MonoMethods::publish(std::unique_ptr<Table> table) const {
  table_.store(table.get(), std::memory_order_release);
  tables_.push_back(std::move(table));
}

void MonoMethods::insert(Table& table, const Found& found) const {
  Slot& slot = slot_of(table, found.method);
  if (slot.used) return;
  std::string name =
      found.name.empty() ? fmt::format("#0x{:x}", found.method) : std::string(found.name);
  FunctionId id{};
  if (share_names_) {
    const uint32_t occurrence = occurrences_[name]++;
    id = names_->add_shared(name, occurrence);
  } else {
    id = names_->add(std::move(name));
  }
  slot = {found.method, id, true};
  ++table.count;
}

FunctionId MonoMethods::find_rest(uint64_t method) const {
  const std::lock_guard lock(mutex_);
  if (!complete_) {
    complete_ = true;
    const std::vector<Found> all = find_all_();
    auto table = grown(all.size());
    for (const Found& found : all) insert(*table, found);
    publish(std::move(table));
  }
  // Every emitted method was found before, as both passes read the same bytes; the table has room
  // in any case.
  auto* table = tables_.back().get();
  Slot& slot = slot_of(*table, method);
  return slot.used ? slot.id : FunctionId{~uint32_t{0}};
}

}  // namespace telltale
