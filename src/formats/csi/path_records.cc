#include "formats/csi/path_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <system_error>

#include "base/counted.h"
#include "formats/csi/place_names.h"

namespace telltale::csi {
namespace {

// The fields of a line, without their escapes.
std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields(1);
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\t') {
      fields.emplace_back();
    } else if (line[i] == '\\' && i + 1 < line.size()) {
      ++i;
      fields.back() += line[i] == 't' ? '\t' : line[i] == 'n' ? '\n' : line[i];
    } else {
      fields.back() += line[i];
    }
  }
  return fields;
}

template <typename Use>
void for_each_line(std::string_view text, Use use) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    use(fields_of(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::optional<uint32_t> parse_number(std::string_view text) {
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<uint64_t> parse_key(std::string_view text) {
  uint64_t key = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), key);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return key;
}

// A line `scope` with at least three fields. A reference to names is one field; older programs have
// two names in its place. Two more fields may follow.
void read_scope(const std::vector<std::string>& fields, uint32_t number, PlaceNames& names,
                std::vector<PathScope>& scopes) {
  const bool is_reference = fields.size() % 2 == 1;
  const PlaceNames::Place place =
      is_reference ? names.find(fields[2]) : PlaceNames::Place{fields[2], fields[3]};
  scopes.push_back(
      {.number = number, .file = place.file, .function = place.function, .line = place.line});
}

void read_lines(const std::vector<std::string>& fields, uint32_t block,
                std::vector<PathFunctionRecord::BlockLine>& lines) {
  uint32_t calls = 0;
  for (const std::string& place : std::span(fields).subspan(2)) {
    if (place == "c") ++calls;
    const size_t colon = place.find(':');
    if (colon == std::string::npos) continue;
    const auto scope = parse_number(std::string_view(place).substr(0, colon));
    const auto line = parse_number(std::string_view(place).substr(colon + 1));
    if (scope && line)
      lines.push_back({.block = block, .scope = *scope, .line = *line, .calls = calls});
  }
}

// Skips unknown lines: later versions may add some.
void read_function_line(const std::vector<std::string>& fields, PlaceNames& names,
                        PathFunctionRecord& function) {
  const auto rest = std::span(fields).subspan(1);
  if (fields[0] == "flag" && !rest.empty() && rest[0] == "setjmp") function.calls_setjmp = true;
  if (fields[0] == "flag" && !rest.empty() && rest[0] == "late") function.sets_late = true;
  if (fields[0] == "flag" && !rest.empty() && rest[0] == "prefixes")
    function.numbers_prefixes = true;
  const auto number = rest.empty() ? std::nullopt : parse_number(rest[0]);
  if (!number) return;
  const auto second = rest.size() < 2 ? std::nullopt : parse_number(rest[1]);
  if (fields[0] == "repeat" && second) function.repeats.emplace_back(*number, *second);
  if (fields[0] == "ring") function.ring_size = *number;
  if (fields[0] == "scope" && rest.size() >= 2) read_scope(fields, *number, names, function.scopes);
  if (fields[0] == "lines") read_lines(fields, *number, function.lines);
}

std::optional<uint32_t> parse_probe(std::string_view text) {
  return text == "-" ? CoverageRecord::kNoProbe : parse_number(text);
}

// False if the line says something that cannot be.
bool read_block(const std::vector<std::string>& fields, CoverageRecord& coverage) {
  const auto number = parse_number(fields[1]);
  const auto probe = fields.size() > 2 ? parse_probe(fields[2]) : std::nullopt;
  if (number != coverage.blocks.size() || !probe || fields.size() < 4) return false;
  CoverageRecord::Block block{.probe = *probe, .successors = {}};
  std::string_view rest = fields[3];
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(' '), rest.size());
    const std::string_view word = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const auto successor = parse_number(word);
    if (word == "r") block.returns = true;
    if (word == "i") block.may_resume = true;
    if (successor) block.successors.push_back(*successor);
  }
  coverage.blocks.push_back(std::move(block));
  return true;
}

