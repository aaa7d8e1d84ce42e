#include "output/escape.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace telltale {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";
constexpr uint32_t kReplacement = 0xFFFD;
constexpr std::string_view kReplacementUtf8 = "\xEF\xBF\xBD";

unsigned char at(std::string_view text, size_t i) { return static_cast<unsigned char>(text[i]); }

// Length of the ASCII prefix; most texts are all ASCII.
size_t ascii_prefix(std::string_view text) {
  constexpr uint64_t kUpperBits = 0x8080'8080'8080'8080;
  size_t ascii = 0;
  for (uint64_t word = 0; text.size() - ascii >= sizeof word; ascii += sizeof word) {
    std::memcpy(&word, text.data() + ascii, sizeof word);
    if ((word & kUpperBits) != 0) break;
  }
  while (ascii < text.size() && at(text, ascii) < 0x80) ++ascii;
  return ascii;
}

struct LeadByte {
  size_t length = 0;  // of the whole sequence; 0: cannot begin one
  unsigned char second_from = 0x80;
  unsigned char second_to = 0xBF;
};

// Unicode 15.0, table 3-7: well-formed UTF-8 byte sequences.
LeadByte lead_byte(unsigned char lead) {
  if (lead < 0x80) return {1};
  if (lead < 0xC2) return {0};
  if (lead < 0xE0) return {2};
  if (lead == 0xE0) return {3, 0xA0, 0xBF};
  if (lead == 0xED) return {3, 0x80, 0x9F};
  if (lead < 0xF0) return {3};
  if (lead == 0xF0) return {4, 0x90, 0xBF};
  if (lead < 0xF4) return {4};
  if (lead == 0xF4) return {4, 0x80, 0x8F};
  return {0};
}

bool is_control(uint32_t c) { return c < 0x20 || (c >= 0x7F && c < 0xA0); }

// Invisible characters that reorder their neighbours, end a line, or hide text.
bool deceives(uint32_t c) {
  return c == 0x00AD || c == 0x061C || c == 0x180E || (c >= 0x200B && c <= 0x200F) ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF ||
         (c >= 0xFFF9 && c <= 0xFFFB) || (c >= 0xE0000 && c <= 0xE007F);
}

void append_byte_escape(std::string& out, unsigned char byte) {
  out += "\\x";
  out += kHexDigits[byte >> 4];
  out += kHexDigits[byte & 15];
}

void append_unicode_escape(std::string& out, uint32_t c) {
  const bool wide = c > 0xFFFF;
  out += wide ? "\\U" : "\\u";
  for (int shift = wide ? 28 : 12; shift >= 0; shift -= 4) out += kHexDigits[(c >> shift) & 15];
}

// Copies runs of bytes with plain[byte] unchanged; passes other characters to `other`.
template <typename Other>
void copy_plain_runs(std::string& out, std::string_view text, const std::array<bool, 256>& plain,
                     Other other) {
  while (!text.empty()) {
    size_t run = 0;
    while (run < text.size() && plain[at(text, run)]) ++run;
    out.append(text.substr(0, run));
    text.remove_prefix(run);
    if (text.empty()) return;
    const TextPiece piece = first_character(text);
    other(piece, text.substr(0, piece.bytes));
    text.remove_prefix(piece.bytes);
  }
}

constexpr std::array<bool, 256> printable_ascii_except(std::string_view special) {
  std::array<bool, 256> plain{};
  for (size_t c = 0x20; c < 0x7F; ++c) plain[c] = true;
  for (const char c : special) plain[static_cast<unsigned char>(c)] = false;
  return plain;
}

void append_visible_piece(std::string& out, const TextPiece& piece, std::string_view bytes) {
  if (!piece.well_formed) {
    for (const char c : bytes) append_byte_escape(out, static_cast<unsigned char>(c));
    return;
  }
  switch (piece.code_point) {
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\\':
      out += "\\\\";
      return;
    default:
      break;
  }
  if (is_control(piece.code_point) && piece.code_point < 0x80) {
    append_byte_escape(out, static_cast<unsigned char>(piece.code_point));
  } else if (is_control(piece.code_point) || deceives(piece.code_point)) {
    append_unicode_escape(out, piece.code_point);
  } else {
    out.append(bytes);
  }
}

