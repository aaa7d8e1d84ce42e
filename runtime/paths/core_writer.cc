#include "core_writer.h"

#include <elf.h>
#include <limits.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/procfs.h>
#include <sys/stat.h>

#include "mappings.h"
#include "processor.h"
#include "system.h"
#include "threads.h"

// NOLINTBEGIN: names of glibc and of the compiler
// Where the main thread's stack began; glibc only.
extern "C" __attribute__((weak)) void* __libc_stack_end;
// NOLINTEND

namespace telltale::paths {
namespace {

// Below the stack pointer: what functions that call nothing use, and, while a function returns, its
// variables.
constexpr uint64_t kBelowStackPointer = 4096;
// The innermost bytes of a stack that are kept beside these.
constexpr uint64_t kCrashedStackBytes = 128 * 1024;
constexpr uint64_t kOtherStackBytes = 16 * 1024;
constexpr size_t kMostNameBytes = 256;
constexpr size_t kMostSegments = 16384;
constexpr uint64_t kPage = 4096;

struct Segment {
  uint64_t address = 0;
  uint64_t bytes = 0;
};

// Too large for a signal stack. Not in the program's own memory, which is written with coverage.
struct Workspace {
  Threads threads;
  Mappings mappings;
  StackRange stacks[2 * Threads::kMost];  // of each thread: its own, and one that it has left
  Segment segments[kMostSegments];
  size_t segment_count;
  char buffer[kPage];
  char temporary_name[kPage + 16];
};
Workspace* work = nullptr;

constexpr uint64_t align_word(uint64_t bytes) { return (bytes + 3) / 4 * 4; }

void add_segment(uint64_t address, uint64_t bytes) {
  if (bytes != 0 && work->segment_count < kMostSegments)
    work->segments[work->segment_count++] = {address, bytes};
}

// Frames of a thread end where its thread-local memory begins, those of the main thread where the
// kernel put the arguments.
uint64_t end_of_frames(uint64_t stack_pointer, const StackRange& stack, uint64_t thread_pointer) {
  uint64_t end = stack.end;
  const auto first =
      &__libc_stack_end == nullptr ? 0 : reinterpret_cast<uint64_t>(__libc_stack_end);
  const uint64_t bounds[] = {first + sizeof(uint64_t), thread_pointer};
  for (const uint64_t bound : bounds) {
    if (bound > stack_pointer && bound < end) end = bound;
  }
  return end;
}

void add_stacks() {
  for (size_t i = 0; i < 2 * work->threads.count; ++i) {
    const Thread& thread = work->threads.all[i / 2];
    const StackRange& stack = work->stacks[i];
    if (stack.end == 0) continue;
    // Other memory lies beyond the guard page below a stack that overflowed.
    const uint64_t lowest = stack.address - kBelowStackPointer;
    const uint64_t from = lowest > stack.begin ? lowest : stack.begin;
    const uint64_t end = end_of_frames(stack.address, stack, thread.thread_pointer);
    const uint64_t most = i / 2 == 0 ? kCrashedStackBytes : kOtherStackBytes;
    const uint64_t frames = end - stack.address;
    add_segment(from, stack.address - from + (frames < most ? frames : most));
  }
}

// A note of our compiler: where the flags of coverage of a program or library are
// (src/formats/csi/wire.h).
struct CoverageNote {
  ElfW(Nhdr) header;
  char name[12];
  int64_t begin;  // from the note
  int64_t end;
} __attribute__((packed));

// The flags of a program or library, if its notes name any.
void add_flags(const Memory& memory, uint64_t notes, uint64_t notes_bytes) {
  // Lengths of the name, with its zero, and of the contents; the type.
  static constexpr CoverageNote kWanted = {{9, 16, 1}, "Telltale", 0, 0};
  constexpr uint64_t kMostNotes = 64;
  uint64_t at = 0;
  for (uint64_t i = 0; i < kMostNotes && at + sizeof(CoverageNote) <= notes_bytes; ++i) {
    CoverageNote note = {};
    if (!memory.read_at(notes + at, &note, sizeof(note))) return;
    if (::memcmp(&note, &kWanted, offsetof(CoverageNote, begin)) == 0) {
      const uint64_t begin = notes + at + static_cast<uint64_t>(note.begin);
      if (note.end > note.begin) add_segment(begin, static_cast<uint64_t>(note.end - note.begin));
      return;
    }
    at += sizeof(note.header) + align_word(note.header.n_namesz) + align_word(note.header.n_descsz);
  }
}

// Of a mapped file: the headers, up to its notes, which have the build-id; and flags of coverage.
void add_headers(const Memory& memory, uint64_t begin) {
  ElfW(Ehdr) header = {};
  if (!memory.read_at(begin, &header, sizeof(header)) ||
      ::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(ElfW(Phdr)))
    return;
  uint64_t bytes = header.e_phoff + uint64_t{header.e_phnum} * sizeof(ElfW(Phdr));
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment = {};
    if (!memory.read_at(begin + header.e_phoff + i * sizeof(segment), &segment, sizeof(segment)))
      return;
    if (segment.p_type != PT_NOTE) continue;
    const uint64_t end = segment.p_offset + segment.p_filesz;
    if (end > bytes && end <= kPage) bytes = end;
    // Our note is padded to four bytes. mold puts it into one segment with .note.gnu.property,
    // which is padded to eight bytes; other linkers use a segment for each padding. The sizes of
    // the notes that are padded to eight bytes are multiples of eight, so four is right for all.
    if (segment.p_offset < kPage) add_flags(memory, begin + segment.p_offset, segment.p_filesz);
  }
  if (bytes <= kPage) add_segment(begin, bytes);
}

// The list of loaded libraries, in which debuggers look their addresses up.
void add_loaded_libraries(const Memory& memory, uint64_t debug_address) {
  constexpr int kMostLibraries = 512;
  r_debug debug = {};
  if (debug_address == 0 || !memory.read_at(debug_address, &debug, sizeof(debug))) return;
  add_segment(debug_address, sizeof(debug));
  auto at = reinterpret_cast<uint64_t>(debug.r_map);
  for (int i = 0; i < kMostLibraries && at != 0; ++i) {
    link_map library = {};
    if (!memory.read_at(at, &library, sizeof(library))) return;
    add_segment(at, sizeof(library));
    char name[kMostNameBytes];
    size_t bytes = 0;
    const auto name_address = reinterpret_cast<uint64_t>(library.l_name);
    while (bytes < sizeof(name) && memory.read_at(name_address + bytes, name + bytes, 1)) {
      ++bytes;
      if (name[bytes - 1] == 0) break;
    }
    add_segment(name_address, bytes);
    at = reinterpret_cast<uint64_t>(library.l_next);
  }
}

// Of the program itself: the dynamic section and the list of libraries.
void add_program(const Memory& memory) {
  const uint64_t headers = ::getauxval(AT_PHDR);
  const uint64_t count = ::getauxval(AT_PHNUM);
  constexpr uint64_t kMostHeaders = 64;
  static ElfW(Phdr) all[kMostHeaders];
  if (count > kMostHeaders || !memory.read_at(headers, all, count * sizeof(all[0]))) return;
  uint64_t bias = 0;
  for (uint64_t i = 0; i < count; ++i) {
    if (all[i].p_type == PT_PHDR) bias = headers - all[i].p_vaddr;
    if (all[i].p_type != PT_DYNAMIC) continue;
    const uint64_t begin = all[i].p_vaddr + bias;
    add_segment(begin, all[i].p_memsz);
    for (uint64_t at = 0; at + sizeof(ElfW(Dyn)) <= all[i].p_memsz; at += sizeof(ElfW(Dyn))) {
      ElfW(Dyn) entry = {};
      if (!memory.read_at(begin + at, &entry, sizeof(entry))) break;
      if (entry.d_tag == DT_DEBUG) add_loaded_libraries(memory, entry.d_un.d_ptr);
    }
  }
}

void find_segments() {
  work->segment_count = 0;
  add_stacks();
  const Memory memory;
  for (size_t i = 0; i < work->mappings.count; ++i) {
    // The page that has the headers may be mapped once more, as the first page of the code.
    const Mapping& part = work->mappings.all[i];
    const bool continues = i != 0 && work->mappings.all[i - 1].path == part.path &&
                           work->mappings.all[i - 1].end == part.begin;
    if (part.pages == 0 && !continues) add_headers(memory, part.begin);
  }
  add_program(memory);
}

// Writes a file from its beginning; remembers whether all went well.
class Output {
 public:
  explicit Output(const File& file) : file_(file) {}