bool read_call(const std::vector<std::string>& fields, CoverageRecord& coverage) {
  const auto block = parse_number(fields[1]);
  const auto probe = fields.size() > 2 ? parse_probe(fields[2]) : std::nullopt;
  const auto line = fields.size() > 3 ? parse_number(fields[3]) : std::nullopt;
  if (!block || !probe || !line || fields.size() < 5) return false;
  coverage.calls.push_back({.block = *block, .probe = *probe, .line = *line, .callee = fields[4]});
  return true;
}

bool read_coverage_line(const std::vector<std::string>& fields, PlaceNames& names,
                        CoverageRecord& coverage) {
  if (fields.size() < 2) return true;
  const auto number = parse_number(fields[1]);
  if (fields[0] == "mechanism") coverage.mechanism = fields[1];
  if (fields[0] == "symbol") coverage.symbol = fields[1];
  if (fields[0] == "file") coverage.file = fields[1];
  if (fields[0] == "line") coverage.line = number.value_or(0);
  if (fields[0] == "block") return read_block(fields, coverage);
  if (fields[0] == "call") return read_call(fields, coverage);
  if (fields[0] == "probes" && number) coverage.probes = *number;
  if (fields[0] == "scope" && number && fields.size() >= 3)
    read_scope(fields, *number, names, coverage.scopes);
  if (fields[0] == "lines" && number) read_lines(fields, *number, coverage.lines);
  return true;
}

bool is_consistent(const CoverageRecord& coverage) {
  const auto is_probe = [&](uint32_t probe) {
    return probe == CoverageRecord::kNoProbe || probe < coverage.probes;
  };
  const size_t count = coverage.blocks.size();
  // A flag belongs to the function, a block or a call.
  if (coverage.probes > 1 + count + coverage.calls.size()) return false;
  const bool blocks = std::ranges::all_of(coverage.blocks, [&](const auto& block) {
    return is_probe(block.probe) &&
           std::ranges::all_of(block.successors, [&](uint32_t next) { return next < count; });
  });
  return blocks && std::ranges::all_of(coverage.calls, [&](const auto& call) {
           return is_probe(call.probe) && call.block < count;
         });
}

// Words of a block's line: its end (`r`, `i`), and indices of its successors.
bool read_flow_block(const std::vector<std::string>& fields, FlowRecord& flow) {
  if (fields.size() < 3 || parse_number(fields[1]) != flow.blocks.size()) return false;
  FlowRecord::Block block;
  std::string_view rest = fields[2];
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(' '), rest.size());
    const std::string_view word = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const auto successor = parse_number(word);
    if (word == "r") block.returns = true;
    if (word == "i") block.may_resume = true;
    if (successor) block.successors.push_back(*successor);
  }
  flow.blocks.push_back(std::move(block));
  return true;
}

bool read_flow_call(const std::vector<std::string>& fields, FlowRecord& flow) {
  const auto block = parse_number(fields[1]);
  const auto line = fields.size() > 2 ? parse_number(fields[2]) : std::nullopt;
  if (!block || !line || fields.size() < 4) return false;
  if (!flow.calls.empty() && *block < flow.calls.back().block) return false;
  const auto has = [&](std::string_view word) {
    return std::find(fields.begin() + 4, fields.end(), word) != fields.end();
  };
  flow.calls.push_back({.block = *block,
                        .line = *line,
                        .callee = fields[3],
                        .may_jump = has("jump"),
                        .runs_other_copy = has("copy")});
  return true;
}

bool read_take(const std::vector<std::string>& fields, FlowRecord& flow) {
  const auto block = parse_number(fields[1]);
  if (!block || *block >= flow.blocks.size() || fields.size() < 3) return false;
  flow.takes.push_back({.block = *block, .symbol = fields[2]});
  return true;
}

bool read_node(const std::vector<std::string>& fields, FlowRecord& flow) {
  const auto block = parse_number(fields[1]);
  const auto id = fields.size() > 2 ? parse_key(fields[2]) : std::nullopt;
  if (!block || *block >= flow.blocks.size() || !id) return false;
  flow.blocks[*block].nodes.push_back(*id);
  return true;
}

