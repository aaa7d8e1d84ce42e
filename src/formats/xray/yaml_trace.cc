#include "formats/xray/yaml_trace.h"

#include <fmt/format.h>
#include <yaml.h>

#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

namespace telltale::xray {
namespace {

constexpr std::array<std::string_view, 6> kKindNames = {"function-enter",     "function-exit",
                                                        "function-tail-exit", "function-enter-arg",
                                                        "custom-event",       "typed-event"};

// libyaml counts characters; this converts positions to bytes, in increasing order.
class Places {
 public:
  explicit Places(Bytes file) : file_(file) {}
  uint64_t byte_of(size_t character) {
    if (character < character_) byte_ = character_ = 0;
    for (; character_ < character && byte_ < file_.size(); ++character_) {
      do ++byte_;
      while (byte_ < file_.size() && (file_[byte_] & std::byte{0xC0}) == std::byte{0x80});
    }
    return byte_;
  }

 private:
  Bytes file_;
  size_t character_ = 0;
  size_t byte_ = 0;
};

// The parser's events, one at a time; each is freed before the next.
class Events {
 public:
  explicit Events(Bytes file) {
    ready_ = yaml_parser_initialize(&parser_) != 0;
    if (!ready_) return;
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(file.data()),
                                 file.size());
  }
  ~Events() {
    clear();
    if (ready_) yaml_parser_delete(&parser_);
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  // False at a syntax error.
  bool next() {
    clear();
    has_event_ = ready_ && yaml_parser_parse(&parser_, &event_) != 0;
    return has_event_;
  }
  [[nodiscard]] yaml_event_type_t type() const { return event_.type; }
  [[nodiscard]] size_t character() const { return event_.start_mark.index; }
  // REQUIRES: a scalar.
  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(event_.data.scalar.value), event_.data.scalar.length};
  }
  [[nodiscard]] bool is_binary() const {
    const unsigned char* const tag = event_.data.scalar.tag;
    return tag != nullptr &&
           std::string_view(reinterpret_cast<const char*>(tag)) == "tag:yaml.org,2002:binary";
  }
  [[nodiscard]] std::string_view problem() const {
    return ready_ && parser_.problem != nullptr ? parser_.problem : "out of memory";
  }
  // A reader error (bytes that are not UTF-8) has a position in bytes, others in characters.
  [[nodiscard]] bool is_reader_error() const {
    return ready_ && parser_.error == YAML_READER_ERROR;
  }
  [[nodiscard]] size_t problem_byte() const { return parser_.problem_offset; }
  [[nodiscard]] size_t problem_character() const { return ready_ ? parser_.problem_mark.index : 0; }

 private:
  void clear() {
    if (std::exchange(has_event_, false)) yaml_event_delete(&event_);
  }
  yaml_parser_t parser_{};
  yaml_event_t event_{};
  bool ready_ = false;
  bool has_event_ = false;
};

