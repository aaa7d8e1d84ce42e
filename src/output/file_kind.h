#pragma once

#include <string>
#include <string_view>

namespace telltale {

// How many bytes of a file's beginning file_kind() looks at.
inline constexpr size_t kKindBytes = 4096;

// What kind of file begins with these bytes, in words: "an ELF file", "a JSON file that begins with
// {"telltale"". Two files are of one kind if the words are equal; the words of a text file are its
// first one. "an empty file" for no bytes.
std::string file_kind(std::string_view head);

}  // namespace telltale
