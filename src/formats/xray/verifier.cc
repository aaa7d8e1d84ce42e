#include "formats/xray/verifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <variant>

#include "formats/xray/basic_runs.h"
#include "formats/xray/fdr_file_walk.h"

namespace telltale::xray {
namespace {

template <typename... Symbols>
constexpr SymbolSet any_of(Symbols... symbols) {
  return static_cast<SymbolSet>((0U | ... | set_of(symbols)));
}

constexpr GrammarTable make_grammar(uint16_t version) {
  using enum Symbol;
  const FdrLayout layout = fdr_layout(version);
  SymbolSet body = any_of(new_cpu_id, tsc_wrap, custom_event, function, function_with_arguments);
  body |= layout.has_extents ? set_of(buffer_ends) : set_of(end_of_buffer);
  if (layout.has_typed_events) body |= set_of(typed_event);
  const SymbolSet body_or_argument = body | set_of(call_argument);

  GrammarTable table{};
  const auto after = [&](Symbol symbol) -> SymbolSet& {
    return table[static_cast<size_t>(symbol)];
  };
  after(buffer_begins) = set_of(layout.has_extents ? buffer_extents : new_buffer);
  if (layout.has_extents) after(buffer_extents) = set_of(new_buffer);
  after(new_buffer) = set_of(walltime_marker);
  after(walltime_marker) = set_of(layout.has_pid ? pid : new_cpu_id);
  if (layout.has_pid) after(pid) = set_of(new_cpu_id);
  after(new_cpu_id) = after(tsc_wrap) = after(custom_event) = after(function) = body;
  after(function_with_arguments) = after(call_argument) = body_or_argument;
  if (layout.has_typed_events) after(typed_event) = body;
  if (!layout.has_extents) after(end_of_buffer) = set_of(buffer_ends);
  return table;
}

constexpr std::array<GrammarTable, kLastFdrVersion> kGrammars = {
    make_grammar(1), make_grammar(2), make_grammar(3), make_grammar(4), make_grammar(5)};

bool allows(SymbolSet set, Symbol symbol) { return (set & set_of(symbol)) != 0; }

std::string names_in(SymbolSet set) {
  std::string names;
  for (size_t i = 0; i < kSymbols; ++i) {
    const auto symbol = static_cast<Symbol>(i);
    if (!allows(set, symbol)) continue;
    if (!names.empty()) names += ", ";
    names += symbol_name(symbol);
  }
  return names.empty() ? "nothing" : names;
}

void report(Verdict& verdict, Violation violation) {
  ++verdict.counts[static_cast<size_t>(violation.kind)];
  if (!verdict.first || violation.offset < verdict.first->offset)
    verdict.first = std::move(violation);
}

Violation::Kind kind_of(const Problem& problem) {
  using enum Violation::Kind;
  switch (problem.kind) {
    case Problem::Kind::torn_tail:
      return torn_file;
    case Problem::Kind::loss:
      return cut_record;
    case Problem::Kind::corruption:
    case Problem::Kind::by_design:
    case Problem::Kind::oddity:
    case Problem::Kind::names:
    case Problem::Kind::estimate:
    case Problem::Kind::copies:
      break;
  }
  if (problem.record == "Buffer") return stray_bytes;
  if (problem.record == "BufferExtents") return wrong_extents;
  if (problem.record == "EndOfBuffer") return incomplete_buffer;
  return unreadable_record;
}

// The end of a metadata record's last used byte; 0: all bytes may have any value.
size_t claimed_bytes(const FdrPayload& payload, const FileHeader& header) {
  const FdrLayout layout = fdr_layout(header.version);
  if (std::holds_alternative<TscWrap>(payload) && header.recorder.waits)
    return kWaitOffset + sizeof(uint32_t);
  if (std::holds_alternative<NewBuffer>(payload) || std::holds_alternative<Pid>(payload)) return 5;
  if (std::holds_alternative<NewCpuId>(payload) || std::holds_alternative<TypedEvent>(payload))
    return 11;
  if (std::holds_alternative<TscWrap>(payload) || std::holds_alternative<CallArgument>(payload) ||
      std::holds_alternative<BufferExtents>(payload))
    return 9;
  if (std::holds_alternative<WalltimeMarker>(payload)) return 13;
  if (std::holds_alternative<CustomEvent>(payload)) return layout.event_time_is_delta ? 9 : 13;
  return 0;
}

// Checks an FDR file against the table of its version.
class FdrChecker {
 public:
  FdrChecker(Verdict& verdict, const GrammarTable& table, RecordSelector* selector)
      : verdict_(verdict), table_(table), selector_(selector) {}