template <typename T>
std::optional<T> number(std::string_view text) {
  T value{};
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<bool> truth(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return std::nullopt;
}

std::optional<std::string> from_base64(std::string_view text) {
  std::string out;
  uint32_t group = 0;
  unsigned bits = 0;
  for (const char c : text) {
    if (c == '=' || c == '\n' || c == ' ') continue;
    const int digit = c >= 'A' && c <= 'Z'   ? c - 'A'
                      : c >= 'a' && c <= 'z' ? c - 'a' + 26
                      : c >= '0' && c <= '9' ? c - '0' + 52
                      : c == '+'             ? 62
                      : c == '/'             ? 63
                                             : -1;
    if (digit < 0) return std::nullopt;
    group = (group << 6 | static_cast<uint32_t>(digit)) & 0xFFFFFF;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    out += static_cast<char>(group >> bits & 0xFF);
  }
  return out;
}

class Reader {
 public:
  Reader(Bytes file, const std::string& file_name, ProblemLog& problems)
      : file_(file), file_name_(file_name), problems_(problems), places_(file), events_(file) {
    trace_.names.emplace_back();
  }

  Result<YamlTrace> run() {
    trace_.header.version = 0;
    // The beginnings of stream, document and root mapping.
    bool whole = step() && step() && step();
    if (whole && events_.type() == YAML_MAPPING_START_EVENT) whole = read_root();
    if (!whole) syntax_problem();
    if (failure_) return std::unexpected(*failure_);
    if (!has_header_) {
      return std::unexpected(
          Error{Error::Cause::bad_magic, {}, "FileHeader", "this text has no XRay header", 0});
    }
    return std::move(trace_);
  }

 private:
  bool step() { return events_.next(); }
  [[nodiscard]] uint64_t here() { return places_.byte_of(events_.character()); }

  // Reads key after key; false if the text ends early. `value` must consume the value's events.
  template <typename Value>
  bool read_mapping(Value value) {
    while (step()) {
      if (events_.type() == YAML_MAPPING_END_EVENT) return true;
      if (events_.type() != YAML_SCALAR_EVENT) {
        oddity("Mapping", "a key is not plain text");
        if (!skip_value() || !step() || !skip_value()) return false;
        continue;
      }
      const std::string key(events_.text());
      if (!step() || !value(key)) return false;
    }
    return false;
  }

  // Skips the value whose first event is current, counting nesting without recursion.
  bool skip_value() {
    size_t depth = 0;
    while (true) {
      switch (events_.type()) {
        case YAML_MAPPING_START_EVENT:
        case YAML_SEQUENCE_START_EVENT:
          ++depth;
          break;
        case YAML_MAPPING_END_EVENT:
        case YAML_SEQUENCE_END_EVENT:
          --depth;
          break;
        default:
          break;
      }
      if (depth == 0) return true;
      if (!step()) return false;
    }
  }

  bool read_root() {
    return read_mapping([this](const std::string& key) {
      if (key == "header" && events_.type() == YAML_MAPPING_START_EVENT) return read_header();
      if (key == "records" && events_.type() == YAML_SEQUENCE_START_EVENT) return read_records();
      oddity("Document", fmt::format("unknown key '{}'", key));
      return skip_value();
    });
  }

  bool read_header() {
    const uint64_t offset = here();
    std::optional<uint16_t> version;
    std::optional<uint16_t> type;
    const bool whole = read_mapping([&](const std::string& key) {
      if (events_.type() != YAML_SCALAR_EVENT) return unknown_key("FileHeader", key);
      const std::string_view text = events_.text();
      if (key == "version")
        version = number<uint16_t>(text);
      else if (key == "type")
        type = number<uint16_t>(text);
      else if (key == "constant-tsc")
        trace_.header.constant_tsc = truth(text).value_or(false);
      else if (key == "nonstop-tsc")
        trace_.header.nonstop_tsc = truth(text).value_or(false);
      else if (key == "cycle-frequency")
        trace_.header.cycle_frequency = number<uint64_t>(text).value_or(0);
      else
        return unknown_key("FileHeader", key);
      return true;
    });
    if (!whole) return false;
    check_header(version, type, offset);
    return !failure_;
  }

  void check_header(std::optional<uint16_t> version, std::optional<uint16_t> type,
                    uint64_t offset) {
    if (!version || !type || *type > 1) {
      failure_ = Error{Error::Cause::bad_field,
                       {},
                       "FileHeader",
                       "version or type is missing or invalid",
                       offset};
      return;
    }
    const uint16_t last = *type == 1 ? kLastFdrVersion : kLastBasicVersion;
    if (*version < 1 || *version > last) {
      failure_ = Error{Error::Cause::unsupported_version,
                       {},
                       "FileHeader",
                       fmt::format("version {} is unknown", *version),
                       offset};
      return;
    }
    trace_.header.version = *version;
    trace_.header.type = static_cast<LogType>(*type);
    has_header_ = true;
  }

  bool read_records() {
    while (step()) {
      if (events_.type() == YAML_SEQUENCE_END_EVENT) return true;
      if (events_.type() == YAML_MAPPING_START_EVENT) {
        if (!read_record()) return false;
      } else {
        corruption(here(), "is not a mapping; skipped");
        if (!skip_value()) return false;
      }
    }
    return false;
  }

  // The keys that every record must have, as bits.
  enum Key : unsigned {
    kType = 1,
    kFunctionId = 2,
    kCpu = 4,
    kThread = 8,
    kKind = 16,
    kTsc = 32,
    kAll = 63
  };

  bool read_record() {
    YamlRecord record;
    record.offset = here();
    record.first_argument = trace_.arguments.size();
    record.data_begin = trace_.data.size();
    unsigned seen = 0;
    bad_value_.clear();
    if (!read_mapping([&](const std::string& key) { return read_field(key, record, seen); }))
      return false;
    if (seen != kAll || !bad_value_.empty()) {
      corruption(record.offset, bad_value_.empty() ? "lacks a required key; skipped" : bad_value_);
      trace_.arguments.resize(record.first_argument);
      trace_.data.resize(record.data_begin);
      return true;
    }
    record.argument_count = static_cast<uint32_t>(trace_.arguments.size() - record.first_argument);
    record.data_bytes = trace_.data.size() - record.data_begin;
    trace_.records.push_back(record);
    return true;
  }

  bool read_field(const std::string& key, YamlRecord& record, unsigned& seen) {
    if (key == "args" && events_.type() == YAML_SEQUENCE_START_EVENT) return read_arguments();
    if (events_.type() != YAML_SCALAR_EVENT) return unknown_key("Record", key);
    const std::string_view text = events_.text();
    const auto take = [&](auto& field, unsigned bit) {
      const auto value = number<std::remove_reference_t<decltype(field)>>(text);
      if (!value) bad_value_ = fmt::format("{} has no number that fits; skipped", key);
      field = value.value_or(field);
      seen |= bit;
    };
    if (key == "type")
      take(record.type, kType);
    else if (key == "func-id")
      take_function_id(text, record, seen);
    else if (key == "function")
      take_name(text, record);
    else if (key == "cpu")
      take(record.cpu, kCpu);
    else if (key == "thread")
      take(record.thread, kThread);
    else if (key == "process")
      take(record.process, 0);
    else if (key == "tsc")
      take(record.tsc, kTsc);
    else if (key == "kind")
      take_kind(text, record, seen);
    else if (key == "data")
      take_data(text);
    else
      return unknown_key("Record", key);
    return true;
  }

  // Written as a signed 32-bit number; unsigned is accepted.
  void take_function_id(std::string_view text, YamlRecord& record, unsigned& seen) {
    const auto value = number<int64_t>(text);
    if (!value || *value < INT32_MIN || *value > UINT32_MAX) {
      bad_value_ = "func-id has no number that fits; skipped";
    } else {
      record.function_id = static_cast<uint32_t>(*value);
    }
    seen |= kFunctionId;
  }

  void take_kind(std::string_view text, YamlRecord& record, unsigned& seen) {
    seen |= kKind;
    for (size_t i = 0; i < kKindNames.size(); ++i) {
      if (text != kKindNames[i]) continue;
      record.kind = static_cast<YamlKind>(i);
      return;
    }
    bad_value_ = "kind is not known; skipped";
  }

  void take_data(std::string_view text) {
    if (!events_.is_binary()) {
      trace_.data += text;
    } else if (const auto bytes = from_base64(text)) {
      trace_.data += *bytes;
    } else {
      bad_value_ = "data is not base64; skipped";
    }
  }

  bool read_arguments() {
    while (step()) {
      if (events_.type() == YAML_SEQUENCE_END_EVENT) return true;
      const auto value =
          events_.type() == YAML_SCALAR_EVENT ? number<uint64_t>(events_.text()) : std::nullopt;
      if (!value) bad_value_ = "args holds something that is not a number; skipped";
      trace_.arguments.push_back(value.value_or(0));
      if (!skip_value()) return false;
    }
    return false;
  }

  void take_name(std::string_view text, YamlRecord& record) {
    const auto decoded = events_.is_binary() ? from_base64(text) : std::nullopt;
    record.name = name_index(decoded ? std::string_view(*decoded) : text);
  }

  uint32_t name_index(std::string_view text) {
    if (text.empty()) return 0;
    const auto [place, fresh] =
        name_index_.try_emplace(std::string(text), static_cast<uint32_t>(trace_.names.size()));
    if (fresh) trace_.names.emplace_back(text);
    return place->second;
  }

  bool unknown_key(std::string_view record, const std::string& key) {
    oddity(record, fmt::format("unknown key '{}'", key));
    return skip_value();
  }
  void oddity(std::string_view record, std::string message) {
    problems_.add(
        {Problem::Kind::oddity, here(), file_name_, std::string(record), std::move(message), 0});
  }
  void corruption(uint64_t offset, std::string message) {
    problems_.add({Problem::Kind::corruption, offset, file_name_, "Record", std::move(message), 0});
  }
  void syntax_problem() {
    if (failure_) return;
    const uint64_t offset = std::min<uint64_t>(
        file_.size(), events_.is_reader_error() ? events_.problem_byte()
                                                : places_.byte_of(events_.problem_character()));
    const uint64_t left = file_.size() - offset;
    problems_.add({left == 0 ? Problem::Kind::torn_tail : Problem::Kind::corruption, offset,
                   file_name_, "YAML", fmt::format("{}; the rest is not read", events_.problem()),
                   left});
  }

  Bytes file_;
  const std::string& file_name_;
  ProblemLog& problems_;
  Places places_;
  Events events_;
  YamlTrace trace_;
  bool has_header_ = false;
  std::optional<Error> failure_;
  std::string bad_value_;  // why the open record is invalid
  std::map<std::string, uint32_t, std::less<>> name_index_;
};

}  // namespace

