#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace telltale {

// Escaping of untrusted text from recordings and programs, for every output syntax; no other file
// escapes. Every function accepts arbitrary bytes and appends to `out`. docs/exports.md, "Names",
// has the rules.

// One decoded character: a code point, or the bytes of an ill-formed sequence.
struct TextPiece {
  uint32_t code_point = 0;  // U+FFFD when ill-formed
  size_t bytes = 0;         // consumed; at least 1
  bool well_formed = false;
};
// Decodes the first character of `text` as UTF-8 (Unicode 15, table 3-7). An ill-formed sequence is
// its maximal subpart, as in the WHATWG encoding standard. REQUIRES: text is not empty.
TextPiece first_character(std::string_view text);
bool is_utf8(std::string_view text);
// Whether text is well-formed UTF-8 of printable characters, tabs and line feeds.
bool is_printable_utf8(std::string_view text);
// Number of code points (ill-formed pieces count as one).
size_t count_characters(std::string_view text);
void append_utf8(std::string& out, uint32_t code_point);
// The text with U+FFFD for each ill-formed piece.
void append_repaired_utf8(std::string& out, std::string_view text);

// One line of visible text, for terminals and for formats without an escape syntax: control
// characters, characters that reorder or hide text and ill-formed bytes become \n, \t, \x1b,
// \u202e; a backslash is doubled. Reversible.
void append_visible(std::string& out, std::string_view text);
std::string visible(std::string_view text);
// Whether the text is visible as it is, and in ASCII: it has as many characters as bytes.
bool is_visible_ascii(std::string_view text);

// The inside of a JSON string (RFC 8259), without the quotes; ill-formed pieces become U+FFFD.
void append_json(std::string& out, std::string_view text);
// The same, also safe inside an HTML <script> element: < > & and the two line separators become \u
// escapes.
void append_json_for_script(std::string& out, std::string_view text);

// A CSV field (RFC 4180), quoted if necessary. A field that a spreadsheet would interpret as a
// formula (it begins with = + - @ tab or carriage return), or that begins with an apostrophe, gets
// an apostrophe as prefix: readers remove one leading apostrophe. Ill-formed pieces become U+FFFD.
void append_csv(std::string& out, std::string_view text);

// Text or an attribute value in XML 1.0 and HTML. Characters that XML cannot hold become U+FFFD;
// tabs and line ends become references, so that they survive attribute normalisation.
void append_xml(std::string& out, std::string_view text);

// A quoted DOT string, quotes included, that shows as visible(text). A long one is the sum of
// several.
void append_dot(std::string& out, std::string_view text);

// A frame of a folded stack: visible(text) with ; as \x3b and a leading # as \x23.
void append_folded(std::string& out, std::string_view text);

// Lower-case hexadecimal digits, two per byte.
void append_hex(std::string& out, std::string_view bytes);

}  // namespace telltale
