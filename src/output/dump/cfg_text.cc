#include "output/dump/cfg_text.h"

#include <fmt/format.h>

#include <iterator>

#include "base/append_format.h"
#include "base/joined.h"
#include "output/escape.h"

namespace telltale::sampler {
namespace {

template <typename... Values>
void append(std::string& out, fmt::format_string<Values...> format, Values&&... values) {
  append_format(out, format, std::forward<Values>(values)...);
}

std::string dot_quoted(std::string_view text) {
  std::string out;
  append_dot(out, text);
  return out;
}

}  // namespace

void GraphProgram::add(const CfgInfo& graphs, std::string name) {
  Object& object = objects_.emplace_back();
  object.name = std::move(name);
  for (const CfgUnit& unit : graphs.units()) {
    Unit& kept = object.units.emplace_back();
    kept.graphs = &graphs;
    kept.unit = &unit;
    for (const CfgFunction& function : graphs.functions(unit)) {
      const bool is_new = kept.functions.try_emplace(function.name, &function).second;
      if (is_new && !function.is_static)
        exports_[function.name].emplace_back(objects_.size() - 1, object.units.size() - 1);
    }
  }
}

std::vector<std::string> GraphProgram::duplicate_exports() const {
  std::vector<std::string> lines;
  for (const auto& [name, places] : exports_) {
    if (places.size() < 2) continue;
    const auto& [first, first_unit] = places[0];
    const auto& [other, other_unit] = places[1];
    lines.push_back(
        fmt::format("function {} is exported by {} ({}) and {} ({})", name,
                    objects_[first].units[first_unit].unit->source, objects_[first].name,
                    objects_[other].units[other_unit].unit->source, objects_[other].name));
  }
  return lines;
}

GraphProgram::Place GraphProgram::resolve(const Unit& unit, std::string_view callee) const {
  const auto own = unit.functions.find(callee);
  if (own != unit.functions.end()) return {&unit, own->second};
  const auto exported = exports_.find(callee);
  if (exported == exports_.end()) return {};
  const auto& [object, number] = exported->second.front();
  const Unit& other = objects_[object].units[number];
  return {&other, other.functions.at(callee)};
}

void GraphProgram::dump_node(const Unit& unit, const CfgNode& node, size_t number,
                             std::string& out) const {
  append(out, "\t\t\tnode {} at {}:{}\n", number, visible(node.file), node.line);
  if (node.successor_count != 0)
    append(out, "\t\t\t\tsuccessors: {}\n", joined(unit.graphs->successors(node), " "));
  if (node.callee_count == 0 && !node.unknown_callees) return;
  out += "\t\t\t\tcallees:";
  for (const std::string_view callee : unit.graphs->callees(node)) {
    const bool known = resolve(unit, callee).second != nullptr;
    out += known ? " " + visible(callee) : " (" + visible(callee) + ")";
  }
  out += node.unknown_callees ? " ???\n" : "\n";
}

Result<void> GraphProgram::write_dump(const ByteSink& sink) const {
  BlockWriter out(sink);
  for (size_t number = 0; number < objects_.size(); ++number) {
    append(out.block(), "object {}\n", number);
    for (const Unit& unit : objects_[number].units) {
      append(out.block(), "\tunit {}\n", visible(unit.unit->source));
      for (const auto& [name, function] : unit.functions) {
        append(out.block(), "\t\tfunction {} at {}:{}\n", visible(name), visible(function->file),
               function->line);
        size_t node = 0;
        for (const CfgNode& one : unit.graphs->nodes(*function)) {
          dump_node(unit, one, node++, out.block());
          out.flush_if_full();
        }
      }
    }
  }
  return out.finish();
}

template <typename Use>
void GraphProgram::for_each_function(Use use) const {
  for (const Object& object : objects_) {
    for (const Unit& unit : object.units) {
      for (const auto& [name, function] : unit.functions) use(unit, *function);
    }
  }
}

Result<void> GraphProgram::write_dot(const ByteSink& sink) const {
  BlockWriter out(sink);
  out.write("digraph program {\n  node [shape=box];\n");
  size_t cluster = 0;
  for_each_function([&](const Unit& unit, const CfgFunction& function) {
    append(out.block(), "  subgraph cluster_{} {{\n    label={};\n", cluster,
           dot_quoted(function.name));
    size_t number = 0;
    for (const CfgNode& node : unit.graphs->nodes(function)) {
      append(out.block(), "    n{}_{} [label={}];\n", cluster, number,
             dot_quoted(fmt::format("{}\n{}:{}", number, node.file, node.line)));
      for (const uint32_t successor : unit.graphs->successors(node)) {
        if (successor < function.node_count)
          append(out.block(), "    n{}_{} -> n{}_{};\n", cluster, number, cluster, successor);
      }
      ++number;
      out.flush_if_full();
    }
    out.write("  }\n");
    ++cluster;
  });
  out.write("}\n");
  return out.finish();
}

Result<void> GraphProgram::write_calls(const ByteSink& sink) const {
  std::map<const CfgFunction*, size_t> numbers;
  for_each_function([&](const Unit&, const CfgFunction& function) {
    numbers.emplace(&function, numbers.size());
  });
  BlockWriter out(sink);
  out.write("digraph calls {\n  node [shape=box];\n");
  std::map<std::string_view, size_t> outside;
  for_each_function([&](const Unit& unit, const CfgFunction& function) {
    const size_t caller = numbers.at(&function);
    append(out.block(), "  f{} [label={}];\n", caller, dot_quoted(function.name));
    std::set<std::pair<bool, size_t>> written;
    for (const CfgNode& node : unit.graphs->nodes(function)) {
      for (const std::string_view callee : unit.graphs->callees(node)) {
        const CfgFunction* target = resolve(unit, callee).second;
        const bool known = target != nullptr;
        const size_t number =
            known ? numbers.at(target) : outside.try_emplace(callee, outside.size()).first->second;
        if (!written.emplace(known, number).second) continue;
        append(out.block(), "  f{} -> {}{};\n", caller, known ? 'f' : 'x', number);
      }
    }
    out.flush_if_full();
  });
  for (const auto& [name, number] : outside) {
    append(out.block(), "  x{} [label={}, style=dashed];\n", number, dot_quoted(name));
    out.flush_if_full();
  }
  out.write("}\n");
  return out.finish();
}

}  // namespace telltale::sampler