bool read_flow_line(const std::vector<std::string>& fields, PlaceNames& names, FlowRecord& flow) {
  if (fields.size() < 2) return true;
  const auto number = parse_number(fields[1]);
  if (fields[0] == "unit") flow.unit = fields[1];
  if (fields[0] == "symbol") flow.symbol = fields[1];
  if (fields[0] == "file") flow.file = fields[1];
  if (fields[0] == "line") flow.line = number.value_or(0);
  if (fields[0] == "source") flow.source = fields[1];
  if (fields[0] == "flag" && fields[1] == "generated") flow.is_generated = true;
  if (fields[0] == "flag" && fields[1] == "local") flow.is_local = true;
  if (fields[0] == "flag" && fields[1] == "optnone") flow.is_unoptimised = true;
  if (fields[0] == "flag" && fields[1] == "later") flow.is_optimised_later = true;
  if (fields[0] == "flag" && fields[1] == "setjmp") flow.calls_setjmp = true;
  if (fields[0] == "paths") flow.paths_key = parse_key(fields[1]).value_or(0);
  if (fields[0] == "block") return read_flow_block(fields, flow);
  if (fields[0] == "call") return read_flow_call(fields, flow);
  if (fields[0] == "take") return read_take(fields, flow);
  if (fields[0] == "node") return read_node(fields, flow);
  if (fields[0] == "scope" && number && fields.size() >= 3)
    read_scope(fields, *number, names, flow.scopes);
  if (fields[0] == "lines" && number) read_lines(fields, *number, flow.lines);
  if (fields[0] == "lost" && number) read_lines(fields, *number, flow.lost_lines);
  const bool is_uncalled = fields[0] == "uncalled";
  if ((fields[0] == "gone" || is_uncalled) && number && fields.size() >= 3) {
    const PlaceNames::Place place =
        fields.size() == 3 ? names.find(fields[2]) : PlaceNames::Place{fields[2], fields[3]};
    flow.gone.push_back({.block = *number,
                         .file = place.file,
                         .symbol = place.function,
                         .with_callees = is_uncalled});
  }
  return true;
}

UnitRecord::Lines read_function_lines(const std::vector<std::string>& fields, PlaceNames& names) {
  const PlaceNames::Place place = names.find(fields[1]);
  UnitRecord::Lines function{.file = place.file, .symbol = place.function, .line = place.line};
  for (const std::string& field : std::span(fields).subspan(2))
    if (const auto line = parse_number(field)) function.lines.push_back(*line);
  return function;
}

UnitRecord::Callees read_callees(const std::vector<std::string>& fields, PlaceNames& names) {
  const auto name_of = [&](const std::string& reference) {
    const PlaceNames::Place place = names.find(reference);
    return UnitRecord::Name{.file = place.file, .symbol = place.function};
  };
  UnitRecord::Callees callees{.caller = name_of(fields[1]), .callees = {}};
  for (const std::string& field : std::span(fields).subspan(2))
    callees.callees.push_back(name_of(field));
  return callees;
}

bool is_consistent(const FlowRecord& flow) {
  const size_t count = flow.blocks.size();
  const bool blocks = std::ranges::all_of(flow.blocks, [&](const auto& block) {
    return std::ranges::all_of(block.successors, [&](uint32_t next) { return next < count; });
  });
  return count != 0 && blocks &&
         std::ranges::all_of(flow.calls, [&](const auto& call) { return call.block < count; }) &&
         std::ranges::all_of(flow.lines, [&](const auto& line) { return line.block < count; }) &&
         std::ranges::all_of(flow.lost_lines,
                             [&](const auto& line) { return line.block < count; }) &&
         std::ranges::all_of(flow.gone, [&](const auto& gone) { return gone.block < count; });
}