  void begin_buffer(const BufferFrame& frame) {
    if (selector_ != nullptr) selector_->begin_buffer(frame.pid, frame.tid, frame.first_tsc);
    state_ = Symbol::buffer_begins;
    whole_ = !frame.torn;
  }
  void function(uint64_t offset, const FunctionRecord& record) {
    step(offset,
         record.action == FunctionAction::enter_args ? Symbol::function_with_arguments
                                                     : Symbol::function,
         selector_ == nullptr || selector_->function(record));
  }
  void metadata(const FdrRecord& record) {
    const bool chosen = selector_ == nullptr || selector_->metadata(record);
    step(record.offset, symbol_of(record.payload), chosen);
    // Other writers leave arbitrary bytes there, telltale's recorder zeros: this is a record whose
    // first byte is damaged, and its supposed payload is the next record.
    if (!chosen || !verdict_.header.recorder.parts) return;
    const size_t claimed = claimed_bytes(record.payload, verdict_.header);
    if (claimed == 0 || std::ranges::all_of(record.raw.first(kMetadataRecordBytes).subspan(claimed),
                                            [](std::byte byte) { return byte == std::byte{0}; }))
      return;
    report(verdict_, {Violation::Kind::unreadable_record, record.offset,
                      std::string(record_name(record.payload)),
                      "has bytes that telltale's recorder never writes into such a record"});
  }
  void skipped(const SkippedBytes& skipped) {
    if (skipped.reason == SkippedBytes::Reason::damage) whole_ = false;
  }
  void end_buffer(const BufferFrame& frame) {
    if (!here()) return;
    if (!whole_ || allows(after(state_), Symbol::buffer_ends)) return;
    report(verdict_, {Violation::Kind::incomplete_buffer, frame.end, "Buffer",
                      fmt::format("ends after {}; only these may follow: {}", symbol_name(state_),
                                  names_in(after(state_)))});
  }
  void problem(const Problem& problem) {
    if (!here()) return;
    report(verdict_, {kind_of(problem), problem.offset, problem.record, problem.message});
  }

 private:
  [[nodiscard]] SymbolSet after(Symbol symbol) const { return table_[static_cast<size_t>(symbol)]; }
  [[nodiscard]] bool here() const { return selector_ == nullptr || selector_->here(); }
  void step(uint64_t offset, Symbol symbol, bool chosen) {
    verdict_.records += static_cast<uint64_t>(chosen);
    if (chosen && !allows(after(state_), symbol)) misplaced(offset, symbol);
    state_ = symbol;
  }
  void misplaced(uint64_t offset, Symbol symbol) {
    report(verdict_,
           {Violation::Kind::misplaced_record, offset, std::string(symbol_name(symbol)),
            fmt::format("may not follow {} in version {}; allowed: {}", symbol_name(state_),
                        verdict_.header.version, names_in(after(state_)))});
  }

  Verdict& verdict_;
  const GrammarTable& table_;
  RecordSelector* selector_;
  Symbol state_ = Symbol::buffer_begins;
  bool whole_ = true;  // no part of the open buffer is missing so far
};

class BasicChecker {
 public:
  BasicChecker(Verdict& verdict, RecordSelector* selector)
      : verdict_(verdict), selector_(selector) {}

  void record(const BasicRecord& record) {
    chosen_ = selector_ == nullptr || selector_->basic(record);
    verdict_.records += static_cast<uint64_t>(chosen_);
    const uint64_t thread = uint64_t{record.pid} << 32 | record.tid;
    if (record.type == BasicRecordType::argument) {
      check_argument(record, thread);
      return;
    }
    if (record.kind == BasicKind::enter_args) {
      arguments_allowed_[thread] = record.function_id;
    } else if (!arguments_allowed_.empty()) {
      arguments_allowed_.erase(thread);
    }
    if (chosen_ && record.kind == BasicKind::tail_exit &&
        !basic_layout(verdict_.header.version).has_tail_exit) {
      report(verdict_, {Violation::Kind::unknown_to_version, record.offset, "BasicCall",
                        "version 1 has no tail exits"});
    }
  }

