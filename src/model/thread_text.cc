#include "model/thread_text.h"

#include <fmt/format.h>

namespace telltale {

std::string process_text(const ThreadKey& thread) {
  return thread.process == 0 ? fmt::format("{}", thread.pid)
                             : fmt::format("{}.{}", thread.pid, thread.process);
}

std::string thread_text(const ThreadKey& thread) {
  if (thread.pid == 0 && thread.process == 0) return fmt::format("{}", thread.tid);
  return fmt::format("{}:{}", process_text(thread), thread.tid);
}

std::string short_thread_text(const ThreadKey& thread) {
  return thread.process == 0 ? fmt::format("{}", thread.tid) : thread_text(thread);
}

}  // namespace telltale
