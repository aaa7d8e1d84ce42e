#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "model/runtime_events.h"

namespace telltale {

// Coverage, from the coverage events of data versions 10 to 15. docs/analysis/mono.md, "coverage".
// A part: append() merges pieces in any order.
class CoverageSums {
 public:
  struct Group {  // an assembly or a type
    std::string assembly;
    std::string name;
    uint64_t methods = 0;
    uint64_t fully = 0;
    uint64_t partially = 0;
  };
  struct Method {
    std::string assembly;
    std::string type;
    std::string name;
    std::string signature;
    std::string file;
    uint64_t id = 0;
    uint64_t statements = 0;  // according to the method's own event
    uint64_t reported = 0;    // statement events
    uint64_t covered = 0;     // those with a count that is not 0
  };

  void on(const CoverageEvent& event) {
    switch (event.kind) {
      case CoverageEvent::Kind::assembly:
      case CoverageEvent::Kind::type: {
        auto& to = event.kind == CoverageEvent::Kind::type ? types_ : assemblies_;
        to.push_back({std::string(event.assembly), std::string(event.name), event.methods,
                      event.fully_covered, event.partially_covered});
        return;
      }
      case CoverageEvent::Kind::method:
        methods_.push_back({std::string(event.assembly), std::string(event.type),
                            std::string(event.name), std::string(event.signature),
                            std::string(event.file), event.method, event.statements, 0, 0});
        return;
      case CoverageEvent::Kind::statement: {
        auto& [reported, covered] = statements_[event.method];
        ++reported;
        if (event.count != 0) ++covered;
        return;
      }
    }
  }
  void append(const CoverageSums& next) {
    const auto add = [](auto& to, const auto& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    add(assemblies_, next.assemblies_);
    add(types_, next.types_);
    add(methods_, next.methods_);
    for (const auto& [method, theirs] : next.statements_) {
      auto& [reported, covered] = statements_[method];
      reported += theirs.first;
      covered += theirs.second;
    }
  }

  [[nodiscard]] const std::vector<Group>& assemblies() const { return assemblies_; }
  [[nodiscard]] const std::vector<Group>& types() const { return types_; }
  [[nodiscard]] std::vector<Method> methods() const {
    std::vector<Method> all = methods_;
    for (Method& method : all) {
      const auto found = statements_.find(method.id);
      if (found != statements_.end()) std::tie(method.reported, method.covered) = found->second;
    }
    return all;
  }

 private:
  std::vector<Group> assemblies_;
  std::vector<Group> types_;
  std::vector<Method> methods_;
  std::map<uint64_t, std::pair<uint64_t, uint64_t>> statements_;  // by method: reported, covered
};

}  // namespace telltale