std::string_view text_of(Cursor& in) {
  const Bytes bytes = in.take(in.left(), "text");
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class Reader {
 public:
  explicit Reader(PathRecords& records) : records_(records) {}

  [[nodiscard]] uint64_t missing_names() const { return names_.missing(); }

  // To be called for all records before read().
  void read_names(RecordKind kind, Cursor& in) {
    if (kind != RecordKind::kNames) return;
    for_each_line(text_of(in), [&](const std::vector<std::string>& fields) {
      if (fields.size() < 3) return;
      const auto line = fields.size() > 3 ? parse_number(fields[3]) : std::nullopt;
      names_.add(fields[0], {fields[1], fields[2], line.value_or(0)});
    });
  }

  void read(RecordKind kind, Cursor& in) {
    switch (kind) {
      case RecordKind::kFunction:
        return read_function(in);
      case RecordKind::kPosition:
        return read_position(in);
      case RecordKind::kFrame:
        return read_frame(in);
      case RecordKind::kSkipped:
        return read_skipped(in);
      case RecordKind::kCoverage:
        return read_coverage(in);
      case RecordKind::kCoverageArray:
        return read_array(in);
      case RecordKind::kFlow:
        return read_flow(in);
      case RecordKind::kUnit:
        return read_unit(in);
      case RecordKind::kData:
        return read_data(in);
      default:
        return;
    }
  }

 private:
  void read_function(Cursor& in) {
    PathFunctionRecord function;
    function.key = in.read<uint64_t>("key");
    function.offset = in.read<uint64_t>("offset");
    for_each_line(text_of(in), [&](const std::vector<std::string>& fields) {
      read_function_line(fields, names_, function);
    });
    if (!in.error()) records_.functions.push_back(std::move(function));
  }

  void read_position(Cursor& in) {
    const auto phase = in.read<uint8_t>("phase");
    PathPosition position;
    position.block = in.read<uint32_t>("block");
    position.key = in.read<uint64_t>("key");
    position.address = in.read<uint64_t>("address");
    position.phase = static_cast<Phase>(phase & ~kAfterInstruction);
    position.after_instruction = (phase & kAfterInstruction) != 0;
    if (position.phase > Phase::kIndexMoved) in.fail(Error::Cause::bad_field, "unknown phase");
    if (!in.error() && position.address != 0) records_.positions.push_back(position);
  }

  void read_frame(Cursor& in) {
    PathFrameRecord frame;
    frame.key = in.read<uint64_t>("key");
    frame.address = in.read<uint64_t>("address");
    std::string_view texts = text_of(in);
    for (std::string* const text : {&frame.array, &frame.index, &frame.sum}) {
      const size_t end = texts.find('\0');
      if (end == std::string_view::npos) {
        in.fail(Error::Cause::bad_field, "it has fewer than three texts");
        return;
      }
      *text = texts.substr(0, end);
      texts.remove_prefix(end + 1);
    }
    if (frame.address != 0) records_.frames.push_back(std::move(frame));
  }

  void read_skipped(Cursor& in) {
    SkippedFunction skipped;
    for_each_line(text_of(in), [&](const std::vector<std::string>& fields) {
      if (fields.size() < 2) return;
      if (fields[0] == "symbol") skipped.symbol = fields[1];
      if (fields[0] == "reason") skipped.reason = fields[1];
    });
    records_.skipped.push_back(std::move(skipped));
  }

  void read_coverage(Cursor& in) {
    CoverageRecord coverage;
    coverage.key = in.read<uint64_t>("key");
    bool is_valid = true;
    for_each_line(text_of(in), [&](const std::vector<std::string>& fields) {
      is_valid = read_coverage_line(fields, names_, coverage) && is_valid;
    });
    if (in.error()) return;
    if (is_valid && is_consistent(coverage)) {
      records_.coverage.push_back(std::move(coverage));
    } else {
      in.fail(Error::Cause::bad_field, "its blocks contradict one another");
    }
  }

  void read_array(Cursor& in) {
    CoverageArray array;
    array.key = in.read<uint64_t>("key");
    array.address = in.read<uint64_t>("address");
    if (!in.error() && array.address != 0) records_.arrays.push_back(array);
  }

  void read_flow(Cursor& in) {
    FlowRecord flow;
    flow.key = in.read<uint64_t>("key");
    bool is_valid = true;
    for_each_line(text_of(in), [&](const std::vector<std::string>& fields) {
      is_valid = read_flow_line(fields, names_, flow) && is_valid;
    });
    if (in.error()) return;
    if (is_valid && is_consistent(flow)) {
      records_.flows.push_back(std::move(flow));
    } else {
      in.fail(Error::Cause::bad_field, "its blocks contradict one another");
    }
  }

  void read_unit(Cursor& in) {
    UnitRecord unit;
    for_each_line(text_of(in), [&](const std::vector<std::string>& fields) {
      if (fields.size() < 2) return;
      if (fields[0] == "unit") unit.unit = fields[1];
      if (fields[0] == "taken") unit.taken.push_back(fields[1]);
      if (fields[0] == "constructor") unit.constructors.push_back(fields[1]);
      if (fields[0] == "removed") unit.removed.push_back(read_function_lines(fields, names_));
      if (fields[0] == "vanished") unit.vanished.push_back(read_function_lines(fields, names_));
      if (fields[0] == "callees") unit.callees.push_back(read_callees(fields, names_));
    });
    records_.units.push_back(std::move(unit));
  }

  void read_data(Cursor& in) {
    DataRecord data;
    data.key = in.read<uint64_t>("key");
    data.offset = in.offset();
    data.bytes = in.take(in.left(), "data");
    if (!in.error()) records_.data.push_back(data);
  }

  PathRecords& records_;
  PlaceNames names_;
};

}  // namespace