void append_json_piece(std::string& out, const TextPiece& piece, std::string_view bytes) {
  switch (piece.code_point) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  if (piece.code_point < 0x20 || piece.code_point == 0x7F) {
    append_unicode_escape(out, piece.code_point);
  } else {
    out.append(piece.well_formed ? bytes : kReplacementUtf8);
  }
}

bool is_xml_character(uint32_t c) {
  return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c != 0xFFFE && c != 0xFFFF);
}

}  // namespace

TextPiece first_character(std::string_view text) {
  const LeadByte lead = lead_byte(at(text, 0));
  if (lead.length == 1) return {at(text, 0), 1, true};
  if (lead.length == 0) return {kReplacement, 1, false};
  uint32_t c = at(text, 0) & (0xFFu >> (lead.length + 1));
  for (size_t i = 1; i < lead.length; ++i) {
    const unsigned char low = i == 1 ? lead.second_from : 0x80;
    const unsigned char high = i == 1 ? lead.second_to : 0xBF;
    if (i >= text.size() || at(text, i) < low || at(text, i) > high)
      return {kReplacement, i, false};
    c = (c << 6) | (at(text, i) & 0x3Fu);
  }
  return {c, lead.length, true};
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const TextPiece piece = first_character(text);
    if (!piece.well_formed) return false;
    text.remove_prefix(piece.bytes);
  }
  return true;
}

bool is_printable_utf8(std::string_view text) {
  while (!text.empty()) {
    const TextPiece piece = first_character(text);
    const bool line_layout = piece.code_point == '\t' || piece.code_point == '\n';
    if (!piece.well_formed || (is_control(piece.code_point) && !line_layout)) return false;
    text.remove_prefix(piece.bytes);
  }
  return true;
}

size_t count_characters(std::string_view text) {
  size_t count = 0;
  while (!text.empty()) {
    const size_t ascii = ascii_prefix(text);
    count += ascii;
    text.remove_prefix(ascii);
    if (text.empty()) break;
    text.remove_prefix(first_character(text).bytes);
    ++count;
  }
  return count;
}

void append_utf8(std::string& out, uint32_t c) {
  const auto put = [&out](uint32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | (c >> 6));
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | (c >> 12));
    put(0x80 | ((c >> 6) & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | (c >> 18));
    put(0x80 | ((c >> 12) & 0x3F));
    put(0x80 | ((c >> 6) & 0x3F));
    put(0x80 | (c & 0x3F));
  }
}

void append_repaired_utf8(std::string& out, std::string_view text) {
  static constexpr auto kPlain = printable_ascii_except("");
  copy_plain_runs(out, text, kPlain, [&out](const TextPiece& piece, std::string_view bytes) {
    out.append(piece.well_formed ? bytes : kReplacementUtf8);
  });
}

void append_visible(std::string& out, std::string_view text) {
  static constexpr auto kPlain = printable_ascii_except("\\");
  copy_plain_runs(out, text, kPlain, [&out](const TextPiece& piece, std::string_view bytes) {
    append_visible_piece(out, piece, bytes);
  });
}

bool is_visible_ascii(std::string_view text) {
  constexpr uint64_t kOnes = 0x0101'0101'0101'0101;
  constexpr uint64_t kUpperBits = kOnes * 0x80;
  static constexpr auto kPlain = printable_ascii_except("\\");
  // Eight bytes at a time: each of them sets its upper bit if it is below a space or above 0x7E;
  // a backslash is a zero byte after the exclusive or.
  while (text.size() >= sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, text.data(), sizeof word);
    const uint64_t backslashes = word ^ kOnes * '\\';
    const uint64_t special = (word - kOnes * ' ') | (word + kOnes) | (backslashes - kOnes);
    if (((special | word) & kUpperBits) != 0) break;
    text.remove_prefix(sizeof word);
  }
  return std::ranges::all_of(text, [](char c) { return kPlain[static_cast<unsigned char>(c)]; });
}

std::string visible(std::string_view text) {
  std::string out;
  append_visible(out, text);
  return out;
}

void append_json(std::string& out, std::string_view text) {
  static constexpr auto kPlain = printable_ascii_except("\"\\");
  copy_plain_runs(out, text, kPlain, [&out](const TextPiece& piece, std::string_view bytes) {
    append_json_piece(out, piece, bytes);
  });
}

