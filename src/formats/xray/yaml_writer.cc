#include "formats/xray/yaml_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <utility>

#include "base/append_format.h"
#include "base/joined.h"

namespace telltale::xray {
namespace {

constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool is_alphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// The length of the UTF-8 sequence at the beginning of `text`; 0 if it is invalid (RFC 3629).
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first < 0xC2   ? 0
                        : first < 0xE0 ? 2
                        : first < 0xF0 ? 3
                        : first < 0xF5 ? 4
                                       : 0;
  if (length == 0 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  if (first == 0xE0 && byte(1) < 0xA0) return 0;  // overlong
  if (first == 0xED && byte(1) > 0x9F) return 0;  // surrogates
  if (first == 0xF0 && byte(1) < 0x90) return 0;
  if (first == 0xF4 && byte(1) > 0x8F) return 0;
  return length;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

// Text that YAML would read as a number, a truth value or null.
bool reads_as_other_type(std::string_view text) {
  static constexpr std::array<std::string_view, 11> kWords = {
      "null", "Null", "NULL", "~", "true", "True", "TRUE", "false", "False", "FALSE", "."};
  for (const std::string_view word : kWords) {
    if (text == word) return true;
  }
  std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  if (digits.starts_with("0x") || digits.starts_with("0o")) return true;
  if (digits.starts_with(".inf") || digits.starts_with(".nan")) return true;
  double number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error != std::errc::invalid_argument && end == digits.data() + digits.size();
}

enum class Quotes : uint8_t { none, single, twice };

Quotes quotes_for(std::string_view text) {
  if (text.empty()) return Quotes::single;
  bool plain = text.front() != '-' && text.front() != ' ' && text.back() != ' ' &&
               !reads_as_other_type(text);
  for (const char c : text) {
    if (static_cast<uint8_t>(c) < 0x20 || static_cast<uint8_t>(c) >= 0x7F) return Quotes::twice;
    plain =
        plain && (is_alphanumeric(c) || c == '_' || c == '-' || c == '^' || c == '.' || c == ' ');
  }
  return plain ? Quotes::none : Quotes::single;
}

void append_double_quoted(std::string_view text, std::string& out) {
  out += '"';
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const char c = text.front();
    if (length > 1) {
      // Characters beyond ASCII are written as code points, so that none can act as a line end or
      // reorder text.
      uint32_t point = static_cast<uint8_t>(c) & (0x7FU >> length);
      for (size_t i = 1; i < length; ++i)
        point = point << 6 | (static_cast<uint8_t>(text[i]) & 0x3FU);
      out += point > 0xFFFF ? fmt::format("\\U{:08X}", point) : fmt::format("\\u{:04X}", point);
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<uint8_t>(c) < 0x20 || c == 0x7F) {
      append_format(out, "\\x{:02X}", static_cast<uint8_t>(c));
    } else {
      out += c;
    }
    text.remove_prefix(length);
  }
  out += '"';
}

void append_base64(std::string_view bytes, std::string& out) {
  while (!bytes.empty()) {
    uint32_t group = 0;
    for (size_t i = 0; i < 3; ++i) {
      group = group << 8 | (i < bytes.size() ? static_cast<uint8_t>(bytes[i]) : 0U);
    }
    for (size_t i = 0; i < 4; ++i) {
      out += i <= bytes.size() ? kBase64[(group >> (18 - 6 * i)) & 63] : '=';
    }
    bytes.remove_prefix(std::min<size_t>(3, bytes.size()));
  }
}

std::string_view kind_name(const TimedEvent& event) {
  static constexpr std::array<std::string_view, 4> kCalls = {
      "function-enter", "function-exit", "function-tail-exit", "function-enter-arg"};
  if (event.kind == TimedEvent::Kind::custom) return "custom-event";
  if (event.kind == TimedEvent::Kind::typed) return "typed-event";
  return kCalls[static_cast<size_t>(event.action)];
}

}  // namespace

void append_yaml_scalar(std::string_view text, std::string& out) {
  if (!is_utf8(text)) {
    out += "!!binary \"";
    append_base64(text, out);
    out += '"';
    return;
  }
  switch (quotes_for(text)) {
    case Quotes::none:
      out += text;
      break;
    case Quotes::single:
      out += '\'';
      for (const char c : text) out += c == '\'' ? "''" : std::string(1, c);
      out += '\'';
      break;
    case Quotes::twice:
      append_double_quoted(text, out);
      break;
  }
}

YamlWriter::YamlWriter(const FileHeader& header,
                       std::function<std::string(uint32_t id)> function_name, BlockWriter& out)
    : function_name_(std::move(function_name)), out_(out) {
  out_.write(fmt::format(
      "---\nheader:\n  version:         {}\n  type:            {}\n  constant-tsc:    {}\n"
      "  nonstop-tsc:     {}\n  cycle-frequency: {}\nrecords:",
      header.version, static_cast<unsigned>(header.type), header.constant_tsc, header.nonstop_tsc,
      header.cycle_frequency));
}

void YamlWriter::write(const TimedEvent& event, const Thread& thread,
                       std::span<const uint64_t> arguments) {
  const bool call = event.kind == TimedEvent::Kind::call;
  std::string& out = out_.block();
  if (!any_) out += '\n';
  any_ = true;
  const auto append = [&]<typename... Values>(fmt::format_string<Values...> format,
                                              Values&&... values) {
    append_format(out, format, std::forward<Values>(values)...);
  };
  append("  - {{ type: {}, func-id: {}, function: ", event.event_type,
         call ? static_cast<int32_t>(event.function_id) : 0);
  if (!call) {
    out += "''";
  } else if (function_name_) {
    append_yaml_scalar(function_name_(event.function_id), out);
  } else {
    append("'{}'", event.function_id);
  }
  if (!arguments.empty()) append(", args: [ {} ]", joined(arguments, ", "));
  append(", cpu: {}, thread: {}", event.cpu, thread.tid);
  if (thread.pid != 0) append(", process: {}", thread.pid);
  append(", kind: {}, tsc: {}, data: ", kind_name(event), event.tsc);
  append_yaml_scalar({reinterpret_cast<const char*>(event.payload.data()), event.payload.size()},
                     out);
  out += " }\n";
  out_.flush_if_full();
}

void YamlWriter::finish() { out_.write(any_ ? "...\n" : "         []\n...\n"); }

}  // namespace telltale::xray
