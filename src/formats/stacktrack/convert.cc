#include "formats/stacktrack/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "formats/stacktrack/chunk_writer.h"
#include "formats/stacktrack/exit_rule.h"
#include "formats/stacktrack/info_assembler.h"
#include "formats/stacktrack/reader.h"
#include "formats/stacktrack/ring_filter.h"

namespace telltale::stacktrack {
namespace {

using Reason = ConversionLoss::Reason;
using Key = std::tuple<uint64_t, uint64_t, uint64_t>;  // of a record's INFO, in the source

Key key_of(const Record& record) { return {record.pid(), record.stream(), record.sequence()}; }

// Exits that only their sequence number identifies get numbers of their own after it, in this many
// freed bits.
constexpr unsigned kExitBits = 20;

// What a record becomes besides its fields.
struct Placing {
  uint64_t sequence = 0;
  uint64_t stream = 0;
  bool exit = false;
};

// Encodes records one by one for the target.
class Converter {
 public:
  // `keeps_slots`: every record stays at its place, and chunks with them.
  Converter(const FormatDescription& from, const FormatDescription& to, bool keeps_slots,
            ConversionLoss& loss)
      : from_(from), to_(to), keeps_slots_(keeps_slots), loss_(loss) {}

  // Appends the converted `record`; the placing of INFO's record decides about INFO.
  void convert(const Record& record, const Placing& placing, std::string& out) {
    const auto kind = record.kind();
    if (kind == RecordKind::info) return convert_info(record, out);
    // Newly written chunks have STREAM records of their own.
    if (kind == RecordKind::stream && !keeps_slots_) return;
    const bool representable = !placing.exit || to_.compiled.exit != 0;
    if (!representable) loss_.add(Reason::exit);
    const bool converted =
        representable && kind && to_.has(*kind) && encode(record, *kind, placing, out);
    if (!kind || !to_.has(*kind)) {
      // A count of 0 losses is not a loss.
      if (kind != RecordKind::lost || record.number(*kind, Role::count) != 0)
        loss_.add(Reason::kind);
    }
    if (record.has_info()) texts_[key_of(record)] = Text{converted, placing, {}};
  }

 private:
  // A text in progress: the part that has not filled a record of the target yet.
  struct Text {
    bool kept = false;
    Placing placing;
    std::string rest;
  };

  [[nodiscard]] uint32_t flags_of(const Record& record, bool exit) const {
    const FormatDescription::Compiled& x = from_.compiled;
    const FormatDescription::Compiled& y = to_.compiled;
    uint32_t flags = 0;
    for (const auto& [had, has] : {std::pair{x.has_info, y.has_info},
                                   {x.info_end, y.info_end},
                                   {x.held_time, y.held_time},
                                   {x.chunk_start, y.chunk_start}}) {
      if ((record.flags() & had) != 0) flags |= has;
    }
    return exit ? flags | y.exit : flags;
  }

  bool encode(const Record& record, RecordKind kind, const Placing& placing, std::string& out) {
    RecordBuilder builder(to_, kind);
    builder.flags(flags_of(record, placing.exit)).pid(record.pid());
    builder.sequence(placing.sequence).stream(placing.stream & 0xffff);
    bool left_out = false;
    for (size_t i = 0; i < kRoles; ++i) {
      const auto role = static_cast<Role>(i);
      const Place& place = from_.place(kind, role);
      if (!place.known()) continue;
      if (place.form == MemberForm::time) {
        builder.time(role, convert_time(record.time(kind, role)));
      } else {
        const uint64_t number = own_number(record, kind, role);
        builder.number(role, number);
        left_out = left_out || (number != 0 && !to_.place(kind, role).known());
      }
    }
    if (!builder.fits()) {
      loss_.add(Reason::number);
      return false;
    }
    if (left_out) loss_.add(Reason::field);
    out += builder.bytes();
    return true;
  }

  // PROLOGUE describes the target.
  [[nodiscard]] uint64_t own_number(const Record& record, RecordKind kind, Role role) const {
    if (kind == RecordKind::prologue) {
      if (role == Role::magic) return to_.magic;
      if (role == Role::version) return to_.version;
      if (role == Role::info_length) return to_.info_bytes() & 0xff;
      if (role == Role::entry_size) return to_.entry_size & 0xff;
      if (role == Role::payload_offset) return to_.payload_offset & 0xff;
      // A stream written anew, record after record, is not a ring any more.
      if (role == Role::ring_bytes && !keeps_slots_) return 0;
    }
    return record.number(kind, role);
  }

