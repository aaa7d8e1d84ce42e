// llvm-xray's YAML of an instrumentation map: a list of mappings, one for each sled.
#include <fmt/format.h>
#include <yaml.h>

#include <charconv>
#include <memory>
#include <utility>

#include "base/sort_rows.h"
#include "program/instrumentation_map.h"

namespace telltale {

namespace {

std::string_view text_of(const yaml_event_t& event) {
  return {reinterpret_cast<const char*>(event.data.scalar.value), event.data.scalar.length};
}

// Decimal or 0x-hexadecimal; false for anything else, or a number that is too large.
bool parse_number(std::string_view text, uint64_t& number) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    base = 16;
  }
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return failure == std::errc() && end == text.data() + text.size() && !text.empty();
}

bool parse_kind(std::string_view text, SledKind& kind) {
  for (unsigned i = 0; i < kNamedSledKinds; ++i) {
    kind = static_cast<SledKind>(i);
    if (text == to_string(kind)) return true;
  }
  uint64_t number = 0;
  if (!text.starts_with("kind-") || !parse_number(text.substr(5), number) || number > 255)
    return false;
  kind = static_cast<SledKind>(number);
  return true;
}

// The events of a YAML text, one at a time. Ends at the first failure.
class YamlEvents {
 public:
  YamlEvents(Bytes bytes, const std::string& file) : file_(file) {
    if (yaml_parser_initialize(&parser_) == 0) throw std::bad_alloc();
    // An empty input has a null pointer, and libyaml asserts that there is none.
    const void* text = bytes.empty() ? "" : static_cast<const void*>(bytes.data());
    yaml_parser_set_input_string(&parser_, static_cast<const unsigned char*>(text), bytes.size());
  }
  YamlEvents(const YamlEvents&) = delete;
  YamlEvents& operator=(const YamlEvents&) = delete;
  ~YamlEvents() {
    yaml_event_delete(&event_);
    yaml_parser_delete(&parser_);
  }

  // Advances to the next event. Errors: bad_field, with its place, if the text is not YAML.
  Result<yaml_event_type_t> next() {
    yaml_event_delete(&event_);
    if (yaml_parser_parse(&parser_, &event_) != 0) return event_.type;
    event_ = {};
    const char* problem = parser_.problem == nullptr ? "cannot be read" : parser_.problem;
    const uint64_t offset =
        parser_.error == YAML_READER_ERROR ? parser_.problem_offset : parser_.problem_mark.index;
    return std::unexpected(Error{
        Error::Cause::bad_field, file_, "YAML map",
        fmt::format("not an instrumentation map, neither ELF nor YAML: {}", problem), offset});
  }
  [[nodiscard]] std::string_view text() const { return text_of(event_); }
  [[nodiscard]] uint64_t offset() const { return event_.start_mark.index; }
  [[nodiscard]] std::unexpected<Error> error(std::string detail) const {
    return std::unexpected(
        Error{Error::Cause::bad_field, file_, "YAML map", std::move(detail), offset()});
  }

 private:
  const std::string& file_;
  yaml_parser_t parser_{};
  yaml_event_t event_{};
};

}  // namespace

class InstrumentationYamlReader {
 public:
  InstrumentationYamlReader(Bytes bytes, const std::string& file, ProblemLog& problems)
      : events_(bytes, file), file_(file), problems_(problems) {}

  Result<InstrumentationMap> read() {
    for (const yaml_event_type_t expected :
         {YAML_STREAM_START_EVENT, YAML_DOCUMENT_START_EVENT, YAML_SEQUENCE_START_EVENT}) {
      const Result<yaml_event_type_t> type = events_.next();
      if (!type) return std::unexpected(type.error());
      if (*type != expected)
        return events_.error(
            "expected a list of sleds: it is neither a program nor XRay's map of one");
    }
    while (true) {
      const Result<yaml_event_type_t> type = events_.next();
      if (!type) return std::unexpected(type.error());
      if (*type == YAML_SEQUENCE_END_EVENT) break;
      if (*type != YAML_MAPPING_START_EVENT)
        return events_.error("expected a sled: { id: ..., address: ... }");
      if (auto sled = read_sled(); !sled) return std::unexpected(sled.error());
    }
    return finish();
  }