 private:
  void check_argument(const BasicRecord& record, uint64_t thread) {
    if (!chosen_) return;
    const auto allowed = arguments_allowed_.find(thread);
    if (allowed != arguments_allowed_.end() && allowed->second == record.function_id) return;
    report(
        verdict_,
        {Violation::Kind::orphan_argument, record.offset, "BasicArgument",
         fmt::format("of function {} does not follow an entry with arguments of that function in "
                     "thread {}",
                     record.function_id, record.tid)});
  }

  Verdict& verdict_;
  RecordSelector* selector_;
  bool chosen_ = true;
  std::unordered_map<uint64_t, int32_t> arguments_allowed_;  // by thread: the last entry's function
};

void verify_basic(Bytes file, Verdict& verdict, RecordSelector* selector) {
  BasicChecker checker(verdict, selector);
  size_t at = kFileHeaderBytes;
  for (; at + kBasicRecordBytes <= file.size(); at += kBasicRecordBytes) {
    Cursor in(file.subspan(at, kBasicRecordBytes), verdict.header.order, at);
    if (const Result<BasicRecord> record = read_basic_record(in, verdict.header.version)) {
      checker.record(*record);
    } else {
      report(verdict,
             {Violation::Kind::unreadable_record, at, "BasicRecord", record.error().detail});
    }
  }
  if (at < file.size()) {
    report(verdict, {Violation::Kind::torn_file, at, "BasicRecord",
                     fmt::format("the file ends after {} of {} bytes", file.size() - at,
                                 kBasicRecordBytes)});
  }
}

void verify_fdr(Bytes file, Verdict& verdict, RecordSelector* selector) {
  const FdrFrames frames = frame_fdr_file(file, verdict.header, {});
  FdrChecker checker(verdict, fdr_grammar(verdict.header.version), selector);
  walk_fdr_file(file, verdict.header, frames, {}, checker);
}

}  // namespace

std::string_view symbol_name(Symbol symbol) {
  static constexpr std::array<std::string_view, kSymbols> kNames = {"the buffer's beginning",
                                                                    "NewBuffer",
                                                                    "EndOfBuffer",
                                                                    "NewCPUId",
                                                                    "TSCWrap",
                                                                    "WallTimeMarker",
                                                                    "CustomEventMarker",
                                                                    "CallArgument",
                                                                    "BufferExtents",
                                                                    "TypedEventMarker",
                                                                    "Pid",
                                                                    "Function",
                                                                    "Function with arguments",
                                                                    "the buffer's end"};
  return kNames[static_cast<size_t>(symbol)];
}

Symbol symbol_of(const FdrPayload& payload) {
  // In the order of FdrPayload.
  static constexpr std::array<Symbol, std::variant_size_v<FdrPayload>> kSymbolOf = {
      Symbol::function,
      Symbol::new_buffer,
      Symbol::end_of_buffer,
      Symbol::new_cpu_id,
      Symbol::tsc_wrap,
      Symbol::walltime_marker,
      Symbol::custom_event,
      Symbol::call_argument,
      Symbol::buffer_extents,
      Symbol::typed_event,
      Symbol::pid};
  const auto* function = std::get_if<FunctionRecord>(&payload);
  if (function != nullptr && function->action == FunctionAction::enter_args) {
    return Symbol::function_with_arguments;
  }
  return kSymbolOf[payload.index()];
}

const GrammarTable& fdr_grammar(uint16_t version) { return kGrammars.at(version - 1U); }

std::string_view to_string(Violation::Kind kind) {
  static constexpr std::array<std::string_view, Violation::kKinds> kNames = {
      "misplaced_record", "incomplete_buffer",  "unreadable_record",
      "cut_record",       "wrong_extents",      "stray_bytes",
      "torn_file",        "unknown_to_version", "orphan_argument"};
  return kNames[static_cast<size_t>(kind)];
}

std::string to_string(const Violation& violation) {
  return fmt::format("{} at byte {}: {}", violation.record, violation.offset, violation.message);
}

Result<Verdict> verify_trace(Bytes file, RecordSelector* selector) {
  const Result<FileHeader> header = read_file_header(file);
  if (!header) return std::unexpected(header.error());
  Verdict verdict;
  verdict.header = *header;
  header->type == LogType::fdr ? verify_fdr(file, verdict, selector)
                               : verify_basic(file, verdict, selector);
  return verdict;
}

}  // namespace telltale::xray
