#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "bytes/block_writer.h"
#include "formats/sampler/cfg.h"

namespace telltale::sampler {

// Control flow graphs of several objects (files), with callees resolved: to a function of the same
// unit, else to one that any unit exports.
class GraphProgram {
 public:
  // `graphs` must outlive this. `name`: the object's, for messages.
  void add(const CfgInfo& graphs, std::string name);

  // Functions that several units export, one per line, as text.
  [[nodiscard]] std::vector<std::string> duplicate_exports() const;

  // The text that docs/formats/sampler.md, "resolve-cfg", describes. Errors: the sink's.
  [[nodiscard]] Result<void> write_dump(const ByteSink& sink) const;
  // Graphviz: one cluster per function, one node per statement.
  [[nodiscard]] Result<void> write_dot(const ByteSink& sink) const;
  // Graphviz: one node per function, one edge per callee.
  [[nodiscard]] Result<void> write_calls(const ByteSink& sink) const;

 private:
  struct Unit {
    const CfgInfo* graphs = nullptr;
    const CfgUnit* unit = nullptr;
    std::map<std::string_view, const CfgFunction*> functions;
  };
  struct Object {
    std::string name;
    std::vector<Unit> units;
  };
  // A function and its unit: (object, unit, name). None: undefined.
  using Place = std::pair<const Unit*, const CfgFunction*>;
  [[nodiscard]] Place resolve(const Unit& unit, std::string_view callee) const;
  void dump_node(const Unit& unit, const CfgNode& node, size_t number, std::string& out) const;
  template <typename Use>
  void for_each_function(Use use) const;  // use(object number, unit, function)

  std::vector<Object> objects_;
  std::map<std::string_view, std::vector<std::pair<size_t, size_t>>> exports_;  // (object, unit)
};

}  // namespace telltale::sampler
