#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analysis/paths/program_flow.h"
#include "formats/csi/path_records.h"
#include "import/csi/block_lines.h"

namespace telltale {

// Symbols of a program or shared object, by its symbol tables.
struct ModuleSymbols {
  bool is_complete = false;         // it has a symbol table with all functions
  std::set<std::string> exported;   // functions that others can call by name
  std::set<std::string> functions;  // all that are defined in it
  // Symbols that are at one address, a list for each such address. A name can be there twice.
  std::vector<std::vector<std::string>> at_one_address;
};

// A function of a program, with all of its copies and variants, which have the same blocks.
struct FlowFunction {
  std::string symbol;  // without the variant
  std::string source;  // symbol of the function of the source that it is of; often the same
  std::string file;
  std::string module;
  uint32_t line = 0;
  std::vector<const csi::FlowRecord*> copies;
  // Other functions at its address, as linkers put identical code (--icf=all): what is known of the
  // address may be of any of them.
  std::set<uint32_t> folded_with;
  // Of the first of them: where its lines belong. By the number of a scope, the source function
  // (FlowFunctions::source), and whether that was inlined; of scopes with one number, the first.
  struct Owner {
    uint32_t source = 0;
    bool is_inlined = false;
    uint32_t line = 0;  // of the declaration; 0: unknown
  };
  std::map<uint32_t, Owner> owners = {};
  // Of the first of them: its lines in their order, and lines_of() it with indices of these.
  std::vector<SourceLine> all_lines = {};
  std::vector<std::vector<LineHere>> lines = {};
  std::vector<std::vector<LineHere>> lost_lines = {};
};

// The symbol of the function of the source that the record's function is of: compilers make copies
// with symbols of their own, and variants.
std::string source_of(const csi::FlowRecord& record);

// Whether a scope of the record is the function itself, and not one that was inlined into it.
bool is_own(const csi::PathScope& scope, const FlowFunction& function,
            const csi::FlowRecord& record);

// The functions of all modules, by the flow records in them, and which calls which.
class FlowFunctions {
 public:
  // The records must live as long as this.
  void add_module(const std::string& module, const std::vector<csi::FlowRecord>& flows,
                  const std::vector<csi::UnitRecord>& units, const ModuleSymbols& symbols);

  [[nodiscard]] const std::vector<FlowFunction>& functions() const { return functions_; }
  // The flow of these functions, by the same index.
  [[nodiscard]] const ProgramFlow& flow() const { return flow_; }
  // Functions of a module with this symbol, of a variant or not.
  [[nodiscard]] std::vector<uint32_t> find(const std::string& module,
                                           std::string_view symbol) const;
  // Whether such a function is at the address of another one.
  [[nodiscard]] bool is_folded(const std::string& module, std::string_view symbol) const;
  // The only function that the flags of the record can be of.
  [[nodiscard]] std::optional<uint32_t> flagged_by(const std::string& module,
                                                   const csi::CoverageRecord& record) const;
  // The first with this symbol, which has no name of a variant; null: none.
  [[nodiscard]] const FlowFunction* named(const std::string& module,
                                          const std::string& symbol) const;
  // The functions of the source that lines and units are of: each has a number below this one.
  [[nodiscard]] size_t source_count() const { return sources_.size(); }
  // By module, symbol and file: their numbers.
  using SourceKey = std::tuple<std::string, std::string, std::string>;
  using SourceNumbers = std::map<SourceKey, uint32_t, std::less<>>;
  [[nodiscard]] const SourceNumbers& sources() const { return sources_; }
  // Whether calls are left by returning only (ProgramEvidence), as far as the code tells.
  [[nodiscard]] bool calls_return() const;

 private:
  struct HashText {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using Symbols = std::unordered_map<std::string, std::vector<uint32_t>, HashText, std::equal_to<>>;

  uint32_t add(const std::string& module, const csi::FlowRecord& record);
  void find_folded(const std::string& module, const ModuleSymbols& symbols);
  void add_owners(FlowFunction& function);
  uint32_t add_source(const std::string& module, const std::string& symbol,
                      const std::string& file);
  void resolve(uint32_t function, const std::string& module, const ModuleSymbols& symbols);
  // Those of `candidates` that the units name; not one of several with the same name and unit.
  [[nodiscard]] std::vector<uint32_t> constructors(const std::set<uint32_t>& candidates,
                                                   const std::vector<csi::UnitRecord>& units) const;
  [[nodiscard]] std::vector<uint32_t> callees_of(const csi::FlowRecord& caller,
                                                 const std::string& callee,
                                                 const Symbols& of_module) const;

  std::vector<FlowFunction> functions_;
  ProgramFlow flow_;
  SourceNumbers sources_;
  std::map<std::string, Symbols> by_symbol_;  // by module
};

}  // namespace telltale
