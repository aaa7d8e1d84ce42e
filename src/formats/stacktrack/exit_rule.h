#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "formats/stacktrack/records.h"
#include "formats/stacktrack/wire.h"

namespace telltale::stacktrack {

// Decides which HITs are exits. Telltale's own streams mark them (IS_EXIT). The specification has
// no such mark, but says that records carry the sequence count at the time their checkpoint was
// entered: a second HIT of a thread at one scope with the same sequence number is therefore that
// scope's exit. Feed it every record of a stream, in file order. Memory: 40 bytes for each scope
// that is open or has an unknown style, until the first marked exit.
class ExitRule {
 public:
  // True if the record is a HIT, and an exit.
  bool is_exit(const Record& record) {
    if (record.is(RecordKind::source_location)) {
      styles_[{record.pid(), record.number(RecordKind::source_location, Role::scope_index)}] =
          static_cast<Style>(record.number(RecordKind::source_location, Role::style));
      return false;
    }
    if (!record.is(RecordKind::hit)) return false;
    if (record.is_exit() && !marked_) {
      marked_ = true;
      open_.clear();
    }
    if (marked_ || record.description().has(RecordKind::stream)) return record.is_exit();
    const uint64_t scope = record.number(RecordKind::hit, Role::scope_index);
    const auto style = styles_.find({record.pid(), scope});
    if (style != styles_.end() && (style->second == Style::step || style->second == Style::value))
      return false;
    const Entry entry{record.pid(), record.number(RecordKind::hit, Role::thread_id), scope,
                      record.sequence()};
    if (open_.insert(entry).second) return false;
    open_.erase(entry);
    by_sequence_ = true;
    return true;
  }

  // Exits are marked: the stream is telltale's, whose exits are checkpoints of their own.
  [[nodiscard]] bool marked() const { return marked_; }
  // An exit was identified by its sequence number.
  [[nodiscard]] bool by_sequence() const { return by_sequence_; }

 private:
  struct Scope {
    uint64_t pid = 0;
    uint64_t index = 0;
    bool operator==(const Scope&) const = default;
  };
  struct Entry {
    uint64_t pid = 0;
    uint64_t tid = 0;
    uint64_t scope = 0;
    uint64_t sequence = 0;
    bool operator==(const Entry&) const = default;
  };
  struct Hash {
    static uint64_t mix(uint64_t a, uint64_t b) {
      a = (a ^ (b + 0x7F4A7C15U)) * 0x9E3779B97F4A7C15U;
      return a ^ (a >> 29);
    }
    size_t operator()(const Scope& scope) const { return mix(mix(1, scope.pid), scope.index); }
    size_t operator()(const Entry& entry) const {
      return mix(mix(mix(mix(1, entry.pid), entry.tid), entry.scope), entry.sequence);
    }
  };

  std::unordered_map<Scope, Style, Hash> styles_;
  std::unordered_set<Entry, Hash> open_;
  bool marked_ = false;
  bool by_sequence_ = false;
};

}  // namespace telltale::stacktrack
