#include "cli/record/folder_watch.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

namespace telltale::cli {

FolderWatch::FolderWatch(const std::string& folder)
    : events_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
  if (events_ >= 0) ::inotify_add_watch(events_, folder.c_str(), IN_DELETE | IN_MOVED_FROM);
}

FolderWatch::~FolderWatch() {
  if (events_ >= 0) ::close(events_);
}

std::vector<std::string> FolderWatch::removed() {
  constexpr size_t kBufferBytes = 64 * 1024;
  std::vector<std::string> names;
  std::vector<char> buffer(kBufferBytes);
  ssize_t bytes = 0;
  while (events_ >= 0 && (bytes = ::read(events_, buffer.data(), buffer.size())) > 0) {
    for (size_t at = 0; at + sizeof(inotify_event) <= static_cast<size_t>(bytes);) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof(event));
      at += sizeof(event);
      if (event.len != 0) names.emplace_back(buffer.data() + at);  // ends with zeros
      at += event.len;
    }
  }
  return names;
}

}  // namespace telltale::cli
