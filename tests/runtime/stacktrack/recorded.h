#pragma once

// Shared by tests of the StackTrack recorder: a reader of its files that is fast enough for a
// thousand of them (the wide layout, docs/formats/stacktrack.md), and a way to fail.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <telltale/stacktrack.hpp>
#include <vector>

#include "formats/stacktrack/wire.h"

namespace recorded {

[[noreturn, gnu::format(printf, 1, 2)]] inline void fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::fprintf(stderr, "FAILED: ");
  std::vfprintf(stderr, format, arguments);
  std::fprintf(stderr, "\n");
  va_end(arguments);
  std::_Exit(1);
}

struct Hit {
  uint64_t sequence;
  uint32_t tid;
  uint32_t scope;
  bool exit;
  uint64_t when;
  std::string text;
};

struct File {
  std::vector<Hit> hits;  // by thread and sequence
  std::map<uint32_t, std::string> names;
  std::map<uint32_t, uint32_t> cycles;  // writeCount of a scope's last SLOC
  std::map<uint32_t, uint64_t> lost;
  uint64_t torn = 0;     // texts without an end or a beginning
  uint64_t unnamed = 0;  // hits whose scope has no SLOC in this file
  uint64_t headers = 0;  // PROLOGUE
  uint32_t pid = 0;
  size_t bytes = 0;

  uint64_t all_lost() const {
    uint64_t sum = 0;
    for (const auto& [reason, count] : lost) sum += reason <= 4 ? count : 0;
    return sum;
  }
};

inline std::vector<char> read_bytes(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status{};
  if (file < 0 || fstat(file, &status) != 0) fail("%s cannot be opened", path.c_str());
  std::vector<char> bytes(static_cast<size_t>(status.st_size));
  if (read(file, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
    fail("%s: short", path.c_str());
  close(file);
  return bytes;
}

template <typename T>
T load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

class Reader {
 public:
  explicit Reader(const std::string& path) : bytes_(read_bytes(path)) {
    using namespace telltale::stacktrack;
    file.bytes = bytes_.size();
    size_t at = 0;
    while (at + wide::kPageBytes <= bytes_.size()) {
      const auto head = load<wide::Head>(bytes_.data() + at);
      const auto stream = load<wide::Stream>(bytes_.data() + at + wide::kPayloadOffset);
      const bool chunk = head.flags == (static_cast<uint16_t>(RecordType::stream) | kChunkStart) &&
                         stream.chunk_bytes != 0 && stream.chunk_bytes % wide::kPageBytes == 0 &&
                         stream.chunk_bytes <= bytes_.size() - at;
      if (!chunk) {
        at += wide::kPageBytes;
        continue;
      }
      read_chunk(at, at + stream.chunk_bytes);
      at += stream.chunk_bytes;
    }
    for (const Hit& hit : file.hits) file.unnamed += file.names.count(hit.scope) == 0 ? 1 : 0;
    std::sort(file.hits.begin(), file.hits.end(), [](const Hit& a, const Hit& b) {
      return a.tid != b.tid ? a.tid < b.tid : a.sequence < b.sequence;
    });
  }

  File file;

 private:
  void read_chunk(size_t at, size_t end) {
    using namespace telltale::stacktrack;
    bool mine = true;
    uint16_t owner = 0;
    for (; at < end; at += wide::kEntryBytes) {
      const auto head = load<wide::Head>(bytes_.data() + at);
      if (head.pid == 0 && head.flags == 0) continue;
      const char* const payload = bytes_.data() + at + wide::kPayloadOffset;
      const auto type = static_cast<RecordType>(head.flags & kTypeMask);
      if (type == RecordType::stream) {
        mine = load<wide::Stream>(payload).tid == 0;
        owner = head.stream;
      } else if (mine || head.stream == owner || !ring_) {
        read_record(type, head, payload, at);
      }
    }
  }

  void read_record(telltale::stacktrack::RecordType type,
                   const telltale::stacktrack::wide::Head& head, const char* payload, size_t at) {
    using namespace telltale::stacktrack;
    const std::string text = (head.flags & kHasInfo) != 0 ? text_behind(at, head.sequence) : "";
    file.pid = head.pid;
    if (type == RecordType::hit) {
      const auto hit = load<wide::Hit>(payload);
      file.hits.push_back(
          {head.sequence, hit.tid, hit.scope_index, (head.flags & kExit) != 0, hit.when, text});
    } else if (type == RecordType::source_location) {
      const auto site = load<wide::SourceLocation>(payload);
      file.names[site.scope_index] = text;
      file.cycles[site.scope_index] = site.write_count;
    } else if (type == RecordType::lost) {
      const auto lost = load<wide::Lost>(payload);
      file.lost[lost.reason] += lost.count;
    } else if (type == RecordType::prologue) {
      ++file.headers;
      ring_ = load<wide::Prologue>(payload).ring_bytes != 0;
    }
  }

  // The recorder writes a record's text directly after it.
  std::string text_behind(size_t at, uint64_t sequence) {
    using namespace telltale::stacktrack;
    std::string text;
    for (at += wide::kEntryBytes; at + wide::kEntryBytes <= bytes_.size();
         at += wide::kEntryBytes) {
      const auto head = load<wide::Head>(bytes_.data() + at);
      if ((head.flags & kTypeMask) != kTypeMask || head.sequence != sequence) break;
      text.append(bytes_.data() + at + wide::kPayloadOffset, kInfoBytes);
      if ((head.flags & kInfoEnd) == 0) continue;
      return text.substr(0, text.find('\0'));
    }
    ++file.torn;
    return text;
  }

  std::vector<char> bytes_;
  bool ring_ = false;
};

inline File read_file(const std::string& path) { return Reader(path).file; }

// Hits of one thread, in order.
inline std::map<uint32_t, std::vector<Hit>> by_thread(const File& file) {
  std::map<uint32_t, std::vector<Hit>> threads;
  for (const Hit& hit : file.hits) threads[hit.tid].push_back(hit);
  return threads;
}

// A folder that is removed with all its files at the end.
class Folder {
 public:
  Folder() {
    char name[] = "/tmp/telltale_stacktrack.XXXXXX";
    if (mkdtemp(name) == nullptr) fail("no folder");
    path = name;
  }
  ~Folder() { (void)!std::system(("rm -rf " + path).c_str()); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::vector<std::string> files() const {
    std::vector<std::string> found;
    FILE* const list = popen(("ls " + path + "/*.tlg 2>/dev/null").c_str(), "r");
    char line[4096];
    while (list != nullptr && std::fgets(line, sizeof(line), list) != nullptr)
      found.emplace_back(line, std::strlen(line) - 1);
    if (list != nullptr) pclose(list);
    return found;
  }

  std::string path;
};

inline int open_file(const Folder& folder, telltale::st::FileOptions options = {}) {
  options.directory = folder.path.c_str();
  const int sink = telltale::st::sink_control::open(options);
  if (sink < 0) fail("open: %s", std::strerror(-sink));
  return sink;
}

// Tests are short unless TELLTALE_LONG is in the environment.
inline long how_many(long brief, long long_form) {
  return std::getenv("TELLTALE_LONG") == nullptr ? brief : long_form;
}

}  // namespace recorded