  void put(const void* from, size_t bytes) {
    is_good_ = is_good_ && file_.write(from, bytes);
    offset_ += bytes;
  }
  template <typename T>
  void put(const T& value) {
    put(&value, sizeof(value));
  }
  // A note's contents follow, and end_note().
  void begin_note(uint32_t type, size_t bytes) {
    const ElfW(Nhdr) header = {sizeof("CORE"), static_cast<ElfW(Word)>(bytes), type};
    put(header);
    put("CORE\0\0\0", 8);
  }
  void end_note() {
    static constexpr char kZeros[4] = {};
    if (offset_ % 4 != 0) put(kZeros, 4 - offset_ % 4);
  }
  // Pages of zeros need no space on disk. Bytes that are no longer there become zeros.
  void put_memory(const Memory& memory, const Segment& segment) {
    for (uint64_t done = 0; done < segment.bytes;) {
      const uint64_t bytes = segment.bytes - done < kPage ? segment.bytes - done : kPage;
      const bool is_there = memory.read_at(segment.address + done, work->buffer, bytes);
      if (!is_there || is_zero(bytes)) {
        is_good_ = is_good_ && file_.skip(bytes);
        offset_ += bytes;
      } else {
        put(work->buffer, bytes);
      }
      done += bytes;
    }
  }
  [[nodiscard]] bool finish() const { return file_.end_here() && is_good_; }

