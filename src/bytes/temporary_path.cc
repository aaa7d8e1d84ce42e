#include "bytes/temporary_path.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "bytes/spool.h"

namespace telltale {
namespace {

// More are removed by their owners alone.
constexpr size_t kMostRegistered = 64;
// What the signal handler removes. Whoever takes a name out of it owns the name.
constinit std::array<std::atomic<char*>, kMostRegistered> registered;

char* add_to_registered(const std::string& path) {
  char* const name = ::strdup(path.c_str());
  for (std::atomic<char*>& slot : registered) {
    char* empty = nullptr;
    if (name != nullptr && slot.compare_exchange_strong(empty, name)) return name;
  }
  std::free(name);
  return nullptr;
}

// A name that the handler has taken stays allocated: the process ends.
void take_from_registered(char* name) {
  for (std::atomic<char*>& slot : registered) {
    char* expected = name;
    if (name == nullptr || !slot.compare_exchange_strong(expected, nullptr)) continue;
    std::free(name);
    return;
  }
}

// The process whose files they are; a child that it forks has only a copy of the list. 0: signals
// remove nothing.
constinit std::atomic<pid_t> owner;

// The functions for folders of the C library allocate memory, which a signal handler must not.
struct FolderEntries {
  alignas(dirent64) std::array<char, 2048> bytes;
  long filled = 0;
  long next = 0;

  const char* read(int folder) {
    if (next >= filled) {
      filled = ::syscall(SYS_getdents64, folder, bytes.data(), bytes.size());
      next = 0;
      if (filled <= 0) return nullptr;
    }
    const auto* const entry = reinterpret_cast<const dirent64*>(bytes.data() + next);
    next += entry->d_reclen;
    return entry->d_name;
  }
};

constexpr int kDeepest = 64;       // folders in folders
constexpr int kMostAttempts = 50;  // others may still write into a folder

// Async-signal-safe. Does not follow links.
bool remove_tree(int parent, const char* name, int depth) {  // NOLINT(misc-no-recursion)
  if (::unlinkat(parent, name, 0) == 0) return true;
  if (errno != EISDIR || depth == kDeepest) return false;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    if (::unlinkat(parent, name, AT_REMOVEDIR) == 0) return true;
    if (errno != ENOTEMPTY && errno != EEXIST) return false;
    const int folder = ::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) return false;
    FolderEntries entries;
    while (const char* const entry = entries.read(folder)) {
      if (std::strcmp(entry, ".") != 0 && std::strcmp(entry, "..") != 0)
        remove_tree(folder, entry, depth + 1);
    }
    ::close(folder);
  }
  return false;
}

void remove_and_end(int signal) {
  if (::getpid() == owner) {
    for (std::atomic<char*>& slot : registered) {
      const char* const name = slot.exchange(nullptr);
      if (name != nullptr) remove_tree(AT_FDCWD, name, 0);
    }
  }
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  ::sigaction(signal, &standard, nullptr);
  ::raise(signal);  // blocked until this returns
}

}  // namespace

TemporaryPath::TemporaryPath(std::string path)
    : path_(std::move(path)), registered_(add_to_registered(path_)) {}

Result<TemporaryPath> TemporaryPath::make_folder(const std::string& prefix) {
  return make_folder_in(temporary_folder(), prefix);
}

Result<TemporaryPath> TemporaryPath::make_folder_in(const std::string& folder,
                                                    const std::string& prefix) {
  std::string name = folder + "/" + prefix + "XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) return io_error(name, "cannot be made", errno);
  return TemporaryPath(std::move(name));
}

TemporaryPath::TemporaryPath(TemporaryPath&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      registered_(std::exchange(other.registered_, nullptr)) {}

TemporaryPath& TemporaryPath::operator=(TemporaryPath&& other) noexcept {
  if (this == &other) return *this;
  remove();
  path_ = std::exchange(other.path_, {});
  registered_ = std::exchange(other.registered_, nullptr);
  return *this;
}

void TemporaryPath::release() {
  take_from_registered(std::exchange(registered_, nullptr));
  path_.clear();
}

void TemporaryPath::remove() {
  if (!path_.empty()) remove_tree(AT_FDCWD, path_.c_str(), 0);
  release();
}

void remove_temporary_paths_on_signals() {
  constexpr std::array kEndings = {SIGHUP,  SIGINT,  SIGQUIT, SIGPIPE, SIGALRM,
                                   SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU};
  owner = ::getpid();
  struct sigaction removing{};
  removing.sa_handler = remove_and_end;
  sigemptyset(&removing.sa_mask);
  for (const int signal : kEndings) sigaddset(&removing.sa_mask, signal);
  for (const int signal : kEndings) {
    struct sigaction there{};
    if (::sigaction(signal, nullptr, &there) == 0 && there.sa_handler == SIG_DFL)
      ::sigaction(signal, &removing, nullptr);
  }
}

}  // namespace telltale