  // A floating-point time, and the divisor with it, becomes a billionfold integer.
  [[nodiscard]] RawTime convert_time(RawTime time) const {
    if (from_.time_form == to_.time_form) return time;
    if (const auto ticks = to_ticks(time, from_)) return from_ticks(*ticks, to_);
    const double scaled = std::round(to_double(time, from_) * 1e9);
    constexpr double kMost = 1.8e19;
    const uint64_t ticks = scaled > 0 ? static_cast<uint64_t>(std::min(scaled, kMost)) : 0;
    return from_ticks(ticks, to_);
  }

  void convert_info(const Record& record, std::string& out) {
    const auto found = texts_.find(key_of(record));
    if (found == texts_.end()) {
      loss_.add(Reason::damaged_bytes, record.raw().size());
      return;
    }
    Text& text = found->second;
    if (from_.info_bytes() == to_.info_bytes()) {  // records become records
      if (text.kept) put_info(record, text, record.text(), record.info_end(), out);
      if (record.info_end()) texts_.erase(found);
      return;
    }
    text.rest += record.text();
    const size_t room = to_.info_bytes();
    size_t used = 0;
    // Full records are written, but the last record has to be the one that ends the text.
    for (; text.kept && text.rest.size() - used > room; used += room)
      put_info(record, text, text.rest.substr(used, room), false, out);
    text.rest.erase(0, used);
    if (!record.info_end()) return;
    if (text.kept) put_info(record, text, text.rest, true, out);
    texts_.erase(found);
  }
  void put_info(const Record& record, const Text& text, std::string_view piece, bool last,
                std::string& out) {
    RecordBuilder builder(to_, RecordKind::info);
    builder.flags(last ? to_.compiled.info_end : 0).pid(record.pid());
    builder.sequence(text.placing.sequence).stream(text.placing.stream & 0xffff).text(piece);
    out += builder.bytes();
  }

  const FormatDescription& from_;
  const FormatDescription& to_;
  bool keeps_slots_;
  ConversionLoss& loss_;
  std::map<Key, Text> texts_;
};

// Common to all conversions: damage is counted, and unused places are dropped.
class Road {
 public:
  Road(const StreamFormat& from, const FormatDescription& to, const std::string& file_name,
       ConversionLoss& loss, ProblemLog& problems, bool keeps_slots = false)
      : from_(from),
        to_(to),
        file_name_(file_name),
        loss_(loss),
        problems_(problems),
        converter_(from.description, to, keeps_slots, loss) {}
  void skipped(const SkippedBytes& skipped) {
    if (!is_damage(skipped.reason)) return;
    problems_.add(problem_of(skipped, file_name_));
    loss_.add(Reason::damaged_bytes, skipped.bytes.size());
  }

 protected:
  const StreamFormat& from_;
  const FormatDescription& to_;
  const std::string& file_name_;
  ConversionLoss& loss_;
  // A converted record: in chunks, if the target has them.
  void write(std::string_view encoded, uint64_t pid, std::optional<ChunkWriter>& chunks,
             BlockWriter& out) const {
    if (encoded.empty()) return;
    if (!chunks) return out.write(encoded);
    for (size_t at = 0; at < encoded.size(); at += to_.entry_size)
      chunks->add(encoded.substr(at, to_.entry_size), pid, out);
  }

  ProblemLog& problems_;
  Converter converter_;
};

// True for a target in which ExitRule recognises exits by their numbers.
bool tells_exits_by_sequence(const FormatDescription& to) {
  return to.compiled.exit == 0 && !to.has(RecordKind::stream);
}

// Sequence numbers for a target without a mark for exits: an exit has the number of its entry.
class EntryNumbers {
 public:
  // Sets the sequence number of a HIT. False for an exit without an entry.
  bool place(const Record& record, bool exit, Placing& placing) {
    placing.exit = false;
    std::vector<uint64_t>& open =
        open_[{record.pid(), record.number(RecordKind::hit, Role::thread_id),
               record.number(RecordKind::hit, Role::scope_index)}];
    if (!exit) {
      open.push_back(placing.sequence);
      return true;
    }
    if (open.empty()) return false;
    placing.sequence = open.back();
    open.pop_back();
    return true;
  }