std::optional<FrameOperand> parse_frame_operand(std::string_view text) {
  // In the order of their numbers (System V ABI, x86-64, figure 3.36).
  constexpr auto kRegisters =
      std::to_array<std::string_view>({"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8",
                                       "r9", "r10", "r11", "r12", "r13", "r14", "r15"});
  FrameOperand operand;
  const auto [rest, error] =
      std::from_chars(text.data(), text.data() + text.size(), operand.offset);
  if (error == std::errc::result_out_of_range) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(rest - text.data()));
  if (!text.starts_with("(%") || !text.ends_with(")")) return std::nullopt;
  const auto* const found = std::ranges::find(kRegisters, text.substr(2, text.size() - 3));
  if (found == kRegisters.end()) return std::nullopt;
  operand.base = static_cast<unsigned>(found - kRegisters.begin());
  return operand;
}

PathRecords PathRecords::read(Bytes bytes, std::endian order, const std::string& file,
                              uint64_t file_offset, ProblemLog& problems) {
  PathRecords records;
  Reader reader(records);
  for (Cursor in(bytes, order, file_offset); !in.at_end();) {
    const auto size = in.read<uint32_t>("size");
    Cursor record = in.split(size, "record");
    if (in.error()) break;
    const auto kind = static_cast<RecordKind>(record.read<uint8_t>("kind"));
    reader.read_names(kind, record);
  }
  Cursor in(bytes, order, file_offset);
  const auto complain = [&](Problem::Kind kind, uint64_t offset, const Cursor& where,
                            uint64_t lost) {
    problems.add({kind, offset, file, "path record", where.error()->detail, lost});
  };
  while (!in.at_end()) {
    const uint64_t start = in.offset();
    const auto size = in.read<uint32_t>("size");
    Cursor record = in.split(size, "record");
    if (in.error()) {
      complain(Problem::Kind::torn_tail, start, in, file_offset + bytes.size() - start);
      break;
    }
    const auto kind = static_cast<RecordKind>(record.read<uint8_t>("kind"));
    reader.read(kind, record);
    if (record.error()) complain(Problem::Kind::corruption, start, record, size + sizeof size);
  }
  if (reader.missing_names() != 0) {
    problems.add({Problem::Kind::loss, file_offset, file, "path record",
                  fmt::format("{} to names of functions that the section does not have",
                              counted(reader.missing_names(), "reference")),
                  0});
  }
  return records;
}

}  // namespace telltale::csi
