#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "formats/stacktrack/records.h"

namespace telltale::stacktrack {

// Identifies the record that INFO records belong to.
struct InfoKey {
  uint64_t pid = 0;
  uint64_t stream = 0;
  uint64_t sequence = 0;
  bool operator==(const InfoKey&) const = default;
};
inline InfoKey info_key(const Record& record) {
  return {record.pid(), record.stream(), record.sequence()};
}

// Assembles the text of INFO records, which may be interleaved with others. Calls whole(const
// Record& head, std::string_view text, Ending, bool adjoining) for every record except INFO: for
// one without HAS_INFO at once, otherwise at the end of its text. `adjoining`: the record and its
// INFO records are adjacent. Texts are held until they end, so memory is at most that of the
// stream's own INFO bytes.
class InfoAssembler {
 public:
  enum class Ending : uint8_t {
    no_text,  // the record has no text
    whole,
    cut,  // another record with the same key, or the stream's end, came before INFO_END
  };

  // `orphan(const Record&)`: an INFO record that belongs to no earlier record.
  template <typename Whole, typename Orphan>
  void feed(const Record& record, Whole&& whole, Orphan&& orphan) {
    const uint64_t next = record.offset() + record.raw().size();
    if (!record.is(RecordKind::info)) {
      if (!record.has_info()) {
        whole(record, std::string_view(), Ending::no_text, true);
        return;
      }
      const InfoKey key = info_key(record);
      const auto [found, fresh] = pending_.try_emplace(key, Pending{record, {}, next, true});
      if (fresh) return;
      whole(found->second.head, found->second.text, Ending::cut, found->second.adjoining);
      found->second = Pending{record, {}, next, true};
      return;
    }
    const auto found = pending_.find(info_key(record));
    if (found == pending_.end()) {
      orphan(record);
      return;
    }
    Pending& pending = found->second;
    pending.text += record.text();
    pending.adjoining = pending.adjoining && pending.next == record.offset();
    pending.next = next;
    if (!record.info_end()) return;
    whole(pending.head, pending.text, Ending::whole, pending.adjoining);
    pending_.erase(found);
  }
  // Call once, last. In no particular order.
  template <typename Whole>
  void finish(Whole&& whole) {
    for (const auto& [key, pending] : pending_)
      whole(pending.head, pending.text, Ending::cut, pending.adjoining);
    pending_.clear();
  }

 private:
  struct Pending {
    Record head;
    std::string text;
    uint64_t next = 0;  // the place of the next INFO record if they are adjacent
    bool adjoining = true;
  };
  struct Hash {
    size_t operator()(const InfoKey& key) const {
      uint64_t mixed = key.sequence * 0x9E3779B97F4A7C15U;
      mixed ^= (key.pid + 0x7F4A7C15U) * 0xC2B2AE3D27D4EB4FU;
      mixed ^= (key.stream + 1) * 0x165667B19E3779F9U;
      return static_cast<size_t>(mixed ^ (mixed >> 29));
    }
  };
  std::unordered_map<InfoKey, Pending, Hash> pending_;
};

}  // namespace telltale::stacktrack
