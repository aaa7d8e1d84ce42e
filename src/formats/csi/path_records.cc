#include "formats/csi/path_records.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>

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

// Skips unknown lines: later versions may add some.
void read_function_line(const std::vector<std::string>& fields, PathFunctionRecord& function) {
  const auto rest = std::span(fields).subspan(1);
  if (fields[0] == "flag" && !rest.empty() && rest[0] == "setjmp") function.calls_setjmp = true;
  const auto number = rest.empty() ? std::nullopt : parse_number(rest[0]);
  if (!number) return;
  if (fields[0] == "scope" && rest.size() >= 3)
    function.scopes.push_back({.number = *number, .file = rest[1], .function = rest[2]});
  if (fields[0] != "lines") return;
  for (const std::string& place : rest.subspan(1)) {
    const size_t colon = place.find(':');
    if (colon == std::string::npos) continue;
    const auto scope = parse_number(std::string_view(place).substr(0, colon));
    const auto line = parse_number(std::string_view(place).substr(colon + 1));
    if (scope && line) function.lines.push_back({.block = *number, .scope = *scope, .line = *line});
  }
}

std::string_view text_of(Cursor& in) {
  const Bytes bytes = in.take(in.left(), "text");
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class Reader {
 public:
  explicit Reader(PathRecords& records) : records_(records) {}

  void read(RecordKind kind, Cursor& in) {
    switch (kind) {
      case RecordKind::kFunction:
        return read_function(in);
      case RecordKind::kPosition:
        return read_position(in);
      case RecordKind::kSkipped:
        return read_skipped(in);
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
      read_function_line(fields, function);
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

  void read_skipped(Cursor& in) {
    SkippedFunction skipped;
    for_each_line(text_of(in), [&](const std::vector<std::string>& fields) {
      if (fields.size() < 2) return;
      if (fields[0] == "symbol") skipped.symbol = fields[1];
      if (fields[0] == "reason") skipped.reason = fields[1];
    });
    records_.skipped.push_back(std::move(skipped));
  }

  PathRecords& records_;
};

}  // namespace

PathRecords PathRecords::read(Bytes bytes, std::endian order, const std::string& file,
                              uint64_t file_offset, ProblemLog& problems) {
  PathRecords records;
  Reader reader(records);
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
  return records;
}

}  // namespace telltale::csi