 private:
  Result<void> read_sled() {
    Named named;
    named.offset = events_.offset();
    bool has_id = false;
    while (true) {
      Result<yaml_event_type_t> type = events_.next();
      if (!type) return std::unexpected(type.error());
      if (*type == YAML_MAPPING_END_EVENT) break;
      if (*type != YAML_SCALAR_EVENT) return events_.error("expected the name of a field");
      const std::string key(events_.text().substr(0, kLongestKey));
      type = events_.next();
      if (!type) return std::unexpected(type.error());
      if (*type != YAML_SCALAR_EVENT)
        return events_.error(fmt::format("field {} is not a plain value", key));
      if (!set(named, key, events_.text()))
        return events_.error(fmt::format("field {} has no valid value", key));
      has_id = has_id || key == "id";
    }
    if (!has_id) return events_.error("a sled has no id");
    sleds_.push_back(std::move(named));
    return {};
  }

  struct Named {
    Sled sled;
    uint64_t offset = 0;
    std::string name;
  };

  // Unknown fields are allowed; false if a known one has an invalid value.
  static bool set(Named& named, std::string_view key, std::string_view value) {
    uint64_t number = 0;
    Sled& sled = named.sled;
    if (key == "id") {
      if (!parse_number(value, number) || number > UINT32_MAX) return false;
      sled.function_id = static_cast<uint32_t>(number);
      return true;
    }
    if (key == "address") return parse_number(value, sled.address);
    if (key == "function") return parse_number(value, sled.function);
    if (key == "kind") return parse_kind(value, sled.kind);
    if (key == "always-instrument") {
      sled.always_instrument = value == "true";
      return value == "true" || value == "false";
    }
    if (key == "version") {
      if (!parse_number(value, number) || number > 255) return false;
      sled.version = static_cast<uint8_t>(number);
      return true;
    }
    if (key == "function-name") named.name = value;
    return true;
  }

  Result<InstrumentationMap> finish() {
    sort_rows(sleds_, {}, [](const Named& named) { return named.sled.function_id; });
    InstrumentationMap map;
    map.sleds_.reserve(sleds_.size());
    for (Named& named : sleds_) {
      const bool first =
          map.sleds_.empty() || map.sleds_.back().function_id != named.sled.function_id;
      if (first) {
        map.names_.push_back(std::move(named.name));
      } else if (map.sleds_.back().function != named.sled.function) {
        problems_.add(
            {Problem::Kind::corruption, named.offset, file_, "YAML map",
             fmt::format("function {} has two addresses: {:#x} and {:#x}", named.sled.function_id,
                         map.sleds_.back().function, named.sled.function),
             0});
        named.sled.function = map.sleds_.back().function;
      }
      map.sleds_.push_back(named.sled);
    }
    map.group_functions();
    return map;
  }

  static constexpr size_t kLongestKey = 64;
  YamlEvents events_;
  const std::string& file_;
  ProblemLog& problems_;
  std::vector<Named> sleds_;
};

Result<InstrumentationMap> InstrumentationMap::read_yaml(Bytes bytes, const std::string& file,
                                                         ProblemLog& problems) {
  if (bytes.empty())
    return std::unexpected(Error{Error::Cause::bad_magic, file, {}, "the file is empty", 0});
  return InstrumentationYamlReader(bytes, file, problems).read();
}

size_t write_llvm_xray_yaml(
    const InstrumentationMap& map,
    const std::function<std::string(const InstrumentedFunction&)>& quoted_name,
    const std::function<void(std::string_view)>& out) {
  size_t left_out = 0;
  out("---\n");
  for (const InstrumentedFunction& function : map.functions()) {
    const std::string quoted = quoted_name(function);
    for (const Sled& sled : map.sleds(function)) {
      if (sled.kind > SledKind::custom_event) {
        ++left_out;
        continue;
      }
      out(fmt::format(
          "- {{ id: {}, address: 0x{:X}, function: 0x{:X}, kind: {}, always-instrument: {}, "
          "function-name: {}, version: {} }}\n",
          function.id, sled.address, sled.function, to_string(sled.kind), sled.always_instrument,
          quoted, sled.version));
    }
  }
  out("...\n");
  return left_out;
}

}  // namespace telltale
