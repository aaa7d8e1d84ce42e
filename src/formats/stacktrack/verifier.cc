#include "formats/stacktrack/verifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "formats/stacktrack/info_assembler.h"
#include "formats/stacktrack/reader.h"
#include "formats/stacktrack/ring_filter.h"

namespace telltale::stacktrack {
namespace {

using Kind = Violation::Kind;

class Verifier {
 public:
  Verifier(const StreamFormat& format, const std::function<bool(const Record&)>& chosen)
      : description_(format.description), chosen_(chosen) {
    // Context can be anywhere in the wide layout; in others it is posted first.
    context_is_anywhere_ = description_.has(RecordKind::stream);
  }

  void record(const Record& record) {
    const bool chosen = !chosen_ || chosen_(record);
    if (chosen) {
      ++verdict_.records;
    } else {
      dropped_.insert(record.offset());
    }
    if (!ring_.keeps(record)) return;
    check_prologue(record);
    check_flags(record);
    check_sequence(record);
    check_context(record);
    texts_.feed(
        record,
        [this](const Record& head, std::string_view, InfoAssembler::Ending ending, bool) {
          if (ending == InfoAssembler::Ending::cut)
            violate(Kind::unfinished_info, head, "the end of its text is missing");
        },
        [this](const Record& orphan) {
          violate(Kind::orphan_info, orphan, "its record is not in the stream");
        });
  }

  void skipped(const SkippedBytes& skipped) {
    if (!is_damage(skipped.reason)) return;
    const Problem problem = problem_of(skipped, {});
    add(skipped.reason == SkippedBytes::Reason::damage ? Kind::unreadable_record : Kind::cut_record,
        skipped.offset, "record", problem.message);
  }

  Verdict finish() {
    texts_.finish([this](const Record& head, std::string_view, InfoAssembler::Ending, bool) {
      violate(Kind::unfinished_info, head, "the end of its text is missing");
    });
    for (const Wanted& wanted : wanted_) {
      const auto known = known_.find(wanted.key);
      if (known == known_.end() ||
          (!context_is_anywhere_ && known->second > wanted.record.sequence()))
        missing(wanted.record, wanted.key);
    }
    return std::move(verdict_);
  }

 private:
  // A scope index or a file number of a process.
  struct Key {
    bool file = false;
    uint64_t pid = 0;
    uint64_t number = 0;
    auto operator<=>(const Key&) const = default;
  };
  struct Wanted {
    Key key;
    Record record;
  };

  void add(Kind kind, uint64_t offset, std::string record, std::string message) {
    ++verdict_.counts[static_cast<size_t>(kind)];
    if (!verdict_.first || offset < verdict_.first->offset)
      verdict_.first = Violation{kind, offset, std::move(record), std::move(message)};
  }
  void violate(Kind kind, const Record& record, std::string message) {
    if (chosen_ && !chosen_again(record)) return;
    add(kind, record.offset(), record.type() == nullptr ? "record" : record.type()->tag,
        std::move(message));
  }
  // A selector sees each record once and in order; its decisions about late ones are remembered.
  [[nodiscard]] bool chosen_again(const Record& record) const {
    return !dropped_.contains(record.offset());
  }

  void check_prologue(const Record& record) {
    if (!begun_ && !record.is(RecordKind::stream)) {
      begun_ = true;
      if (!record.is(RecordKind::prologue))
        violate(Kind::no_prologue, record, "the stream does not begin with PROLOGUE");
    }
    if (!record.is(RecordKind::prologue)) return;
    if (record.number(RecordKind::prologue, Role::magic) != description_.magic ||
        record.number(RecordKind::prologue, Role::version) != description_.version)
      violate(Kind::wrong_prologue, record, "another magic number or version than the layout's");
  }

