#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace telltale {

class SamplerSites;

// The control flow graph of a function, as its build describes it.
struct FunctionGraph {
  std::string name;          // demangled; of a copy: that of the function of the source
  std::string linkage_name;  // of the symbol table
  std::string copy_of;       // linkage name of the function of the source; empty: it is no copy
  uint64_t blocks = 0;
  uint64_t edges = 0;
};

// What one mechanism of coverage observes of a function.
struct CoverageSites {
  std::string name;          // as above
  std::string linkage_name;  // as above
  std::string copy_of;       // as above
  std::string mechanism;     // FC, CC or BBC
  std::string file;          // empty: unknown
  uint32_t line = 0;         // of the declaration; 0: unknown
  uint64_t blocks = 0;
  uint64_t calls = 0;   // listed by CC alone
  uint64_t probes = 0;  // flags; what has none follows from those of others
};

// The capability "static information": what files say of a program without any run. Each kind is
// absent if the files have none of it.
class StaticInformation {
 public:
  StaticInformation() = default;
  StaticInformation(const StaticInformation&) = delete;
  StaticInformation& operator=(const StaticInformation&) = delete;
  virtual ~StaticInformation() = default;

  // Null: none.
  [[nodiscard]] virtual std::shared_ptr<const SamplerSites> sites() const { return nullptr; }
  // In file order.
  [[nodiscard]] virtual std::span<const FunctionGraph> graphs() const { return {}; }
};

}  // namespace telltale
