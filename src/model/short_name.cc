#include "model/short_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "base/trimmed.h"

namespace telltale {
namespace {

constexpr size_t kMaxNesting = 1100;  // more than compilers nest templates: 900 (g++), 1024 (clang)
constexpr size_t kMaxArguments = 24;  // characters between < and >
constexpr size_t kMaxParameters = 60;  // characters between ( and )
constexpr std::string_view kEllipsis = "…";

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// Whether `text` ends with this whole word.
bool ends_with_word(std::string_view text, std::string_view word) {
  return text.ends_with(word) &&
         (text.size() == word.size() || !is_word(text[text.size() - word.size() - 1]));
}

// Length of the symbol of an operator whose brackets and commas are none: "operator<<".
size_t operator_symbol(std::string_view rest) {
  static constexpr auto kSymbols = std::to_array<std::string_view>(
      {"<<=", ">>=", "<=>", "->*", "<<", ">>", "<=", ">=", "->", "()", "[]", "<", ">", ","});
  for (const std::string_view symbol : kSymbols)
    if (rest.starts_with(symbol)) return symbol.size();
  return 0;
}

// Default arguments of the standard library's templates, wherever they stand but first.
bool is_default_argument(std::string_view argument) {
  static constexpr auto kDefaults =
      std::to_array<std::string_view>({"std::allocator<", "std::char_traits<", "std::less<",
                                       "std::hash<", "std::equal_to<", "std::default_delete<"});
  return std::ranges::any_of(kDefaults,
                             [&](std::string_view one) { return argument.starts_with(one); });
}

// Common instantiations that have a name.
void name_instantiation(std::string& text) {
  static constexpr auto kNamed = std::to_array<std::pair<std::string_view, std::string_view>>(
      {{"std::basic_string<char>", "std::string"},
       {"std::basic_string<wchar_t>", "std::wstring"},
       {"std::basic_string_view<char>", "std::string_view"},
       {"std::basic_ostream<char>", "std::ostream"},
       {"std::basic_istream<char>", "std::istream"},
       {"std::basic_iostream<char>", "std::iostream"},
       {"std::basic_ostringstream<char>", "std::ostringstream"},
       {"std::basic_istringstream<char>", "std::istringstream"},
       {"std::basic_stringstream<char>", "std::stringstream"},
       {"std::basic_ofstream<char>", "std::ofstream"},
       {"std::basic_ifstream<char>", "std::ifstream"},
       {"std::basic_streambuf<char>", "std::streambuf"}});
  for (const auto& [instantiation, name] : kNamed) {
    if (!text.ends_with(instantiation)) continue;
    text.replace(text.size() - instantiation.size(), instantiation.size(), name);
    return;
  }
}

// Rewrites a name group by group: a group's text is complete when its bracket closes.
class Folder {
 public:
  // False if the brackets do not match.
  bool fold(std::string_view name, std::string& out) {
    groups_.assign(1, {});
    for (size_t i = 0; i < name.size();) {
      const std::string_view rest = name.substr(i);
      if (const size_t skipped = inline_namespace(rest); skipped != 0) {
        i += skipped;
        continue;
      }
      if (rest.starts_with("[abi:")) {
        const size_t end = rest.find(']');
        if (end == std::string_view::npos) return false;
        i += end + 1;
        continue;
      }
      const char c = name[i];
      if (c == 'o' && rest.starts_with("operator") && (i == 0 || !is_word(name[i - 1]))) {
        constexpr size_t kWord = 8;
        const size_t symbol = operator_symbol(rest.substr(kWord));
        groups_.back().text += rest.substr(0, kWord + symbol);
        i += kWord + symbol;
        continue;
      }
      if (!take(c, name.substr(0, i))) return false;
      ++i;
    }
    if (groups_.size() != 1) return false;
    out = std::move(groups_.back().text);
    return true;
  }

 private:
  struct Group {
    char open = 0;
    std::vector<std::string> arguments = {};  // of <: complete ones
    std::string text = {};
  };

  // Length of "__cxx11::" after "std::".
  size_t inline_namespace(std::string_view rest) const {
    if (!rest.starts_with("__") || !groups_.back().text.ends_with("std::")) return 0;
    for (const std::string_view one : {"__cxx11::", "__1::", "__ndk1::"})
      if (rest.starts_with(one)) return one.size();
    return 0;
  }

