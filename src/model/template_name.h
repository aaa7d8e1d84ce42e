#pragma once

#include <string>
#include <string_view>

namespace telltale {

// The name that all instances of a C++ template share: "S::f" of "S<int>::f" and of
// "S<T<char>>::f". Names of functions that are no templates, and those whose brackets do not match,
// stay as they are.
std::string template_name(std::string_view name);

}  // namespace telltale
