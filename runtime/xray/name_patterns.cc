#include "name_patterns.h"

#include "elf_file.h"
#include "plain.h"
#include "state.h"

// Declared here because <stdlib.h> in C++ needs long double, which clang lacks with
// -mgeneral-regs-only.
extern "C" void free(void* memory);
// Of the C++ library.
// NOLINTBEGIN(*-reserved-identifier,*-identifier-naming): its name is what it is
extern "C" __attribute__((weak)) char* __cxa_demangle(const char* name, char* buffer, size_t* bytes,
                                                      int* status);
// NOLINTEND(*-reserved-identifier,*-identifier-naming)

namespace telltale::recorder {
namespace {

using Demangle = char*(const char*, char*, size_t*, int*);

// Matches one set `[...]` at `glob` and advances past it. An unfinished set matches nothing.
bool in_set(const char*& glob, char letter) {
  const bool wanted = glob[1] != '!';
  const char* at = glob + (wanted ? 1 : 2);
  bool found = false;
  for (bool first = true; *at != '\0' && (first || *at != ']'); first = false) {
    const char low = *at++;
    char high = low;
    if (at[0] == '-' && at[1] != ']' && at[1] != '\0') {
      high = at[1];
      at += 2;
    }
    found = found || (low <= letter && letter <= high);
  }
  if (*at == '\0') {
    glob = at;
    return false;
  }
  glob = at + 1;
  return found == wanted;
}

// Without recursion: after a mismatch, the last star takes one more letter.
bool matches(const char* glob, const char* glob_end, const char* text) {
  const char* star = nullptr;
  const char* behind_star = nullptr;
  while (true) {
    if (glob < glob_end && *glob == '*') {
      star = ++glob;
      behind_star = text;
      continue;
    }
    if (*text == '\0') return glob == glob_end;
    const char* next = glob;
    bool same = false;
    if (glob < glob_end) {
      if (*glob == '[') {
        same = in_set(next, *text);
      } else {
        same = *glob == '?' || *glob == *text;
        ++next;
      }
    }
    if (same) {
      glob = next;
      ++text;
    } else if (star != nullptr) {
      glob = star;
      text = ++behind_star;
    } else {
      return false;
    }
  }
}

constexpr int kNames = 5;

// The last glob of the list that matches one of the names: 1 included, 0 excluded, -1 none matches.
int last_match(const char* list, const char* const (&names)[kNames]) {
  int decision = -1;
  while (*list != '\0') {
    const char* end = list;
    while (*end != '\0' && *end != ';') ++end;
    const bool excludes = *list == '!';
    for (const char* name : names) {
      if (name != nullptr && end != list && matches(list + (excludes ? 1 : 0), end, name))
        decision = excludes ? 0 : 1;
    }
    list = *end == '\0' ? end : end + 1;
  }
  return decision;
}

// The start of a demangled name's parameter list: the parenthesis that matches the last one.
size_t parameters_begin(const char* name) {
  size_t at = text_length(name);
  while (at > 0 && name[at - 1] != ')') --at;
  int open = 0;
  while (at > 0) {
    --at;
    if (name[at] == ')') ++open;
    if (name[at] == '(' && --open == 0) return at;
  }
  return text_length(name);
}

// Whether the word at `at` is `operator`, after which brackets and blanks are the operator's.
bool is_operator(const char* name, size_t at) {
  constexpr char kWord[] = "operator";
  const char before = at == 0 ? ' ' : name[at - 1];
  return (before == ' ' || before == ':') && same_bytes(name + at, kWord, sizeof(kWord) - 1);
}

// The end of the return type, which the names of templates begin with; 0: there is none.
size_t own_name_begin(const char* name, size_t parameters) {
  size_t begin = 0;
  int open = 0;
  for (size_t at = 0; at < parameters; ++at) {
    const char letter = name[at];
    if (open == 0 && is_operator(name, at)) break;
    if (letter == '<' || letter == '(' || letter == '[' || letter == '{') ++open;
    const bool closes = letter == '>' ? at != 0 && name[at - 1] != '-' : false;
    if (open != 0 && (closes || letter == ')' || letter == ']' || letter == '}')) --open;
    if (letter == ' ' && open == 0) begin = at + 1;
  }
  return begin;
}

uint64_t program_bias = 0;

// In a program with its own copy of the C++ library (-static-libstdc++), which it does not export.
Demangle* demangler_in_program() {
  const ElfFile program("/proc/self/exe");
  uint64_t found = 0;
  if (program.valid()) {
    program.for_each_function([&](const char* name, uint64_t address) {
      if (same_text(name, "__cxa_demangle")) found = address;
    });
  }
  return found == 0 ? nullptr : reinterpret_cast<Demangle*>(program_bias + found);
}

Demangle* demangler() {
  if (&__cxa_demangle != nullptr) return __cxa_demangle;
  static bool looked = false;
  static Demangle* in_program = nullptr;
  if (!looked) in_program = demangler_in_program();
  looked = true;
  return in_program;
}

}  // namespace

void note_program(uint64_t bias) { program_bias = bias; }

bool is_chosen(const char* list, const char* name) {
  if (*list == '\0') return true;
  char* demangled = nullptr;
  char* plain = nullptr;
  const char* names[kNames] = {name, nullptr, nullptr, nullptr, nullptr};
  if (name[0] == '_' && name[1] == 'Z') {
    Demangle* const demangle = demangler();
    if (demangle == nullptr) {
      state.compares_linkage_names = true;
      __atomic_fetch_or(&state.side->flags, kSideLinkageNames, __ATOMIC_RELAXED);
    } else {
      demangled = demangle(name, nullptr, nullptr, nullptr);
      plain = demangle(name, nullptr, nullptr, nullptr);
    }
  }
  if (demangled != nullptr && plain != nullptr) {
    const size_t parameters = parameters_begin(plain);
    const size_t own = own_name_begin(plain, parameters);
    plain[parameters] = '\0';
    names[1] = demangled;
    names[2] = plain;
    if (own != 0) names[3] = demangled + own;
    if (own != 0) names[4] = plain + own;
  }
  const int decision = last_match(list, names);
  free(demangled);
  free(plain);
  return decision < 0 ? *list == '!' : decision == 1;
}

}  // namespace telltale::recorder
