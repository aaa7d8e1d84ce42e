#pragma once

#include <string_view>

#include "program/core_stacks.h"

namespace telltale {

// The line that a debugger prints for a frame, behind its number. gdb: "0x401136 in f (n=3) at
// a.c:15"; LLDB: ": 0x401136 prog`f(n=3) at a.c:15:7". `symbol` is the function's name without
// parameters. Safe on untrusted text.
StackFrame read_debugger_frame(std::string_view line);

// Parentheses that are opened in it less those that are closed; not those in quotes.
int parentheses_open(std::string_view text);

}  // namespace telltale