  bool take(char c, std::string_view before) {
    Group& group = groups_.back();
    switch (c) {
      case '<':
        // "(a)<(b)" in an expression is no bracket.
        if (!before.empty() && before.back() == ')') break;
        [[fallthrough]];
      case '(':
      case '[':
      case '{':
        if (groups_.size() > kMaxNesting) return false;
        groups_.push_back({c});
        return true;
      case '>':
        if (group.open != '<') break;
        if (before.ends_with('-')) break;  // -> in an expression
        return close_arguments();
      case ')':
        return close('(', c);
      case ']':
        return close('[', c);
      case '}':
        return close('{', c);
      case ',':
        if (group.open != '<') break;
        group.arguments.emplace_back(trimmed(group.text));
        group.text.clear();
        return true;
      default:
        break;
    }
    group.text += c;
    return true;
  }

  bool close(char open, char c) {
    if (groups_.back().open != open) return false;
    const std::string text = std::move(groups_.back().text);
    groups_.pop_back();
    groups_.back().text += open;
    groups_.back().text += text;
    groups_.back().text += c;
    return true;
  }

  bool close_arguments() {
    Group group = std::move(groups_.back());
    groups_.pop_back();
    group.arguments.emplace_back(trimmed(group.text));
    std::string list;
    for (size_t i = 0; i < group.arguments.size(); ++i) {
      if (i != 0 && is_default_argument(group.arguments[i])) continue;
      if (i != 0) list += ", ";
      list += group.arguments[i];
    }
    std::string& text = groups_.back().text;
    const bool is_rust_type = text.empty() || text.ends_with(' ') || text.ends_with(':');
    if (list.size() > kMaxArguments && !is_rust_type) list = kEllipsis;
    text += '<';
    text += list;
    text += '>';
    name_instantiation(text);
    return true;
  }

  std::vector<Group> groups_;
};

// Position after the bracket that closes the one at `open`. REQUIRES: brackets match.
size_t end_of_group(std::string_view name, size_t open) {
  size_t depth = 0;
  for (size_t i = open; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if ((c == ')' || c == ']' || c == '}') && --depth == 0) return i + 1;
  }
  return name.size();
}

// Where the function's own name and its parameters begin, in a name whose arguments are folded.
struct Parts {
  size_t name = 0;
  size_t parameters = std::string_view::npos;  // npos: it has none
};
Parts find_parts(std::string_view name) {
  Parts parts;
  size_t angles = 0;
  for (size_t i = 0; i < name.size();) {
    const char c = name[i];
    const std::string_view before = name.substr(0, i);
    if (angles == 0 && ends_with_word(before, "operator")) {
      const size_t symbol = operator_symbol(name.substr(i));
      if (symbol != 0) {
        i += symbol;
      } else {  // operator new, operator bool: up to the parameters
        while (i < name.size() && name[i] != '(') ++i;
      }
      if (i < name.size() && name[i] == ' ') ++i;  // "operator<< <int>"
      if (i == before.size()) ++i;
      continue;
    }
    if (c == '<') ++angles;
    if (c == '>' && angles != 0) --angles;
    if (c == ' ' && angles == 0) parts.name = i + 1;
    if (c != '(' && c != '{' && c != '[') {
      ++i;
      continue;
    }
    const size_t end = end_of_group(name, i);
    const bool is_scope = name.substr(end).starts_with("::") || angles != 0 || c != '(' ||
                          ends_with_word(before, "decltype") || before.ends_with("decltype ") ||
                          name.substr(i).starts_with("(anonymous namespace)");
    if (!is_scope) {
      parts.parameters = i;
      return parts;
    }
    i = end;
  }
  return parts;
}

// "non-virtual thunk to f()": what precedes the function.
size_t end_of_phrase(std::string_view name) {
  for (const std::string_view phrase :
       {"non-virtual thunk to ", "virtual thunk to ", "covariant return thunk to ",
        "guard variable for ", "transaction clone for ", "TLS init function for ",
        "TLS wrapper function for ", "initializer for module ", "reference temporary #0 for "})
    if (name.starts_with(phrase)) return phrase.size();
  return 0;
}

// The name with folded arguments, and its parts. Nothing if it is to stay as it is.
struct FoldedName {
  std::string text;
  Parts parts;
};
std::optional<FoldedName> fold(std::string_view demangled) {
  FoldedName folded;
  if (!Folder().fold(demangled, folded.text)) return std::nullopt;
  folded.parts = find_parts(folded.text);
  const size_t parameters = folded.parts.parameters;
  // "void (*f<int>(int))(char)": a function that returns a pointer to a function.
  if (parameters != std::string_view::npos &&
      (folded.parts.name == parameters || folded.text[parameters - 1] == ' '))
    folded.parts = {};
  return folded;
}

}  // namespace

namespace {

// "Program:Validate" of Mono's "Program:Validate (Order)" and "(wrapper alloc) Program:Validate
// (Order)". Nothing if it is no name of Mono: there a single colon is before the method, and a
// space after it.
std::optional<std::string_view> mono_method(std::string_view name) {
  const size_t parameters = name.rfind(" (");
  if (parameters == std::string_view::npos || !name.ends_with(')')) return std::nullopt;
  name = name.substr(0, parameters);
  if (name.starts_with("(wrapper ")) {
    const size_t end = name.find(") ");
    if (end == std::string_view::npos) return std::nullopt;
    name.remove_prefix(end + 2);
  }
  const size_t colon = name.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || name[colon - 1] == ':') return std::nullopt;
  return name;
}

// A part of what compilers, and telltale-cc, add to a function's name for a copy of it: f.part.0.
bool is_suffix_of_copy(std::string_view part) {
  constexpr auto kSuffixes = std::to_array<std::string_view>({
      // gcc
      "actor",
      "clone",
      "cold",
      "constprop",
      "default",
      "destroy",
      "ifunc",
      "isra",
      "local_alias",
      "localalias",
      "lto_priv",
      "part",
      "resolver",
      "retn",
      "simdclone",
      // clang
      "Tgm",
      "__part",
      "__uniq",
      "argprom",
      "cleanup",
      "content",
      "eh",
      "extracted",
      "hot",
      "internalized",
      "llvm",
      "memprof",
      "noalloc",
      "resume",
      "specialized",
      "split",
      // telltale-cc
      "aside",
      "asking",
      "fast",
      "first",
      "passed",
      "slow",
      "unchecked",
  });
  if (!part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos) return true;
  // For processors: target_clones.
  return part.starts_with("arch_") || part.starts_with("avx") || part.starts_with("sse") ||
         part.starts_with("_M") || std::ranges::find(kSuffixes, part) != kSuffixes.end();
}

}  // namespace