void append_json_for_script(std::string& out, std::string_view text) {
  static constexpr auto kPlain = printable_ascii_except("\"\\<>&");
  copy_plain_runs(out, text, kPlain, [&out](const TextPiece& piece, std::string_view bytes) {
    const uint32_t c = piece.code_point;
    if (c == '<' || c == '>' || c == '&' || c == 0x2028 || c == 0x2029) {
      append_unicode_escape(out, c);
    } else {
      append_json_piece(out, piece, bytes);
    }
  });
}

void append_csv(std::string& out, std::string_view text) {
  static constexpr auto kPlain = printable_ascii_except("\"");
  const bool guarded =
      !text.empty() && std::string_view("=+-@\t\r'").find(text[0]) != std::string_view::npos;
  const bool quoted =
      text.find_first_of(std::string_view("\",\r\n\0", 5)) != std::string_view::npos ||
      (!text.empty() && (text.front() == ' ' || text.back() == ' '));
  if (quoted) out += '"';
  if (guarded) out += '\'';
  copy_plain_runs(out, text, kPlain, [&out](const TextPiece& piece, std::string_view bytes) {
    if (piece.code_point == '"') {
      out += "\"\"";
    } else {
      out.append(piece.well_formed ? bytes : kReplacementUtf8);
    }
  });
  if (quoted) out += '"';
}

void append_xml(std::string& out, std::string_view text) {
  static constexpr auto kPlain = printable_ascii_except("&<>\"'");
  copy_plain_runs(out, text, kPlain, [&out](const TextPiece& piece, std::string_view bytes) {
    switch (piece.code_point) {
      case '&':
        out += "&amp;";
        return;
      case '<':
        out += "&lt;";
        return;
      case '>':
        out += "&gt;";
        return;
      case '"':
        out += "&quot;";
        return;
      case '\'':
        out += "&#39;";
        return;
      case '\t':
        out += "&#9;";
        return;
      case '\n':
        out += "&#10;";
        return;
      case '\r':
        out += "&#13;";
        return;
      default:
        break;
    }
    out.append(piece.well_formed && is_xml_character(piece.code_point) ? bytes : kReplacementUtf8);
  });
}

namespace {

void append_dot_piece(std::string& out, std::string_view text) {
  // In labels a backslash begins an escape and an ampersand may begin an HTML entity.
  static constexpr auto kPlain = printable_ascii_except("\"\\&");
  out += '"';
  copy_plain_runs(out, text, kPlain, [&out](const TextPiece& piece, std::string_view bytes) {
    switch (piece.code_point) {
      case '"':
        out += "\\\"";
        return;
      case '\\':
        out += "\\\\";
        return;
      case '&':
        out += "&amp;";
        return;
      default:
        out.append(bytes);
    }
  });
  out += '"';
}

}  // namespace

void append_dot(std::string& out, std::string_view text) {
  // Graphviz reads strings of at most 16 KiB, but joins those between which there is a plus. A
  // character takes at most five times its bytes.
  constexpr size_t kPieceBytes = 3000;
  const std::string shown = visible(text);
  std::string_view rest = shown;
  while (rest.size() > kPieceBytes) {
    size_t bytes = kPieceBytes;
    while ((static_cast<unsigned char>(rest[bytes]) & 0xC0) == 0x80) --bytes;
    append_dot_piece(out, rest.substr(0, bytes));
    out += " + ";
    rest.remove_prefix(bytes);
  }
  append_dot_piece(out, rest);
}

void append_folded(std::string& out, std::string_view text) {
  static constexpr auto kPlain = printable_ascii_except(";\\");
  if (!text.empty() && text[0] == '#') {
    append_byte_escape(out, '#');
    text.remove_prefix(1);
  }
  copy_plain_runs(out, text, kPlain, [&out](const TextPiece& piece, std::string_view bytes) {
    if (piece.code_point == ';') {
      append_byte_escape(out, ';');
    } else {
      append_visible_piece(out, piece, bytes);
    }
  });
}

void append_hex(std::string& out, std::string_view bytes) {
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += kHexDigits[byte >> 4];
    out += kHexDigits[byte & 15];
  }
}

}  // namespace telltale
