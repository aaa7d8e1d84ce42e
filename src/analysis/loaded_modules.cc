#include "analysis/loaded_modules.h"

#include <algorithm>

namespace telltale {

void LoadedModules::on(const PieceEvent& event) {
  place_ = event.offset;
  const auto id = static_cast<uint64_t>(event.thread);
  if (first_pieces_.find(id) == nullptr) first_pieces_[id] = event.offset;
}

void LoadedModules::on(const LoadEvent& event) {
  if (event.kind == LoadEvent::Kind::type || event.kind == LoadEvent::Kind::type_in_domain) return;
  told_.push_back({place_, event.kind, event.action, event.time, event.id, event.domain,
                   std::string(event.name)});
}

void LoadedModules::append(const LoadedModules& next) {
  told_.insert(told_.end(), next.told_.begin(), next.told_.end());
  for (const auto& [id, place] : next.first_pieces_) {
    const uint64_t* ours = first_pieces_.find(id);
    if (ours == nullptr || place < *ours) first_pieces_[id] = place;
  }
}

std::vector<const LoadedModules::Told*> LoadedModules::in_file_order(LoadEvent::Kind kind) const {
  std::vector<const Told*> found;
  for (const Told& told : told_) {
    if (told.kind == kind) found.push_back(&told);
  }
  std::ranges::stable_sort(found, {}, [](const Told* told) { return told->place; });
  return found;
}

std::vector<LoadedModules::Module> LoadedModules::modules(LoadEvent::Kind kind) const {
  std::vector<Module> all;
  for (const Told* told : in_file_order(kind)) {
    if (told->action == LoadEvent::Action::loaded) {
      all.push_back({told->id, told->name, told->time, {}});
    } else if (told->action == LoadEvent::Action::unloaded) {
      const auto open = std::find_if(all.rbegin(), all.rend(), [&](const Module& module) {
        return module.id == told->id && !module.unloaded;
      });
      if (open != all.rend()) open->unloaded = told->time;
    }
  }
  return all;
}

namespace {

// The item with this id, appended if there is none. Lists are short.
template <typename Item, typename Id>
Item& item_of(std::vector<Item>& items, Id id) {
  const auto found = std::ranges::find(items, id, &Item::id);
  if (found != items.end()) return *found;
  items.emplace_back().id = id;
  return items.back();
}

void add_name(std::vector<std::string>& names, const std::string& name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(name);
}

}  // namespace

std::vector<LoadedModules::Domain> LoadedModules::domains() const {
  std::vector<Domain> all;
  for (const Told* told : in_file_order(LoadEvent::Kind::domain)) {
    Domain& domain = item_of(all, told->id);
    if (told->action == LoadEvent::Action::loaded) ++domain.loads;
    if (told->action == LoadEvent::Action::unloaded) ++domain.unloads;
    if (told->action != LoadEvent::Action::named) continue;
    domain.name = told->name;
    add_name(domain.names, told->name);
  }
  return all;
}

std::vector<LoadedModules::Context> LoadedModules::contexts() const {
  std::vector<Context> all;
  for (const Told* told : in_file_order(LoadEvent::Kind::context)) {
    Context& context = item_of(all, told->id);
    if (told->action == LoadEvent::Action::loaded) {
      context.domain = told->domain;
      ++context.loads;
    }
    if (told->action == LoadEvent::Action::unloaded) ++context.unloads;
  }
  return all;
}

std::vector<LoadedModules::Thread> LoadedModules::threads() const {
  std::vector<std::pair<uint64_t, int64_t>> order;  // by first piece
  for (const auto& [id, place] : first_pieces_) order.emplace_back(place, static_cast<int64_t>(id));
  std::ranges::sort(order);
  std::vector<Thread> all;
  AddressMap<size_t> index;  // into `all`
  for (const auto& [place, id] : order) {
    index[static_cast<uint64_t>(id)] = all.size();
    all.emplace_back().id = id;
  }
  for (const Told* told : in_file_order(LoadEvent::Kind::thread)) {
    const size_t* found = index.find(told->id);
    if (found == nullptr) continue;
    Thread& thread = all[*found];
    if (told->action == LoadEvent::Action::loaded) ++thread.starts;
    if (told->action == LoadEvent::Action::unloaded) ++thread.ends;
    if (told->action != LoadEvent::Action::named) continue;
    thread.name = told->name;
    add_name(thread.names, told->name);
  }
  return all;
}

}  // namespace telltale
