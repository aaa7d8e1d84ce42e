#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "collect/log/stored_report.h"

namespace telltale::collect {

// The first 16 bytes of the SHA-256 of a report's application and id, and the first 8 of its
// content's.
struct ReportKey {
  std::array<uint64_t, 2> name{};  // of application and id
  uint64_t content = 0;
};
ReportKey key_of(const StoredReport& report);

// The reports that a store has or had: 24 bytes each. Not thread-safe.
class StoredIds {
 public:
  // The content of the report with this name; none: there is none.
  [[nodiscard]] std::optional<uint64_t> find(const ReportKey& key) const;
  // The first content of a name stays.
  void add(const ReportKey& key);
  void add(std::span<const ReportKey> keys);
  // Makes the table of recent reports part of the compact one, if it has grown large.
  void settle();
  [[nodiscard]] size_t size() const { return compact_.size() + recent_.size(); }

 private:
  using Name = std::array<uint64_t, 2>;
  struct Hash {
    size_t operator()(const Name& name) const { return static_cast<size_t>(name[0] ^ name[1]); }
  };
  std::vector<ReportKey> compact_;  // by name
  std::unordered_map<Name, uint64_t, Hash> recent_;
};

// A file of keys (docs/formats/store.md, "ids"). Writing replaces the file at once, and it is on
// the disk afterwards. Errors: io; for reading also those of a damaged file.
Result<void> write_ids(const std::string& path, std::span<const ReportKey> keys);
Result<std::vector<ReportKey>> read_ids(const std::string& path);

}  // namespace telltale::collect
