#include "cli/options/message.h"

#include <unistd.h>

#include <cerrno>

namespace telltale::cli {
namespace {

thread_local CollectedMessages* collected = nullptr;

}  // namespace

CollectedMessages::CollectedMessages() { collected = this; }

CollectedMessages::~CollectedMessages() { collected = nullptr; }

void pass_message(std::string_view text) {
  if (collected != nullptr) {
    collected->text_ += text;
  } else {
    write_message(text);
  }
}

void write_message(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace telltale::cli