std::string bare_name(std::string_view demangled) {
  if (const std::optional<std::string_view> method = mono_method(demangled))
    return std::string(*method);
  const std::optional<FoldedName> folded = fold(demangled.substr(end_of_phrase(demangled)));
  if (!folded) return std::string(demangled);
  const auto& [text, parts] = *folded;
  return parts.parameters == std::string_view::npos
             ? text
             : text.substr(parts.name, parts.parameters - parts.name);
}

std::string short_name(std::string_view demangled) {
  const size_t phrase = end_of_phrase(demangled);
  const std::optional<FoldedName> parsed = fold(demangled.substr(phrase));
  if (!parsed) return std::string(demangled);
  const auto& [folded, parts] = *parsed;
  std::string name(demangled.substr(0, phrase));
  if (parts.parameters == std::string_view::npos) return name + folded;
  const size_t end = end_of_group(folded, parts.parameters);
  name.append(folded, parts.name, parts.parameters - parts.name);
  if (end - parts.parameters - 2 > kMaxParameters) {
    name += '(';
    name += kEllipsis;
    name += ')';
  } else {
    name.append(folded, parts.parameters, end - parts.parameters);
  }
  name.append(folded, end);
  return name;
}

std::string template_name(std::string_view name) {
  std::string result;
  size_t depth = 0;
  for (size_t i = 0; i < name.size();) {
    const size_t symbol =
        ends_with_word(name.substr(0, i), "operator") ? operator_symbol(name.substr(i)) : 0;
    if (symbol == 0 && name[i] == '<') {
      ++depth;
    } else if (symbol == 0 && name[i] == '>') {
      if (depth == 0) return std::string(name);
      --depth;
    } else if (depth == 0) {
      result += name.substr(i, std::max<size_t>(symbol, 1));
    }
    i += std::max<size_t>(symbol, 1);
  }
  return depth == 0 ? result : std::string(name);
}

std::string_view without_copy(std::string_view demangled) {
  // Functions of their own: bodies of OpenMP's parallel regions, as clang and gcc name them.
  if (demangled.contains(".omp_outlined") || demangled.contains("._omp_fn.")) return demangled;
  const size_t clone = demangled.find(" [clone .");
  if (clone != std::string_view::npos) return clone == 0 ? demangled : demangled.substr(0, clone);
  if (demangled.contains("...") || demangled.contains('(') || demangled.contains('+'))
    return demangled;
  // Other dots are the name's own: of assembly, of Go, or a file's in _GLOBAL__sub_I_main.cc.
  std::string_view name = demangled;
  for (size_t dot = name.rfind('.'); dot != 0 && dot != std::string_view::npos;
       dot = name.rfind('.')) {
    if (!is_suffix_of_copy(name.substr(dot + 1))) break;
    name = name.substr(0, dot);
  }
  return name;
}

}  // namespace telltale
