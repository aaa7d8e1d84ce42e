#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/runtime_events.h"

namespace telltale {

// Loaded images and assemblies, domains, contexts, threads. docs/analysis/mono.md, "metadata,
// thread, domain, context". A part: append() merges pieces in any order.
class LoadedModules {
 public:
  // Of all of them: `process` is EventStream::process, and ids are of one process.
  struct Module {  // an image or assembly, once for each load
    size_t process = 0;
    uint64_t id = 0;
    std::string name;
    Ticks loaded = 0;
    std::optional<Ticks> unloaded;
  };
  struct Domain {
    size_t process = 0;
    uint64_t id = 0;
    std::string name;                // the last
    std::vector<std::string> names;  // all, in order
    uint64_t loads = 0;              // how many domains had this id, one after the other
    uint64_t unloads = 0;
  };
  struct Context {
    size_t process = 0;
    uint64_t id = 0;
    uint64_t domain = 0;  // the last
    uint64_t loads = 0;
    uint64_t unloads = 0;
  };
  struct Thread {
    size_t process = 0;
    int64_t id = 0;
    std::string name;                // the last
    std::vector<std::string> names;  // all, in order: ids are reused
    uint64_t starts = 0;
    uint64_t ends = 0;
  };

  void on(const PieceEvent& event);
  void on(const LoadEvent& event);
  void append(const LoadedModules& next);

  // In file order, by first appearance.
  [[nodiscard]] std::vector<Module> images() const { return modules(LoadEvent::Kind::image); }
  [[nodiscard]] std::vector<Module> assemblies() const {
    return modules(LoadEvent::Kind::assembly);
  }
  [[nodiscard]] std::vector<Domain> domains() const;
  [[nodiscard]] std::vector<Context> contexts() const;
  // Only threads that wrote events.
  [[nodiscard]] std::vector<Thread> threads() const;

 private:
  struct Loaded {
    uint64_t place = 0;  // of the piece
    size_t process = 0;
    LoadEvent::Kind kind{};
    LoadEvent::Action action{};
    Ticks time = 0;
    uint64_t id = 0;
    uint64_t domain = 0;
    std::string name;
  };
  [[nodiscard]] std::vector<Module> modules(LoadEvent::Kind kind) const;
  [[nodiscard]] std::vector<const Loaded*> in_file_order(LoadEvent::Kind kind) const;

  uint64_t place_ = 0;
  size_t process_ = 0;
  std::vector<Loaded> loaded_;
  std::map<std::pair<size_t, int64_t>, uint64_t> first_pieces_;  // by process and thread: place
};

}  // namespace telltale
