// TELLTALE_STACKTRACK=dir=/tmp,rotate=64M,clock=16: a program records without a call to
// sink_control.

#include <errno.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include <cstring>

#include "configure.h"

namespace telltale::st {
namespace {

struct Word {
  const char* begin;
  size_t bytes;
  bool is(const char* text) const {
    return std::strlen(text) == bytes && std::memcmp(begin, text, bytes) == 0;
  }
};

// "64M" is 64 x 2^20; 0 if it is not a number.
uint64_t number_of(const Word& word) {
  uint64_t number = 0;
  for (size_t i = 0; i < word.bytes; ++i) {
    const char c = word.begin[i];
    if (c >= '0' && c <= '9' && number < UINT64_MAX / 16) {
      number = number * 10 + static_cast<uint64_t>(c - '0');
    } else if (i + 1 == word.bytes && number < UINT64_MAX >> 31) {
      return c == 'K' ? number << 10 : c == 'M' ? number << 20 : c == 'G' ? number << 30 : 0;
    } else {
      return 0;
    }
  }
  return number;
}

void copy_word(const Word& word, char (&text)[kPathBytes]) {
  const size_t bytes = word.bytes < kPathBytes - 1 ? word.bytes : kPathBytes - 1;
  std::memcpy(text, word.begin, bytes);
  text[bytes] = 0;
}

char directory[kPathBytes];
char path[kPathBytes];

void take_option(const Word& name, const Word& value, FileOptions& options) {
  if (name.is("dir")) {
    copy_word(value, directory);
    options.directory = directory;
  } else if (name.is("path")) {
    copy_word(value, path);
    options.path = path;
  } else if (name.is("size")) {
    default_limit_bytes = number_of(value);
  } else if (name.is("rotate")) {
    options.rotate_bytes = number_of(value);
  } else if (name.is("keep")) {
    options.keep_files = static_cast<uint32_t>(number_of(value));
  } else if (name.is("ring")) {
    options.ring_bytes = number_of(value);
  } else if (name.is("clock")) {
    options.clock_every = static_cast<uint32_t>(number_of(value));
  } else if (name.is("layout")) {
    options.layout = value.is("classic") ? Layout::classic : Layout::wide;
  } else if (name.is("sequence")) {
    options.sequence = value.is("count") ? Sequence::count : Sequence::clock;
  } else if (name.is("fork")) {
    options.follow_fork = !value.is("no");
  }
}

}  // namespace

void open_from_environment() {
  constexpr const char* kVariable = "TELLTALE_STACKTRACK";
  // A program with more privileges than its caller (setuid, capabilities) ignores the variable, and
  // so do programs that it starts with these privileges.
  if (::getauxval(AT_SECURE) != 0) ::unsetenv(kVariable);
  const char* at = ::secure_getenv(kVariable);
  if (at == nullptr || *at == 0) return;
  detail::OpenRequest request{sizeof(detail::OpenRequest), 0, {}, {}, {}};
  while (*at != 0) {
    const size_t bytes = std::strcspn(at, ",");
    const char* const equals = static_cast<const char*>(std::memchr(at, '=', bytes));
    const size_t name_bytes = equals == nullptr ? bytes : static_cast<size_t>(equals - at);
    const Word value{equals == nullptr ? at + bytes : equals + 1,
                     equals == nullptr ? 0 : bytes - name_bytes - 1};
    take_option({at, name_bytes}, value, request.file);
    at += bytes;
    if (*at == ',') ++at;
  }
  if (telltale_st_open_v1(&request) == -EEXIST && request.file.path != nullptr) {
    // Another program of the same command, or what this process executed before, has the file. This
    // one gets a derived name in the same folder.
    char* const name = std::strrchr(path, '/');
    if (name != nullptr) {
      name[name == path ? 1 : 0] = 0;
      request.file.directory = path;
    }
    request.file.path = nullptr;
    telltale_st_open_v1(&request);
  }
  default_limit_bytes = 0;  // the program's own files are the program's affair
}

}  // namespace telltale::st