 private:
  static bool is_zero(size_t bytes) {
    return work->buffer[0] == 0 && ::memcmp(work->buffer, work->buffer + 1, bytes - 1) == 0;
  }
  const File& file_;
  uint64_t offset_ = 0;
  bool is_good_ = true;
};

constexpr size_t note_bytes(size_t contents) {
  return sizeof(ElfW(Nhdr)) + 8 + align_word(contents);
}

elf_prpsinfo describe_process() {
  elf_prpsinfo process = {};
  process.pr_pid = ::getpid();
  const File arguments(own_file("/proc/self/cmdline", "/proc/thread-self/cmdline"), O_RDONLY);
  const long got = arguments.read(process.pr_psargs, sizeof(process.pr_psargs) - 1);
  const char* last = process.pr_psargs;
  for (const char* c = process.pr_psargs; *c != 0; ++c) {
    if (*c == '/') last = c + 1;
  }
  ::memcpy(process.pr_fname, last, ::strnlen(last, sizeof(process.pr_fname) - 1));
  for (long i = 0; i + 1 < got; ++i) {
    if (process.pr_psargs[i] == 0) process.pr_psargs[i] = ' ';
  }
  return process;
}

// The auxiliary vector, into `buffer`; its size in bytes.
size_t read_auxiliary_vector() {
  const File file(own_file("/proc/self/auxv", "/proc/thread-self/auxv"), O_RDONLY);
  const long got = file.read(work->buffer, sizeof(work->buffer));
  return got > 0 ? static_cast<size_t>(got) : 0;
}

size_t file_note_bytes() {
  size_t bytes = 2 * sizeof(uint64_t);
  for (size_t i = 0; i < work->mappings.count; ++i)
    bytes += 3 * sizeof(uint64_t) + ::strlen(work->mappings.all[i].path) + 1;
  return bytes;
}

void put_status(Output& out, const Thread& thread, int signal) {
  elf_prstatus status = {};
  status.pr_info.si_signo = signal;
  status.pr_cursig = static_cast<short>(signal);
  status.pr_pid = thread.tid;
  if (thread.has_registers != 0)
    ::memcpy(&status.pr_reg, &thread.registers, sizeof(thread.registers));
  out.begin_note(NT_PRSTATUS, sizeof(status));
  out.put(status);
  out.end_note();
}

void put_files(Output& out) {
  out.begin_note(NT_FILE, file_note_bytes());
  out.put(uint64_t{work->mappings.count});
  out.put(kPage);
  for (size_t i = 0; i < work->mappings.count; ++i) {
    out.put(work->mappings.all[i].begin);
    out.put(work->mappings.all[i].end);
    out.put(work->mappings.all[i].pages);
  }
  for (size_t i = 0; i < work->mappings.count; ++i)
    out.put(work->mappings.all[i].path, ::strlen(work->mappings.all[i].path) + 1);
  out.end_note();
}

// How many threads are not in the file, if any are not (src/program/core_file.cc).
struct LeftOutNote {
  ElfW(Nhdr) header;
  char name[12];
  uint64_t threads;
};
size_t left_out_bytes() { return work->threads.left_out == 0 ? 0 : sizeof(LeftOutNote); }

void put_left_out(Output& out) {
  if (work->threads.left_out == 0) return;
  const LeftOutNote note = {{9, sizeof(uint64_t), 2}, "Telltale", work->threads.left_out};
  out.put(note);
}

ElfW(Ehdr) file_header() {
  ElfW(Ehdr) header = {};
  ::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_CORE;
  header.e_machine = kMachine;
  header.e_version = EV_CURRENT;
  header.e_phoff = sizeof(header);
  header.e_ehsize = sizeof(header);
  header.e_phentsize = sizeof(ElfW(Phdr));
  header.e_phnum = static_cast<ElfW(Half)>(work->segment_count + 1);
  return header;
}

void put_segment_headers(Output& out, size_t notes) {
  ElfW(Phdr) header = {};
  header.p_type = PT_NOTE;
  header.p_offset = sizeof(ElfW(Ehdr)) + (work->segment_count + 1) * sizeof(ElfW(Phdr));
  header.p_filesz = notes;
  header.p_align = 4;
  out.put(header);
  uint64_t offset = header.p_offset + notes;
  for (size_t i = 0; i < work->segment_count; ++i) {
    header.p_type = PT_LOAD;
    header.p_flags = PF_R | PF_W;
    header.p_offset = offset;
    header.p_vaddr = work->segments[i].address;
    header.p_filesz = work->segments[i].bytes;
    header.p_memsz = work->segments[i].bytes;
    header.p_align = 1;
    out.put(header);
    offset += work->segments[i].bytes;
  }
}

bool put_all(const File& file, int signal, const siginfo_t& info) {
  Output out(file);
  out.put(file_header());
  const elf_prpsinfo process = describe_process();
  const size_t auxiliary_bytes = read_auxiliary_vector();
  put_segment_headers(out, work->threads.count * note_bytes(sizeof(elf_prstatus)) +
                               note_bytes(sizeof(process)) + note_bytes(sizeof(info)) +
                               note_bytes(auxiliary_bytes) + note_bytes(file_note_bytes()) +
                               left_out_bytes());
  // The kernel's order: what belongs to the process follows the first thread.
  put_status(out, work->threads.all[0], signal);
  out.begin_note(NT_PRPSINFO, sizeof(process));
  out.put(process);
  out.end_note();
  out.begin_note(NT_SIGINFO, sizeof(info));
  out.put(info);
  out.end_note();
  out.begin_note(NT_AUXV, auxiliary_bytes);
  out.put(work->buffer, auxiliary_bytes);
  out.end_note();
  put_files(out);
  for (size_t i = 1; i < work->threads.count; ++i) put_status(out, work->threads.all[i], signal);
  put_left_out(out);
  const Memory memory;
  for (size_t i = 0; i < work->segment_count; ++i) out.put_memory(memory, work->segments[i]);
  return out.finish();
}

// "PATH.PID", in `name`.
bool temporary_name(const char* path, char* name, size_t bytes) {
  char digits[16];
  size_t count = 0;
  for (auto number = static_cast<unsigned>(::getpid()); number != 0; number /= 10)
    digits[count++] = static_cast<char>('0' + number % 10);
  const size_t length = ::strlen(path);
  if (length + 1 + count + 1 > bytes) return false;
  ::memcpy(name, path, length);
  name[length] = '.';
  for (size_t i = 0; i < count; ++i) name[length + 1 + i] = digits[count - 1 - i];
  name[length + 1 + count] = 0;
  return true;
}

constexpr const char* kNoFile = "it is no regular file";
constexpr const char* kTooLong = "its name is too long";

// In words that need no table of libc.
const char* cause_of(int error) {
  switch (error) {
    case EMFILE:
    case ENFILE:
      return "too many open files";
    case ENOSPC:
    case EDQUOT:
      return "no space left";
    case EFBIG:
      return "larger than files may be";
    case EACCES:
    case EPERM:
    case EROFS:
      return "files cannot be created in its folder";
    case ENAMETOOLONG:
      return kTooLong;
    default:
      return "it cannot be written";
  }
}

bool is_missing_or_regular(const char* path) {
  struct stat facts = {};
  return ::syscall(SYS_newfstatat, AT_FDCWD, path, &facts, AT_SYMLINK_NOFOLLOW) != 0 ||
         S_ISREG(facts.st_mode);
}

}  // namespace