 private:
  std::map<std::tuple<uint64_t, uint64_t, uint64_t>, std::vector<uint64_t>> open_;
};

// Record by record, in their order.
class StraightRoad : public Road {
 public:
  StraightRoad(const StreamFormat& from, const FormatDescription& to, const std::string& file_name,
               bool exits_by_sequence, BlockWriter& out, ConversionLoss& loss, ProblemLog& problems)
      : Road(from, to, file_name, loss, problems),
        renumber_(exits_by_sequence && to.has(RecordKind::stream)),
        out_(out) {
    if (to.has(RecordKind::stream)) chunks_.emplace(to);
  }

  void record(const Record& record) {
    const bool exit = exits_.is_exit(record);
    // If order in the file counts, exits keep their order.
    Placing placing{record.sequence(), record.stream(), renumber_ ? exit : record.is_exit()};
    if (renumber_) {
      if ((record.sequence() >> (64 - kExitBits)) != 0) return loss_.add(Reason::number);
      placing.sequence = renumbered(record, exit);
    }
    if (record.is(RecordKind::hit)) {
      if (chunks_) placing.stream = thread_number(record);
      if (tells_exits_by_sequence(to_) && !entries_.place(record, exit, placing))
        return loss_.add(Reason::exit);
    }
    std::string encoded;
    converter_.convert(record, placing, encoded);
    write(encoded, record.pid(), chunks_, out_);
  }
  void finish() {
    if (chunks_) chunks_->finish(out_);
  }

 private:
  uint64_t renumbered(const Record& record, bool exit) {
    const uint64_t sequence = record.sequence();
    if (!exit) {
      if (sequence > latest_) {
        latest_ = sequence;
        exits_since_ = 0;
      }
      return sequence << kExitBits;
    }
    return (latest_ << kExitBits) + ++exits_since_;
  }
  uint64_t thread_number(const Record& record) {
    const auto thread = std::pair(record.pid(), record.number(RecordKind::hit, Role::thread_id));
    return threads_.try_emplace(thread, threads_.size() + 1).first->second;
  }

  bool renumber_;
  BlockWriter& out_;
  ExitRule exits_;
  std::optional<ChunkWriter> chunks_;
  uint64_t latest_ = 0;
  uint64_t exits_since_ = 0;
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> threads_;
  EntryNumbers entries_;
};

// From layouts with STREAM: first records that belong to no checkpoint, then context, then HITs by
// sequence number, numbered anew.
class SortingRoad : public Road {
 public:
  using Road::Road;
  void record(const Record& record) {
    if (!ring_.keeps(record)) return;
    uint8_t rank = 0;
    if (record.is(RecordKind::info)) {
      const auto found = ranks_.find(key_of(record));
      rank = found == ranks_.end() ? 2 : found->second;
    } else if (record.is(RecordKind::hit)) {
      rank = 2;
    } else if (record.sequence() != 0) {
      rank = 1;
    }
    // A checkpoint's own text follows it: both have its key.
    if (record.has_info()) ranks_[key_of(record)] = rank;
    if (record.info_end()) ranks_.erase(key_of(record));
    order_.push_back({record.offset(), record.sequence(), record.stream(), rank});
  }
  void finish(Bytes file, BlockWriter& out) {
    number_checkpoints();
    std::ranges::stable_sort(order_, {}, [](const Entry& entry) {
      return std::tuple(entry.rank, entry.sequence, entry.stream);
    });
    std::optional<ChunkWriter> chunks;
    if (to_.has(RecordKind::stream)) chunks.emplace(to_);
    EntryNumbers entries;
    for (const Entry& entry : order_) {
      const Record record(
          from_.description,
          file.subspan(static_cast<size_t>(entry.offset), from_.description.entry_size),
          entry.offset);
      std::string encoded;
      Placing placing{number_of(entry), 0, record.is_exit()};
      if (record.is(RecordKind::hit) && tells_exits_by_sequence(to_) &&
          !entries.place(record, record.is_exit(), placing)) {
        loss_.add(Reason::exit);
        continue;
      }
      converter_.convert(record, placing, encoded);
      write(encoded, record.pid(), chunks, out);
    }
    if (chunks) chunks->finish(out);
  }