  void check_flags(const Record& record) {
    const uint32_t bits = record.flags() & ~uint32_t{0xff};
    if ((bits & ~description_.compiled.known_flags) != 0) {
      violate(Kind::unknown_flags, record,
              fmt::format("flags {:#06x} have bits without a name", record.flags()));
    }
    const bool info = record.is(RecordKind::info);
    if ((info && record.has_info()) || (!info && record.info_end()) ||
        (record.is_exit() && !record.is(RecordKind::hit)))
      violate(Kind::wrong_flags, record,
              fmt::format("flags {:#06x} are not valid for this record", record.flags()));
  }

  void check_sequence(const Record& record) {
    const auto kind = record.kind();
    if (!kind) return;
    const bool zero = *kind == RecordKind::prologue || *kind == RecordKind::time_type ||
                      *kind == RecordKind::time_info || *kind == RecordKind::stream ||
                      *kind == RecordKind::lost;
    if (zero && record.sequence() != 0) {
      violate(Kind::wrong_sequence, record, "its sequence number is not 0");
    } else if (record.sequence() == 0 &&
               (*kind == RecordKind::hit || *kind == RecordKind::source_location ||
                *kind == RecordKind::file_location || *kind == RecordKind::file_property)) {
      violate(Kind::wrong_sequence, record, "its sequence number is 0");
    }
  }

  void check_context(const Record& record) {
    if (record.is(RecordKind::hit)) {
      want(record, {false, record.pid(), record.number(RecordKind::hit, Role::scope_index)});
    } else if (record.is(RecordKind::source_location)) {
      know(record,
           {false, record.pid(), record.number(RecordKind::source_location, Role::scope_index)});
      const uint64_t file = record.number(RecordKind::source_location, Role::file_number);
      if (file != 0) want(record, {true, record.pid(), file});
    } else if (record.is(RecordKind::file_location)) {
      know(record,
           {true, record.pid(), record.number(RecordKind::file_location, Role::file_number)});
    } else if (record.is(RecordKind::file_property)) {
      want(record,
           {true, record.pid(), record.number(RecordKind::file_property, Role::file_number)});
    }
  }

  void know(const Record& record, const Key& key) {
    const auto [known, is_new] = known_.try_emplace(key, record.sequence());
    if (!is_new) known->second = std::min(known->second, record.sequence());
  }
  // A file that its recorder did not close is not in the order of sequence numbers.
  void want(const Record& record, const Key& key) {
    if (known_.contains(key)) return;
    // Anywhere, the first of each is enough.
    if (!context_is_anywhere_ || wanted_keys_.insert(key).second) wanted_.push_back({key, record});
  }
  void missing(const Record& record, const Key& key) {
    violate(key.file ? Kind::missing_file : Kind::missing_scope, record,
            fmt::format("no {} defines {} {} of process {}", key.file ? "FLOC" : "SLOC",
                        key.file ? "file" : "scope", key.number, key.pid));
  }

  const FormatDescription& description_;
  const std::function<bool(const Record&)>& chosen_;
  bool context_is_anywhere_ = false;
  bool begun_ = false;
  RingFilter ring_;
  InfoAssembler texts_;
  std::map<Key, uint64_t> known_;  // the lowest sequence number of what defines it
  std::set<Key> wanted_keys_;
  std::vector<Wanted> wanted_;
  std::set<uint64_t> dropped_;  // offsets of records that were not selected
  Verdict verdict_;
};

}  // namespace

std::string_view to_string(Kind kind) {
  static constexpr std::array<std::string_view, Violation::kKinds> kNames = {
      "cut_record",      "unreadable_record", "unknown_flags",  "wrong_flags",
      "wrong_sequence",  "no_prologue",       "wrong_prologue", "orphan_info",
      "unfinished_info", "missing_scope",     "missing_file"};
  return kNames[static_cast<size_t>(kind)];
}

std::string to_string(const Violation& violation) {
  return fmt::format("{} at byte {}: {}", violation.record, violation.offset, violation.message);
}

Verdict verify_stream(Bytes file, const StreamFormat& format,
                      const std::function<bool(const Record&)>& chosen) {
  Verifier verifier(format, chosen);
  walk_stream(file, format, verifier);
  return verifier.finish();
}

}  // namespace telltale::stacktrack
