#pragma once

// The two files of a recording. All functions: async-signal-safe; system calls only.

#include <stdint.h>

#include <cstddef>

#include "plain.h"

namespace telltale::recorder {

constexpr size_t kMostPath = 1200;
using Path = Text<kMostPath>;

// A file that is mapped at its maximum length, and whose blocks are allocated before they are
// touched, so that a full disk is reported here and never as SIGBUS.
class MappedFile {
 public:
  // Creates `path`, which must not exist, mode 0600, and maps `most_bytes` of it; fewer if the
  // address space has no room (bytes_mapped()). 0, or -errno: neither file nor mapping is left.
  long create(const char* path, size_t most_bytes, size_t first_bytes);
  // From now on forked children share the first page, and nothing else.
  void share_head_with_children();
  // That page, also in a child that has not called forget(); null: it is not shared.
  [[nodiscard]] std::byte* shared_head() const { return shares_head_ ? base_ : nullptr; }
  // Allocates the file's first `bytes` bytes. False: no space, over a limit, or the file is no
  // longer the one that was opened.
  bool grow(size_t bytes);
  // Releases everything after `bytes`.
  void cut(size_t bytes);
  // Gives up the file, which is the parent's. For a forked child.
  void forget();
  // Before another recording: gives up the file, which has its final size. Its pages stay mapped,
  // because interrupted hooks may still count events there.
  void retire();
  // Replaces the mapping by private memory, because the file was truncated under it. Returns
  // whether `address` is in the mapping.
  bool replace_if_holds(const void* address);

  [[nodiscard]] std::byte* base() const { return base_; }
  [[nodiscard]] size_t mapped() const { return mapped_; }
  [[nodiscard]] size_t allocated() const { return allocated_; }

 private:
  // A descriptor of the file, for one operation.
  class Use;
  [[nodiscard]] int descriptor();
  [[nodiscard]] int open_again() const;
  [[nodiscard]] bool is_ours(int descriptor) const;
  void close_descriptor();
  void close_former();
  [[nodiscard]] bool allocate(int descriptor, size_t from, size_t bytes) const;

  std::byte* base_ = nullptr;
  size_t mapped_ = 0;
  size_t allocated_ = 0;
  bool shares_head_ = false;
  int descriptor_ = -1;
  uint64_t device_ = 0;
  uint64_t inode_ = 0;
  // The descriptor of a file that a thread with a separate descriptor table gave up; another thread
  // closes it.
  struct {
    int descriptor = -1;
    uint64_t device = 0;
    uint64_t inode = 0;
  } former_;
  Path path_{Path::Zeros{}};
};

extern MappedFile trace_file;
extern MappedFile side_file;
// The trace's path; empty while there is none.
extern Path trace_path;

// Makes the trace and the side record, by state.options, and writes their headers. 0, or -errno: no
// trace can be written; state is left as before.
long open_recording();
// Makes the file contain `cells` cells. Needs the lock. False: there is no space for them.
bool grow_trace(uint32_t cells);
// After a recording was stopped, before another one: the files keep what they have.
void give_up_files();
// Truncates the files to their final size at the process's end.
void finish_files(bool exited);

// The next unused file name after state.options.file, as an absolute path. `attempt`: from 0,
// raised by the caller while the name is taken. False: no more names.
bool make_path(uint32_t attempt, Path& path);

}  // namespace telltale::recorder
