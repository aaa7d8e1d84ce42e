#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include "formats/mono/records.h"
#include "model/runtime_events.h"

namespace telltale {

// The meaning of TypeIds, from the metadata of a whole recording. Classes and vtables may be
// defined after their first use, so add everything before looking anything up.
class MonoTypes final : public TypeNames {
 public:
  // Views of the recording's bytes. Later definitions of an address win over earlier ones.
  void add(const mono::Metadata& metadata, uint64_t address_tag);
  // Bits of a TypeId that are its address in the process.
  void set_address_bits(unsigned bits) { address_bits_ = bits; }
  // Adds the contents of `later`, which follows this in the recording.
  void merge(const MonoTypes& later);
  [[nodiscard]] TypeInfo describe(TypeId id) const override;

 private:
  struct Class {
    std::string_view name;
    uint64_t image = 0;
  };
  struct Vtable {
    uint64_t type = 0;
    uint64_t domain = 0;
  };
  unsigned address_bits_ = 64;
  std::map<uint64_t, Class> classes_;
  std::map<uint64_t, Vtable> vtables_;
  std::map<uint64_t, std::string_view> images_;
};

}  // namespace telltale
