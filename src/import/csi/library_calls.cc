#include "import/csi/library_calls.h"

#include <algorithm>
#include <array>

#include "formats/csi/wire.h"

namespace telltale {
namespace {

// Sorted. They use what their arguments are or point to, write none of the program's memory, and
// call nothing of the program. Those that print have memory of their own.
constexpr auto kOnlyRead = std::to_array<std::string_view>(
    {"abort",   "abs",         "acos",       "asin",    "atan",    "atan2",    "atof",    "atoi",
     "atol",    "atoll",       "calloc",     "ceil",    "clock",   "close",    "cos",     "cosh",
     "exit",    "exp",         "fabs",       "fflush",  "floor",   "fmod",     "fopen",   "fprintf",
     "fputc",   "fputs",       "fwrite",     "getenv",  "getpid",  "isalnum",  "isalpha", "isatty",
     "isdigit", "islower",     "isprint",    "isspace", "isupper", "isxdigit", "labs",    "llabs",
     "log",     "log10",       "malloc",     "memchr",  "memcmp",  "open",     "perror",  "pow",
     "printf",  "putc",        "putchar",    "puts",    "rand",    "round",    "sin",     "sinh",
     "sqrt",    "srand",       "strcasecmp", "strchr",  "strcmp",  "strcoll",  "strcspn", "strdup",
     "strlen",  "strncasecmp", "strncmp",    "strndup", "strnlen", "strpbrk",  "strrchr", "strspn",
     "strstr",  "tan",         "tanh",       "tolower", "toupper", "trunc",    "write"});
// Sorted. They write what their arguments point to, and nothing else. Freed memory may be read.
constexpr auto kArgumentsOnly = std::to_array<std::string_view>(
    {"fclose",  "fgetc",   "fgets",   "fread",    "free",      "fscanf",  "getc",     "getline",
     "memccpy", "memcpy",  "memmove", "memset",   "read",      "realloc", "snprintf", "sprintf",
     "sscanf",  "stpcpy",  "strcat",  "strcpy",   "strncat",   "strncpy", "strtod",   "strtok_r",
     "strtol",  "strtoll", "strtoul", "strtoull", "vsnprintf", "vsprintf"});
static_assert(std::ranges::is_sorted(kOnlyRead));
static_assert(std::ranges::is_sorted(kArgumentsOnly));

// glibc's headers give some functions another symbol.
std::string_view plain_name(std::string_view symbol) {
  constexpr std::string_view kIso = "__isoc99_";
  constexpr std::string_view kIso23 = "__isoc23_";
  for (const std::string_view prefix : {kIso, kIso23})
    if (symbol.starts_with(prefix)) return symbol.substr(prefix.size());
  // With _FORTIFY_SOURCE: `__memcpy_chk`.
  if (symbol.starts_with("__") && symbol.ends_with("_chk"))
    return symbol.substr(2, symbol.size() - 6);
  return symbol;
}

}  // namespace

void add_library_effects(std::string_view callee, FunctionData::Call& call) {
  const std::string_view name = plain_name(callee);
  const bool only_reads = std::ranges::binary_search(kOnlyRead, name) || csi::is_of_runtime(callee);
  if (!only_reads && !std::ranges::binary_search(kArgumentsOnly, name)) return;
  call.calls_back = false;
  call.arguments_only = true;
  if (only_reads) call.writes = false;
}

}  // namespace telltale
