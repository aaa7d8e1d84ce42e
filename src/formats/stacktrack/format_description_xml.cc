#include "formats/stacktrack/format_description_xml.h"

#include <expat.h>
#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace telltale::stacktrack {
namespace {

constexpr size_t kMaxXmlBytes = size_t{1} << 20;

// "24", "0x18"; empty for other text or more than 32 bits.
std::optional<uint32_t> parse_number(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    base = 16;
  }
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

uint32_t reversed(uint32_t number) { return __builtin_bswap32(number); }

class DescriptionReader {
 public:
  Result<FormatDescription> read(Bytes text) {
    if (text.size() > kMaxXmlBytes) {
      return std::unexpected(Error{
          Error::Cause::limit, {}, "RAW_FORMAT", "a description has at most 1 MiB", std::nullopt});
    }
    const std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser(
        XML_ParserCreate(nullptr), XML_ParserFree);
    if (!parser) throw std::bad_alloc();
    parser_ = parser.get();
    XML_SetUserData(parser_, this);
    XML_SetElementHandler(
        parser_,
        [](void* self, const XML_Char* name, const XML_Char** attributes) {
          static_cast<DescriptionReader*>(self)->begin(name, attributes);
        },
        [](void*, const XML_Char*) {});
    XML_SetStartDoctypeDeclHandler(
        parser_, [](void* self, const XML_Char*, const XML_Char*, const XML_Char*, int) {
          static_cast<DescriptionReader*>(self)->fail("document types are not read");
        });
    const XML_Status status = XML_Parse(parser_, reinterpret_cast<const char*>(text.data()),
                                        static_cast<int>(text.size()), 1);
    if (status != XML_STATUS_OK && !error_) fail(XML_ErrorString(XML_GetErrorCode(parser_)));
    if (!error_ && !begun_) fail("there is no RAW_FORMAT element");
    if (error_) return std::unexpected(*error_);
    if (const Result<void> compiled = made_.compile(); !compiled)
      return std::unexpected(compiled.error());
    return std::move(made_);
  }

 private:
  void fail(std::string detail) {
    if (error_) return;
    error_ = Error{Error::Cause::bad_field,
                   {},
                   "RAW_FORMAT",
                   fmt::format("line {}: {}", XML_GetCurrentLineNumber(parser_), detail),
                   static_cast<uint64_t>(std::max<XML_Index>(XML_GetCurrentByteIndex(parser_), 0))};
    XML_StopParser(parser_, XML_FALSE);
  }

  static std::optional<std::string_view> find(const XML_Char** attributes, std::string_view name) {
    for (; *attributes != nullptr; attributes += 2) {
      if (name == *attributes) return attributes[1];
    }
    return std::nullopt;
  }
  std::string text(const XML_Char** attributes, std::string_view name) {
    return std::string(find(attributes, name).value_or(""));
  }
  uint32_t number(const XML_Char** attributes, std::string_view name) {
    const auto value = find(attributes, name);
    const auto parsed = value ? parse_number(*value) : std::nullopt;
    if (!parsed) fail(fmt::format("attribute {} is missing or not a number", name));
    return parsed.value_or(0);
  }

  void begin(std::string_view element, const XML_Char** attributes) {
    if (error_) return;
    if (element == "RAW_FORMAT") {
      begin_format(attributes);
    } else if (!begun_) {
      fail("the outermost element is not RAW_FORMAT");
    } else if (element == "TYPE") {
      if (made_.types.size() == kMaxTypes) return fail("there are too many types");
      in_header_ = false;
      made_.types.push_back({.tag = text(attributes, "uname"),
                             .name = text(attributes, "name"),
                             .type = text(attributes, "type"),
                             .size = number(attributes, "size"),
                             .index = number(attributes, "typeindex"),
                             .followed_by = text(attributes, "followedby"),
                             .description = text(attributes, "desc"),
                             .members = {}});
    } else if (element == "HEADER") {
      in_header_ = true;
    } else if (element == "MEMBER") {
      begin_member(attributes);
    } else if (element == "FLAG") {
      if (made_.flags.size() == kMaxFlags) return fail("there are too many flags");
      made_.flags.push_back({text(attributes, "name"), number(attributes, "value")});
    }
  }

  void begin_format(const XML_Char** attributes) {
    if (begun_) return fail("there are two RAW_FORMAT elements");
    begun_ = true;
    // The specification prints the version in hexadecimal without a prefix.
    const std::string version = text(attributes, "version");
    const auto parsed = parse_number(version.starts_with("0x") ? version : "0x" + version);
    if (!parsed) return fail("attribute version is missing or not a number");
    made_.version = *parsed;
    made_.entry_size = number(attributes, "size");
    made_.payload_size = number(attributes, "payload_size");
    made_.payload_offset = number(attributes, "payload_offset");
    made_.magic = number(attributes, "magic");
    const uint32_t raw = number(attributes, "magic_raw");
    // The magic's bytes as in a file.
    if (raw == made_.magic) {
      made_.order = std::endian::big;
    } else if (raw == reversed(made_.magic)) {
      made_.order = std::endian::little;
    } else {
      return fail("magic_raw is magic in no byte order");
    }
    const std::string form = text(attributes, "time_form");
    if (form.empty()) return;
    for (size_t i = 0; i < kTimeForms; ++i) {
      if (form != to_string(static_cast<TimeForm>(i))) continue;
      made_.time_form = static_cast<TimeForm>(i);
      return;
    }
    fail("time_form is none of integer, real, timespec, timeval");
  }

  void begin_member(const XML_Char** attributes) {
    if (!in_header_ && made_.types.empty()) return fail("a MEMBER is outside any TYPE");
    std::vector<Member>& members = in_header_ ? made_.header : made_.types.back().members;
    if (members.size() == kMaxMembers) return fail("there are too many members");
    members.push_back({.name = text(attributes, "name"),
                       .type = text(attributes, "type"),
                       .size = number(attributes, "size"),
                       .offset = number(attributes, "offset"),
                       .description = text(attributes, "desc")});
  }

  XML_Parser parser_ = nullptr;
  FormatDescription made_;
  bool begun_ = false;
  bool in_header_ = false;
  std::optional<Error> error_;
};

}  // namespace

Result<FormatDescription> read_format_description(Bytes text) {
  return DescriptionReader().read(text);
}

}  // namespace telltale::stacktrack