bool prepare_core_writer() {
  void* const memory = ::mmap(nullptr, sizeof(Workspace), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  work = static_cast<Workspace*>(memory);
  return true;
}

const char* why_not_writable(const char* path) {
  if (!is_missing_or_regular(path)) return kNoFile;
  static char folder[kPathBytes];
  const char* const slash = ::strrchr(path, '/');
  char name[kPathBytes + 16];
  if (!temporary_name(path, name, sizeof(name))) return kTooLong;
  if (slash != nullptr && ::strlen(name + (slash + 1 - path)) > NAME_MAX) return kTooLong;
  if (slash == nullptr || slash == path) return nullptr;
  ::memcpy(folder, path, static_cast<size_t>(slash - path));
  return ::syscall(SYS_faccessat, AT_FDCWD, folder, W_OK | X_OK) == 0
             ? nullptr
             : "files cannot be created in its folder";
}

const char* write_core(const char* path, int signal, const siginfo_t& info,
                       const ucontext_t& context) {
  char* const temporary = work->temporary_name;
  // rename() would replace a device, such as /dev/null, a pipe or a link.
  if (!is_missing_or_regular(path)) return kNoFile;
  if (!temporary_name(path, temporary, sizeof(work->temporary_name))) return kTooLong;
  // Stacks may hold secrets: only the user reads them, as in core files of the kernel.
  errno = 0;
  const File file(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
  if (!file.is_open()) return cause_of(errno);
  work->threads.count = 1;
  work->threads.left_out = 0;
  work->threads.all[0].tid = thread_id();
  take_registers(context, work->threads.all[0]);
  work->threads.all[0].has_registers = 1;
  stop_threads(work->threads);
  for (size_t i = 0; i < work->threads.count; ++i) {
    const Thread& thread = work->threads.all[i];
    work->stacks[2 * i] = {};
    work->stacks[2 * i + 1] = {};
    if (thread.has_registers == 0) continue;
    work->stacks[2 * i].address = stack_pointer(thread.registers);
    work->stacks[2 * i + 1].address = thread.interrupted_stack;
  }
  work->mappings.read(work->stacks, 2 * work->threads.count);
  find_segments();
  errno = 0;
  const bool written = put_all(file, signal, info);
  const char* const why = cause_of(errno);
  release_threads();
  if (written && ::syscall(SYS_renameat2, AT_FDCWD, temporary, AT_FDCWD, path, 0U) == 0)
    return nullptr;
  ::syscall(SYS_unlinkat, AT_FDCWD, temporary, 0);
  return why;
}

}  // namespace telltale::paths
