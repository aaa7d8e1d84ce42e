// Which memory instructions access, for the records of data flow (docs/formats/csi.md, "Data").
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/csi/wire.h"

namespace telltale::instrument {

// Bytes of an object; without a range, some that are not known.
struct MemoryPart {
  std::uint32_t object = 0;  // number among DataObjects
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t size = 0;
  };
  std::optional<Range> range;
  bool is_whole = false;  // all bytes of the object
};

// The objects that a function accesses. Number 0 is memory that is reached through pointers of
// which nothing is known: all heap memory, and every shared object.
class DataObjects {
 public:
  explicit DataObjects(const llvm::Function& function);

  // What an access of `size` bytes (none: not known) at `pointer` may touch. Nothing for constants,
  // which no code writes.
  std::optional<MemoryPart> part(const llvm::Value& pointer, std::optional<std::uint64_t> size);

  // The variable that is kept in a local object; empty: unknown.
  [[nodiscard]] llvm::StringRef name_of(const llvm::Value& local) const;

  struct Object {
    csi::Storage storage = csi::Storage::kMemory;
    std::string name;
  };
  [[nodiscard]] const std::vector<Object>& all() const { return objects_; }

 private:
  std::uint32_t number_of(const llvm::Value& base);

  const llvm::DataLayout& layout_;
  llvm::DenseMap<const llvm::Value*, std::string> names_;  // of allocas
  std::vector<Object> objects_;
  llvm::DenseMap<const llvm::Value*, std::uint32_t> numbers_;
};

// Whether all accesses of a variable are by its name: loads, stores and copies of it or of its
// parts. Otherwise pointers may lead to it.
bool is_accessed_by_name_only(const llvm::Value& variable);

}  // namespace telltale::instrument
