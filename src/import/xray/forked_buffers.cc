// Buffers that several files have. Snapshots of a process, and the recording beside which they are
// taken, have buffers in common. So have a forked process and its parent: clang's runtime does not
// notice a fork, and the child goes on in its copy of the buffer, which has its parent's ids.
// A call must not count twice, and not for the wrong process.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/counted.h"
#include "import/xray/buffer_cuts.h"
#include "import/xray/xray_recording.h"
#include "import/xray/xray_recording_builder.h"
#include "model/thread_text.h"

namespace telltale {

// The buffers of one process in one file. Times are in ticks.
struct XrayRecording::Builder::OfProcess {
  uint64_t begun = std::numeric_limits<uint64_t>::max();  // its first buffer
  uint64_t offset = 0;                                    // of that
  uint64_t latest = 0;                                    // when its last buffer begins
  uint64_t bytes = 0;
};

// One file's copy of a buffer.
struct XrayRecording::Builder::BufferCopy {
  uint32_t file = 0;
  uint64_t begin = std::numeric_limits<uint64_t>::max();
  uint64_t end = 0;
  uint64_t bytes = 0;
  // The first process with buffers that begin after this one; 0: none. The file is its, or that of
  // one of its descendants.
  int64_t child = 0;
  // Of the buffer's process: when its last buffer begins. A child has those from before the fork.
  uint64_t latest = 0;
  uint64_t other_bytes = 0;  // in its other buffers
  uint64_t last_tsc = 0;

