// TELLTALE_STACKTRACK=dir=/tmp,rotate=64M,clock=16: a program records without a call to
// sink_control.

#include <errno.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include <cstring>

#include "configure.h"
#include "names.h"
#include "system.h"

namespace telltale::st {
namespace {

struct Word {
  const char* begin;
  size_t bytes;
  bool is(const char* text) const {
    return std::strlen(text) == bytes && std::memcmp(begin, text, bytes) == 0;
  }
};

constexpr const char* kVariable = "TELLTALE_STACKTRACK";

// On standard error, cut at 255 bytes.
class Message {
 public:
  Message() { add("telltale-stacktrack: ").add(kVariable).add(": "); }
  Message& add(const Word& word) {
    for (size_t i = 0; i < word.bytes && bytes_ < sizeof(text_) - 1; ++i)
      text_[bytes_++] = word.begin[i];
    return *this;
  }
  Message& add(const char* text) { return add(Word{text, std::strlen(text)}); }
  void write() {
    text_[bytes_++] = '\n';
    write_all(2, text_, bytes_);
  }

 private:
  char text_[256];
  size_t bytes_ = 0;
};

// "64M" is 64 x 2^20. False: it is no number.
template <typename Number>
bool take_number(const Word& word, Number& out) {
  uint64_t number = 0;
  for (size_t i = 0; i < word.bytes; ++i) {
    const char c = word.begin[i];
    if (c >= '0' && c <= '9' && number < UINT64_MAX / 16) {
      number = number * 10 + static_cast<uint64_t>(c - '0');
    } else if (i != 0 && i + 1 == word.bytes && number < UINT64_MAX >> 31 &&
               (c == 'K' || c == 'M' || c == 'G')) {
      number <<= c == 'K' ? 10 : c == 'M' ? 20 : 30;
    } else {
      return false;
    }
  }
  if (word.bytes == 0 || number > static_cast<Number>(-1)) return false;
  out = static_cast<Number>(number);
  return true;
}

void copy_word(const Word& word, char (&text)[kPathBytes]) {
  const size_t bytes = word.bytes < kPathBytes - 1 ? word.bytes : kPathBytes - 1;
  std::memcpy(text, word.begin, bytes);
  text[bytes] = 0;
}

char directory[kPathBytes];
char path[kPathBytes];

// False: there is no such option, or it has no such value.
bool take_option(const Word& name, const Word& value, FileOptions& options) {
  if (name.is("dir") || name.is("path")) {
    const bool is_path = name.is("path");
    if (value.bytes == 0 || value.bytes >= kPathBytes) return false;
    copy_word(value, is_path ? path : directory);
    (is_path ? options.path : options.directory) = is_path ? path : directory;
    return true;
  }
  if (name.is("size")) return take_number(value, default_limit_bytes);
  if (name.is("rotate")) return take_number(value, options.rotate_bytes);
  if (name.is("keep")) return take_number(value, options.keep_files);
  if (name.is("ring")) return take_number(value, options.ring_bytes);
  if (name.is("clock")) return take_number(value, options.clock_every);
  if (name.is("layout")) {
    options.layout = value.is("classic") ? Layout::classic : Layout::wide;
    return value.is("classic") || value.is("wide");
  }
  if (name.is("sequence")) {
    options.sequence = value.is("count") ? Sequence::count : Sequence::clock;
    return value.is("count") || value.is("clock");
  }
  if (name.is("fork")) {
    options.follow_fork = !value.is("no");
    return value.is("no") || value.is("yes");
  }
  return false;
}

// A file has one chunk at least.
bool is_too_small(const FileOptions& options) {
  return options.ring_bytes == 0 && options.rotate_bytes == 0 && default_limit_bytes != 0 &&
         default_limit_bytes < smallest_file(options.layout);
}

// Of the usual errors, without strerror(), which may allocate memory; null: another one.
const char* words_of(int error) {
  switch (error) {
    case ENOENT:
      return "no such file or directory";
    case ENOTDIR:
      return "not a directory";
    case EACCES:
    case EPERM:
      return "permission denied";
    case EROFS:
      return "read-only file system";
    case ENOSPC:
      return "no space left, or a limit of the file size";
    case EMFILE:
    case ENFILE:
      return "too many open files";
    case ENAMETOOLONG:
      return "file name too long";
    default:
      return nullptr;
  }
}

}  // namespace

void open_from_environment() {
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
    if (bytes != 0 && !take_option({at, name_bytes}, value, request.file))
      Message().add("\"").add(Word{at, bytes}).add("\" is no setting; it is ignored").write();
    at += bytes;
    if (*at == ',') ++at;
  }
  int opened = telltale_st_open_v1(&request);
  if (opened == -EEXIST && request.file.path != nullptr) {
    // Another program of the same command, or what this process executed before, has the file. This
    // one gets a derived name in the same folder.
    char* const name = std::strrchr(path, '/');
    if (name != nullptr) {
      name[name == path ? 1 : 0] = 0;
      request.file.directory = path;
    }
    request.file.path = nullptr;
    opened = telltale_st_open_v1(&request);
  }
  if (opened < 0) {
    Message message;
    message.add("nothing is recorded: no file can be opened: ");
    char number[24];
    if (is_too_small(request.file)) {
      write_number(number, sizeof(number), smallest_file(request.file.layout));
      message.add("size must be at least ").add(number).add(" bytes").write();
    } else if (const char* const words = words_of(-opened); words != nullptr) {
      message.add(words).write();
    } else {
      write_number(number, sizeof(number), static_cast<uint64_t>(-opened));
      message.add("error ").add(number).write();
    }
  }
  default_limit_bytes = 0;  // the program's own files are the program's affair
}

}  // namespace telltale::st