 private:
  struct Entry {
    uint64_t offset = 0;
    uint64_t sequence = 0;
    uint64_t stream = 0;
    uint8_t rank = 0;
  };
  void number_checkpoints() {
    for (const Entry& entry : order_) {
      if (entry.sequence != 0) numbers_.emplace_back(entry.sequence, entry.stream);
    }
    std::ranges::sort(numbers_);
    numbers_.erase(std::unique(numbers_.begin(), numbers_.end()), numbers_.end());
  }
  [[nodiscard]] uint64_t number_of(const Entry& entry) const {
    if (entry.sequence == 0) return 0;
    const auto found = std::ranges::lower_bound(numbers_, std::pair(entry.sequence, entry.stream));
    return static_cast<uint64_t>(found - numbers_.begin()) + 1;
  }

  RingFilter ring_;
  std::map<Key, uint8_t> ranks_;
  std::vector<Entry> order_;
  std::vector<std::pair<uint64_t, uint64_t>> numbers_;  // of checkpoints: sequence, stream
};

// Between two layouts with STREAM whose records have the same size: every slot stays at its place.
class SlotRoad : public Road {
 public:
  SlotRoad(const StreamFormat& from, const FormatDescription& to, const std::string& file_name,
           BlockWriter& out, ConversionLoss& loss, ProblemLog& problems)
      : Road(from, to, file_name, loss, problems, /*keeps_slots=*/true), out_(out) {}
  void record(const Record& record) {
    std::string encoded;
    converter_.convert(record, {record.sequence(), record.stream(), record.is_exit()}, encoded);
    encoded.resize(to_.entry_size, '\0');
    out_.write(encoded);
  }
  void skipped(const SkippedBytes& skipped) {
    Road::skipped(skipped);
    out_.write(std::string(skipped.bytes.size(), '\0'));
  }

 private:
  BlockWriter& out_;
};

struct FindExits {
  ExitRule exits;
  void record(const Record& record) { static_cast<void>(exits.is_exit(record)); }
  void skipped(const SkippedBytes&) {}
};

}  // namespace

std::string_view loss_text(Reason reason) {
  static constexpr std::array<std::string_view, ConversionLoss::kReasons> kTexts = {
      "records with a number too large for the target; dropped",
      "records of a kind that the target does not have; dropped",
      "records with a number that the target cannot represent; the number is dropped",
      "exits that the target cannot represent; dropped", "bytes could not be read; dropped"};
  return kTexts[static_cast<size_t>(reason)];
}

Result<ConversionLoss> convert_stream(Bytes file, const std::string& file_name,
                                      const StreamFormat& from, const FormatDescription& to,
                                      const ByteSink& sink, ProblemLog& problems) {
  uint64_t written = 0;
  const ByteSink counted = [&](std::string_view block) {
    written += block.size();
    return sink(block);
  };
  BlockWriter out(counted);
  ConversionLoss loss;
  const bool wide = from.description.has(RecordKind::stream);
  if (same_meaning(from.description, to)) {
    const std::string_view all(reinterpret_cast<const char*>(file.data()), file.size());
    for (size_t at = 0; at < all.size() && !out.failed(); at += BlockWriter::kBlockBytes)
      out.write(all.substr(at, BlockWriter::kBlockBytes));
  } else if (wide && to.has(RecordKind::stream) && to.entry_size == from.description.entry_size &&
             to.info_bytes() == from.description.info_bytes()) {
    SlotRoad road(from, to, file_name, out, loss, problems);
    walk_stream(file, from, road);
  } else if (wide) {
    SortingRoad road(from, to, file_name, loss, problems);
    walk_stream(file, from, road);
    road.finish(file, out);
  } else {
    FindExits finder;
    walk_stream(file, from, finder);
    StraightRoad road(from, to, file_name, finder.exits.by_sequence(), out, loss, problems);
    walk_stream(file, from, road);
    road.finish();
  }
  if (const Result<void> done = out.finish(); !done) return std::unexpected(done.error());
  if (written == 0 && loss.dropped_records() > 0) {
    return std::unexpected(Error{
        Error::Cause::usage,
        file_name,
        {},
        fmt::format("none of the {} records fits the layout of the target ({}: {}; {}: {})",
                    loss.dropped_records(), loss_text(Reason::number), loss.count(Reason::number),
                    loss_text(Reason::kind), loss.count(Reason::kind)),
        {}});
  }
  return loss;
}

}  // namespace telltale::stacktrack
