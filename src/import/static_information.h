#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace telltale {

class SamplerSites;

// The control flow graph of a function, as its build describes it.
struct FunctionGraph {
  std::string name;          // demangled
  std::string linkage_name;  // of the symbol table
  uint64_t blocks = 0;
  uint64_t edges = 0;
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