TimedEvent timed_event(const YamlTrace& trace, const YamlRecord& record) {
  TimedEvent event;
  event.kind = record.kind == YamlKind::custom_event  ? TimedEvent::Kind::custom
               : record.kind == YamlKind::typed_event ? TimedEvent::Kind::typed
                                                      : TimedEvent::Kind::call;
  if (event.kind == TimedEvent::Kind::call) event.action = static_cast<FunctionAction>(record.kind);
  event.cpu = record.cpu;
  event.event_type = event.kind == TimedEvent::Kind::typed ? record.type : uint16_t{0};
  event.function_id = record.function_id;
  event.tsc = record.tsc;
  if (event.kind != TimedEvent::Kind::call) event.payload = trace.data_of(record);
  return event;
}

bool looks_like_yaml_trace(Bytes file) {
  std::string_view text(reinterpret_cast<const char*>(file.data()),
                        std::min<size_t>(file.size(), 4096));
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with("header:") || line.starts_with("records:")) return true;
    const bool passes = line.empty() || line == "\r" || line.starts_with('#') ||
                        line.starts_with('%') || line.starts_with("---");
    if (!passes) return false;
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return false;
}

Result<YamlTrace> read_yaml_trace(Bytes file, const std::string& file_name, ProblemLog& problems) {
  return Reader(file, file_name, problems).run();
}

}  // namespace telltale::xray
