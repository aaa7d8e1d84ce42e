#include "mappings.h"

#include <string.h>

#include "system.h"

namespace telltale::paths {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kGuardBytes = uint64_t{1} << 20U;

// A line: 7f00-7f10 r-xp 00001000 fe:01 1234    /usr/lib/libc.so.6
struct Line {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t offset = 0;
  bool is_readable = false;
  bool is_executable = false;
  const char* path = "";
};

uint64_t take_number(const char*& at) {
  uint64_t number = 0;
  for (;; ++at) {
    const char c = *at;
    if (c >= '0' && c <= '9') {
      number = number * 16 + static_cast<uint64_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      number = number * 16 + static_cast<uint64_t>(c - 'a' + 10);
    } else {
      return number;
    }
  }
}

void skip_word(const char*& at) {
  while (*at != ' ' && *at != 0) ++at;
  while (*at == ' ') ++at;
}

Line parse(const char* at) {
  Line line;
  line.begin = take_number(at);
  if (*at == '-') ++at;
  line.end = take_number(at);
  if (*at == ' ') ++at;
  for (const char* flag = at; *flag != ' ' && *flag != 0; ++flag) {
    line.is_readable = line.is_readable || *flag == 'r';
    line.is_executable = line.is_executable || *flag == 'x';
  }
  skip_word(at);
  line.offset = take_number(at);
  for (int word = 0; word < 3; ++word) skip_word(at);  // the rest of the offset, device, inode
  line.path = at;
  return line;
}

// Collects lines, a file at a time.
class Collector {
 public:
  Collector(Mappings& mappings, StackRange* stacks, size_t stack_count, bool code_only)
      : out_(mappings), stacks_(stacks), stack_count_(stack_count), code_only_(code_only) {}

  void add(const Line& line) {
    for (size_t i = 0; i < stack_count_; ++i) {
      StackRange& stack = stacks_[i];
      // mlock() and mprotect() on a part of a stack split it into several mappings.
      if (stack.end != 0 && stack.end == line.begin && line.is_readable) stack.end = line.end;
      // The guard of a stack cannot be read.
      if (stack.address == 0 || stack.end != 0 || line.end <= stack.address || !line.is_readable)
        continue;
      if (line.begin > stack.address && line.begin - stack.address > kGuardBytes) continue;
      stack.begin = line.begin;
      stack.end = line.end;
    }
    if (path_ == nullptr || ::strcmp(path_, line.path) != 0) {
      finish_file();
      begin_file(line);
    }
    if (path_ == nullptr || out_.count == Mappings::kMost) return;
    executable_ = executable_ || line.is_executable;
    out_.all[out_.count++] = {line.begin, line.end, line.offset / kPage, path_};
  }

  void finish_file() {
    if (path_ != nullptr && !executable_ && code_only_) {
      out_.count = first_;
      out_.text_bytes = static_cast<size_t>(path_ - out_.text);
    }
    path_ = nullptr;
  }

 private:
  void begin_file(const Line& line) {
    const size_t bytes = ::strlen(line.path) + 1;
    if (*line.path != '/' || bytes > Mappings::kTextBytes - out_.text_bytes) return;
    char* const path = out_.text + out_.text_bytes;
    ::memcpy(path, line.path, bytes);
    out_.text_bytes += bytes;
    path_ = path;
    first_ = out_.count;
    executable_ = false;
  }

  Mappings& out_;
  StackRange* stacks_;
  size_t stack_count_;
  bool code_only_;
  const char* path_ = nullptr;  // of the file whose lines are added
  size_t first_ = 0;
  bool executable_ = false;
};

void read_files(Mappings& mappings, StackRange* stacks, size_t stack_count, bool code_only) {
  mappings.count = 0;
  mappings.text_bytes = 0;
  Collector collector(mappings, stacks, stack_count, code_only);
  const File file(own_file("/proc/self/maps", "/proc/thread-self/maps"), O_RDONLY);
  static char lines[8192];
  size_t kept = 0;
  for (;;) {
    const long got = file.read(lines + kept, sizeof(lines) - 1 - kept);
    if (got <= 0) break;
    kept += static_cast<size_t>(got);
    lines[kept] = 0;
    char* at = lines;
    for (char* end = ::strchr(at, '\n'); end != nullptr; end = ::strchr(at, '\n')) {
      *end = 0;
      collector.add(parse(at));
      at = end + 1;
    }
    kept -= static_cast<size_t>(at - lines);
    if (kept == sizeof(lines) - 1) kept = 0;  // no line is so long
    ::memmove(lines, at, kept);
  }
  collector.finish_file();
}

}  // namespace

void Mappings::read(StackRange* stacks, size_t stack_count) {
  read_files(*this, stacks, stack_count, true);
  // qemu-user shows no mapping of a file as executable.
  if (count == 0) read_files(*this, stacks, stack_count, false);
}

}  // namespace telltale::paths
