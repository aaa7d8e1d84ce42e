#include "codegen/cfg_writer.h"

#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Path.h>

#include <algorithm>
#include <map>
#include <vector>

#include "analysis/indirect_call_targets.h"
#include "analysis/ir_marks.h"

namespace telltale::instrument {
namespace {

struct Node {
  const Site* site = nullptr;
  const llvm::Instruction* at = nullptr;
  std::vector<int> successors;
  std::vector<std::string> callees;
};

std::string display_name(const llvm::Function& function, const TranslationUnit& unit) {
  if (const Function* const known = function_of(function, unit); known != nullptr)
    return known->name;
  std::string symbol = function.getName().str();
  llvm::ItaniumPartialDemangler demangler;
  if (demangler.partialDemangle(symbol.c_str())) return symbol;
  char* const text = demangler.getFunctionName(nullptr, nullptr);
  if (text == nullptr) return symbol;
  std::string name = text;
  std::free(text);
  return name;
}

std::vector<std::string> callee_names(const llvm::CallBase& call, const TranslationUnit& unit) {
  const auto* const callee =
      llvm::dyn_cast<llvm::Function>(call.getCalledOperand()->stripPointerCasts());
  if (callee != nullptr) return {display_name(*callee, unit)};
  std::vector<std::string> names;
  if (const std::optional<CallTargets> known =
          unit.options.use_points_to ? find_call_targets(call, unit) : std::nullopt) {
    for (const llvm::Function* const one : *known) names.push_back(display_name(*one, unit));
  }
  // A pointer that is always null has no targets either.
  return names.empty() ? std::vector<std::string>{"???"} : names;
}

class CfgWriter {
 public:
  CfgWriter(const llvm::Function& function, int known, TranslationUnit& unit)
      : known_(known), unit_(unit) {
    for (const llvm::BasicBlock& block : function) add_nodes(block);
    for (const llvm::BasicBlock& block : function) add_edges(block);
  }

  void print(std::string& out) const {
    const Function& known = unit_.functions[static_cast<std::size_t>(known_)];
    out += std::string(known.is_static ? "-" : "+") + "\t" + known.name + "\t" + known.file + "\t" +
           std::to_string(known.line) + "\n";
    for (const Node& node : nodes_) print(node, known, out);
    out += "\n";
  }

 private:
  int add(const Node& node) {
    nodes_.push_back(node);
    return static_cast<int>(nodes_.size()) - 1;
  }

  void add_sites(const llvm::Instruction& instruction, const Mark& mark) {
    std::vector<unsigned> sites = mark.sites;
    sites.insert(sites.end(), mark.uncounted_sites.begin(), mark.uncounted_sites.end());
    for (const unsigned number : sites) {
      Site& site = unit_.sites[number];
      // A function's entry is its first node.
      const bool is_entry =
          site.scheme == Scheme::kFunctionEntries || site.scheme == Scheme::kFunReentries;
      const int node = is_entry ? 0 : add({&site, &instruction, {}, {}});
      if (site.cfg_node >= 0) continue;
      site.cfg_node = node;
      // The site may be in an OpenMP region that clang did not outline, or shared by several
      // functions.
      site.function = known_;
    }
  }

  void add_nodes(const llvm::BasicBlock& block) {
    const int first = add({nullptr, &*block.getFirstNonPHIIt(), {}, {}});
    first_[&block] = first;
    for (const llvm::Instruction& instruction : block) {
      if (const Mark* const mark = mark_of(instruction, unit_); mark != nullptr) {
        add_sites(instruction, *mark);
      } else if (const auto* const call = llvm::dyn_cast<llvm::CallBase>(&instruction);
                 call != nullptr && !llvm::isa<llvm::IntrinsicInst>(call) && !call->isInlineAsm()) {
        Node node{nullptr, call, {}, callee_names(*call, unit_)};
        header_blocks_[add(node)] = call->doesNotReturn();
      }
    }
    last_[&block] = static_cast<int>(nodes_.size()) - 1;
  }

  void add_edges(const llvm::BasicBlock& block) {
    const int last = last_[&block];
    for (int i = first_[&block]; i < last; ++i) {
      if (!header_blocks_[i]) nodes_[static_cast<std::size_t>(i)].successors.push_back(i + 1);
    }
    if (header_blocks_[last]) return;
    std::vector<int>& next = nodes_[static_cast<std::size_t>(last)].successors;
    for (const llvm::BasicBlock* const successor : llvm::successors(&block))
      next.push_back(first_[successor]);
    std::sort(next.rbegin(), next.rend());
    next.erase(std::unique(next.begin(), next.end()), next.end());
  }

  void print(const Node& node, const Function& known, std::string& out) const {
    std::string file = "(unknown)";
    unsigned line = 0;
    if (node.site != nullptr) {
      file = node.site->file;
      line = node.site->line;
    } else if (&node == nodes_.data()) {
      file = known.file;
      line = known.line;
    } else if (const llvm::DILocation* const location =
                   node.at == nullptr ? nullptr : node.at->getDebugLoc().get();
               location != nullptr && location->getLine() != 0) {
      llvm::SmallString<256> path(location->getFilename());
      if (!unit_.options.relative_paths && llvm::sys::path::is_relative(path)) {
        path = location->getDirectory();
        llvm::sys::path::append(path, location->getFilename());
        llvm::sys::path::remove_dots(path, /*remove_dot_dot=*/false);
      }
      file = std::string(path);
      line = location->getLine();
    }
    out += file + "\t" + std::to_string(line) + "\n";
    for (const int successor : node.successors) out += std::to_string(successor) + "\t";
    out += "\n";
    for (const std::string& callee : node.callees) out += callee == "???" ? callee : callee + "\t";
    out += "\n";
  }

  int known_;
  TranslationUnit& unit_;
  std::vector<Node> nodes_;
  std::map<const llvm::BasicBlock*, int> first_;
  std::map<const llvm::BasicBlock*, int> last_;
  std::map<int, bool> header_blocks_;
};

}  // namespace

std::string assign_cfg_nodes(llvm::Module& module, TranslationUnit& unit) {
  std::string out = "*\t0.1\n" + unit.source + "\n" + signature_hex(unit) + "\n";
  for (const llvm::Function& function : module) {
    if (const int index = function_index(function, unit); index >= 0)
      CfgWriter(function, index, unit).print(out);
  }
  return out + "\n";
}

}  // namespace telltale::instrument