  void add(const Chunk& chunk) {
    begin = std::min(begin, chunk.begin);
    end = std::max(end, chunk.end);
    bytes += chunk.end - chunk.begin;
  }
  [[nodiscard]] bool is_whole() const { return end - begin == bytes; }
  [[nodiscard]] auto evidence() const { return std::tuple(child, ~latest); }
};

// Each buffer counts once, and for the process whose calls it has, as far as the files tell.
void XrayRecording::Builder::attribute_shared_buffers() {
  const std::vector<Processes> files = processes();
  report_missing_parents(files);
  if (recording_.files_.size() > 1) drop_shared_buffers(files);
}

// Whether the recorder notices forks. Telltale's does: each process has its own buffers, and files
// that share some are snapshots of one process.
bool XrayRecording::Builder::notices_forks(const std::vector<BufferCopy>& copies) const {
  return std::ranges::any_of(copies, [&](const BufferCopy& copy) {
    const File& file = recording_.files_[copy.file];
    return file.context.has_side_record || file.header.recorder.parts;
  });
}

std::vector<XrayRecording::Builder::Processes> XrayRecording::Builder::processes() const {
  std::vector<Processes> files(recording_.files_.size());
  for (const auto& [key, chunks] : threads_) {
    if (key.first.pid == 0) continue;
    for (const Chunk& chunk : chunks) {
      if (!chunk.timed) continue;
      OfProcess& process = files[chunk.file][key.first.pid];
      if (chunk.order_tsc < process.begun) {
        process.begun = chunk.order_tsc;
        process.offset = chunk.begin;
      }
      process.latest = std::max(process.latest, chunk.order_tsc);
      process.bytes += chunk.end - chunk.begin;
    }
  }
  return files;
}

uint64_t XrayRecording::Builder::common_bytes(const BufferCopy& one,
                                              const BufferCopy& other) const {
  if (!one.is_whole() || !other.is_whole()) return std::min(one.bytes, other.bytes);
  const auto bytes = [&](const BufferCopy& of) {
    return recording_.files_[of.file].input.bytes().subspan(static_cast<size_t>(of.begin),
                                                            static_cast<size_t>(of.bytes));
  };
  const Bytes all = bytes(one);
  const size_t least = std::min(one.bytes, other.bytes);
  // Faster than mismatch(), and snapshots of one process are equal as far as both go.
  if (std::memcmp(all.data(), bytes(other).data(), least) == 0) return least;
  return static_cast<uint64_t>(std::ranges::mismatch(all, bytes(other)).in1 - all.begin());
}

// First the copy that counts, that of the process itself; then those of others, each after those of
// its ancestors, as far as the files tell.
void XrayRecording::Builder::sort_copies(std::vector<BufferCopy>& copies) const {
  std::ranges::stable_sort(copies, std::ranges::greater{}, &BufferCopy::bytes);
  if (notices_forks(copies)) return;  // Snapshots: the file counts that has most.
  // Processes usually have higher ids than their parents.
  std::ranges::stable_sort(copies, {}, &BufferCopy::evidence);
  const auto rivals =
      std::ranges::equal_range(copies, copies.front().evidence(), {}, &BufferCopy::evidence);
  if (!go_on_differently(rivals)) return;  // One at most goes on: that which has most.
  // This is the buffer of the thread that forked: only the parent goes on in others. It usually
  // waits for its children, so that its own copy ends last.
  for (BufferCopy& copy : rivals) {
    const File& file = recording_.files_[copy.file];
    const std::optional<BufferCut> cut =
        last_cut(file.input.bytes(), file.header, copy.begin, copy.end);
    copy.last_tsc = cut ? cut->tsc : 0;
  }
  std::ranges::stable_sort(rivals, std::ranges::greater{}, [](const BufferCopy& copy) {
    return std::pair(copy.other_bytes, copy.last_tsc);
  });
}

// Whether two copies differ before the shorter one ends: both processes wrote into theirs.
bool XrayRecording::Builder::go_on_differently(std::span<const BufferCopy> copies) const {
  for (const BufferCopy& copy : copies.subspan(1))
    if (common_bytes(copies.front(), copy) < std::min(copies.front().bytes, copy.bytes))
      return true;
  return false;
}

void XrayRecording::Builder::drop_shared_buffers(const std::vector<Processes>& files) {
  using Buffer = std::pair<ThreadKey, uint64_t>;             // and the time of its first event
  std::map<Buffer, std::map<uint32_t, BufferCopy>> buffers;  // by file
  for (const auto& [key, chunks] : threads_) {
    for (const Chunk& chunk : chunks)
      if (chunk.timed) buffers[{key.first, chunk.order_tsc}][chunk.file].add(chunk);
  }
  struct Dropped {
    uint64_t buffers = 0;
    std::set<uint32_t> in;  // files that have them, too
  };
  std::map<uint32_t, Dropped> dropped;  // by file
  std::map<Buffer, uint32_t> counting;
  std::vector<std::pair<ThreadKey, std::vector<BufferCopy>>> shared;
  for (const auto& [buffer, by_file] : buffers) {
    if (by_file.size() < 2) continue;
    const auto& [thread, begun] = buffer;
    std::vector<BufferCopy> copies;
    for (const auto& [file, of_file] : by_file) {
      BufferCopy& copy = copies.emplace_back(of_file);
      copy.file = file;
      uint64_t child_begun = std::numeric_limits<uint64_t>::max();
      for (const auto& [pid, process] : files[file]) {
        if (pid == thread.pid) {
          copy.latest = process.latest;
          copy.other_bytes = process.bytes - copy.bytes;
        } else if (process.begun > begun && process.begun < child_begun) {
          copy.child = pid;
          child_begun = process.begun;
        }
      }
    }
    sort_copies(copies);
    counting.emplace(buffer, copies.front().file);
    for (const BufferCopy& copy : copies | std::views::drop(1)) {
      ++dropped[copy.file].buffers;
      dropped[copy.file].in.insert(copies.front().file);
    }
    shared.emplace_back(thread, std::move(copies));
  }
  for (auto& [key, chunks] : threads_) {
    std::erase_if(chunks, [&, thread = key.first](const Chunk& chunk) {
      const auto file = chunk.timed ? counting.find({thread, chunk.order_tsc}) : counting.end();
      return file != counting.end() && file->second != chunk.file;
    });
  }
  std::ranges::stable_partition(shared,
                                [&](const auto& of) { return go_on_differently(of.second); });
  std::set<std::pair<uint32_t, uint32_t>> told;
  for (const auto& [thread, copies] : shared) {
    report_guess(thread, copies, told);
    for (size_t i = 1; i < copies.size(); ++i) add_child(thread, copies, i);
  }
  for (const auto& [file, of_file] : dropped) {
    recording_.problems_.add(
        {Problem::Kind::copies, 0, name_of(file), "Buffer",
         fmt::format("{} of it {} also in {}, and not counted again",
                     counted(of_file.buffers, "buffer"), of_file.buffers == 1 ? "is" : "are",
                     of_file.in.size() == 1 ? name_of(*of_file.in.begin()) : "other files"),
         0});
  }
}

// Reports a problem of the kind `estimate` if no other buffer shows which file belongs to the
// process that wrote the buffer: the reader has chosen one of the copies without evidence. `told`:
// pairs of files that earlier calls compared, which are not reported twice.
void XrayRecording::Builder::report_guess(ThreadKey parent, const std::vector<BufferCopy>& copies,
                                          std::set<std::pair<uint32_t, uint32_t>>& told) {
  const BufferCopy& first = copies.front();
  if (notices_forks(copies) || first.child != 0) return;
  std::string others;
  for (const BufferCopy& copy : copies | std::views::drop(1)) {
    const uint64_t same = common_bytes(first, copy);
    if (same == first.bytes && same == copy.bytes) continue;
    if (!told.emplace(first.file, copy.file).second) continue;
    const bool differ = same < std::min(first.bytes, copy.bytes);
    if (first.evidence() != copy.evidence() || (differ && first.other_bytes != copy.other_bytes))
      continue;
    if (!others.empty()) others += ", ";
    others += name_of(copy.file);
  }
  if (others.empty()) return;
  recording_.problems_.add(
      {Problem::Kind::estimate, first.begin, name_of(first.file), "Buffer",
       fmt::format("the buffer of thread {0} goes on differently in {1} and {2}: the process "
                   "forked, and no other buffer tells which file is its own. {1} is taken for it, "
                   "as the calls in it last longest",
                   thread_text(parent), name_of(first.file), others),
       0});
}

// The records of a forked process in the copy of its parent's buffer. The recorder gives them the
// parent's ids, because a buffer has those of its beginning. Its later buffers have its own id,
// which is also that of its thread.
void XrayRecording::Builder::add_child(ThreadKey parent, const std::vector<BufferCopy>& copies,
                                       size_t which) {
  const BufferCopy& copy = copies[which];
  const BufferCopy* closest = nullptr;
  uint64_t same = 0;
  for (const BufferCopy& other : copies | std::views::take(which)) {
    const uint64_t bytes = common_bytes(other, copy);
    if (closest != nullptr && bytes <= same) continue;
    closest = &other;
    same = bytes;
    if (same == copy.bytes) return;
  }
  if (!copy.is_whole()) return;
  const File& file = recording_.files_[copy.file];
  const std::optional<BufferCut> cut =
      last_cut(file.input.bytes(), file.header, copy.begin, copy.begin + same);
  const uint64_t at = cut ? cut->offset : copy.begin;
  const std::string differs =
      fmt::format("the buffer of thread {} goes on differently than in {}: the process forked. ",
                  thread_text(parent), name_of(closest->file));
  if (!cut || copy.child == 0) {
    recording_.problems_.add({Problem::Kind::loss, at, name_of(copy.file), "Buffer",
                              differs + "What follows is not counted: the file does not say which "
                                        "process it is of",
                              copy.end - at});
    return;
  }
  recording_.problems_.add(
      {Problem::Kind::oddity, at, name_of(copy.file), "Buffer",
       fmt::format("{}What follows is counted for its child, process {}. If that was forked by a "
                   "process between them that wrote no file, some of it is that one's",
                   differs, copy.child),
       0});
  // Siblings differ where the parent's copy goes on, too.
  if (closest->child != 0 && closest->child != copy.child &&
      same > common_bytes(copies.front(), copy)) {
    recording_.problems_.add(
        {Problem::Kind::estimate, at, name_of(copy.file), "Buffer",
         fmt::format("process {0} or {1} forked the other, and {2} and {3} do not tell which: "
                     "their calls until then are counted for process {0}, which has the lower id",
                     closest->child, copy.child, name_of(closest->file), name_of(copy.file)),
         0});
  }
  add({copy.child, copy.child}, {.begin = at,
                                 .end = copy.end,
                                 .order_tsc = cut->tsc,
                                 .start_tsc = cut->tsc,
                                 .file = copy.file,
                                 .inside_buffer = true,
                                 .timed = true});
}

// A file with buffers of two processes was written by the one that began later, the child. Only the
// parent's own file shows from where on a copied buffer has calls of the child.
void XrayRecording::Builder::report_missing_parents(const std::vector<Processes>& files) {
  const auto latest = [](const Processes& of_file) {
    return std::ranges::max_element(of_file, {}, [](const auto& of) { return of.second.begun; });
  };
  std::set<int64_t> own;  // processes that have files
  for (const Processes& of_file : files)
    if (!of_file.empty()) own.insert(latest(of_file)->first);
  std::set<std::pair<int64_t, int64_t>> told;
  for (uint32_t i = 0; i < files.size(); ++i) {
    std::vector<std::pair<int64_t, OfProcess>> chain(files[i].begin(), files[i].end());
    std::ranges::stable_sort(chain, {}, [](const auto& of) { return of.second.begun; });
    for (size_t k = 1; k < chain.size(); ++k) {
      const int64_t parent = chain[k - 1].first;
      const auto& [child, begun] = chain[k];
      if (own.contains(parent) || !told.emplace(parent, child).second) continue;
      recording_.problems_.add(
          {Problem::Kind::estimate, begun.offset, name_of(i), "Buffer",
           fmt::format(
               "the file has buffers of process {0}, which process {1} forked: its calls "
               "before its first buffer are in a copied buffer of process {1}, and are counted for "
               "that. Read together with the file of process {1}, they are counted for process {0}",
               child, parent),
           0});
    }
  }
}

}  // namespace telltale
