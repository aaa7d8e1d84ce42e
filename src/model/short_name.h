#pragma once

#include <string>
#include <string_view>

namespace telltale {

// A demangled name of C++ or Rust as people say it (docs/analysis/names.md): without return type,
// inline namespaces of the standard library, ABI tags and default template arguments; std::string
// for std::basic_string<char>; template arguments and parameters that are longer than a few words
// become `…`. A name that cannot be parsed stays as it is. Linear in the length of the name, except
// for its nesting, which is limited.
std::string short_name(std::string_view demangled);
// The short name without parameters and what follows them: "ns::twice<int>"; of Mono's methods
// without the kind of wrapper: "Program:Validate".
std::string bare_name(std::string_view demangled);

// The name that all instances of a C++ template share: "S::f" of "S<int>::f" and of
// "S<T<char>>::f". Names of functions that are no templates, and those whose brackets do not match,
// stay as they are.
std::string template_name(std::string_view name);

// The name of the function of which compilers made a copy: f of f.part.0, f.cold or f.slow
// (telltale-cc's), of C++ "f(int) [clone .cold]"; not of the bodies of OpenMP's parallel regions.
// Symbol tables have such names, debug information does not. Other names stay as they are, with
// dots of their own, such as _GLOBAL__sub_I_main.cc.
std::string_view without_copy(std::string_view demangled);

}  // namespace telltale
