#include "analysis/runtime/loaded_modules.h"

#include <algorithm>
#include <tuple>

#include "base/sort_rows.h"

namespace telltale {

void LoadedModules::on(const PieceEvent& event) {
  place_ = event.offset;
  process_ = event.process;
  first_pieces_.try_emplace({event.process, event.thread}, event.offset);
}

void LoadedModules::on(const LoadEvent& event) {
  if (event.kind == LoadEvent::Kind::type || event.kind == LoadEvent::Kind::type_in_domain) return;
  loaded_.push_back({place_, process_, event.kind, event.action, event.time, event.id, event.domain,
                     std::string(event.name)});
}

void LoadedModules::append(const LoadedModules& next) {
  loaded_.insert(loaded_.end(), next.loaded_.begin(), next.loaded_.end());
  for (const auto& [thread, place] : next.first_pieces_) {
    uint64_t& ours = first_pieces_.try_emplace(thread, place).first->second;
    ours = std::min(ours, place);
  }
}

std::vector<const LoadedModules::Loaded*> LoadedModules::in_file_order(LoadEvent::Kind kind) const {
  std::vector<const Loaded*> found;
  for (const Loaded& event : loaded_) {
    if (event.kind == kind) found.push_back(&event);
  }
  sort_rows(found, {}, [](const Loaded* event) { return event->place; });
  return found;
}

std::vector<LoadedModules::Module> LoadedModules::modules(LoadEvent::Kind kind) const {
  std::vector<Module> all;
  for (const Loaded* event : in_file_order(kind)) {
    if (event->action == LoadEvent::Action::loaded) {
      all.push_back({event->process, event->id, event->name, event->time, {}});
    } else if (event->action == LoadEvent::Action::unloaded) {
      const auto open = std::find_if(all.rbegin(), all.rend(), [&](const Module& module) {
        return module.id == event->id && !module.unloaded;
      });
      if (open != all.rend()) open->unloaded = event->time;
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
  for (const Loaded* event : in_file_order(LoadEvent::Kind::domain)) {
    Domain& domain = item_of(all, event->id);
    domain.process = event->process;
    if (event->action == LoadEvent::Action::loaded) ++domain.loads;
    if (event->action == LoadEvent::Action::unloaded) ++domain.unloads;
    if (event->action != LoadEvent::Action::named) continue;
    domain.name = event->name;
    add_name(domain.names, event->name);
  }
  return all;
}

std::vector<LoadedModules::Context> LoadedModules::contexts() const {
  std::vector<Context> all;
  for (const Loaded* event : in_file_order(LoadEvent::Kind::context)) {
    Context& context = item_of(all, event->id);
    context.process = event->process;
    if (event->action == LoadEvent::Action::loaded) {
      context.domain = event->domain;
      ++context.loads;
    }
    if (event->action == LoadEvent::Action::unloaded) ++context.unloads;
  }
  return all;
}

std::vector<LoadedModules::Thread> LoadedModules::threads() const {
  std::vector<std::pair<uint64_t, std::pair<size_t, int64_t>>> order;  // by first piece
  for (const auto& [thread, place] : first_pieces_) order.emplace_back(place, thread);
  sort_rows(order);
  std::vector<Thread> all;
  std::map<std::pair<size_t, int64_t>, size_t> index;  // into `all`
  for (const auto& [place, thread] : order) {
    index[thread] = all.size();
    Thread& own = all.emplace_back();
    std::tie(own.process, own.id) = thread;
  }
  for (const Loaded* event : in_file_order(LoadEvent::Kind::thread)) {
    const auto found = index.find({event->process, static_cast<int64_t>(event->id)});
    if (found == index.end()) continue;
    Thread& thread = all[found->second];
    if (event->action == LoadEvent::Action::loaded) ++thread.starts;
    if (event->action == LoadEvent::Action::unloaded) ++thread.ends;
    if (event->action != LoadEvent::Action::named) continue;
    thread.name = event->name;
    add_name(thread.names, event->name);
  }
  return all;
}

}  // namespace telltale
