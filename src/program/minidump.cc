#include "program/minidump.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <string_view>
#include <utility>

#include "program/dwarf_registers.h"

namespace telltale {
namespace {

constexpr uint32_t kSignature = 0x504d444d;  // "MDMP"
constexpr uint16_t kVersion = 0xa793;        // the lower half; writers use the upper half freely

enum StreamType : uint32_t {
  kThreadList = 3,
  kModuleList = 4,
  kMemoryList = 5,
  kException = 6,
  kSystemInfo = 7,
  kMemory64List = 9,
  kMiscInfo = 15,
  kLinuxStatus = 0x47670004,
  kLinuxCommand = 0x47670006,
  kLinuxAuxiliaryVector = 0x47670008,
};

constexpr uint16_t kProcessorX86 = 9;
constexpr uint16_t kProcessorArm = 12;
constexpr uint16_t kProcessorArmOld = 0x8003;

constexpr uint32_t kCodeViewElf = 0x4270454c;  // "LEpB": a build-id follows
constexpr uint32_t kCodeViewPdb = 0x53445352;  // "RSDS": a GUID, the first 16 bytes of a build-id

// Offsets of registers in CONTEXT of winnt.h, in the order of DWARF's numbers; pc comes last.
constexpr auto kX86Context =
    std::to_array<uint16_t>({0x78, 0x88, 0x80, 0x90, 0xa8, 0xb0, 0xa0, 0x98, 0xb8, 0xc0, 0xc8, 0xd0,
                             0xd8, 0xe0, 0xe8, 0xf0, 0xf8});
constexpr size_t kX86ContextFlags = 0x30;
constexpr size_t kArmFirst = 8;             // x0 to x30, sp, pc
constexpr uint32_t kControlAndInteger = 3;  // in the flags of a context that has these registers

struct Location {
  uint32_t size = 0;
  uint32_t offset = 0;
};

Location read_location(Cursor& in, std::string_view field) {
  Location location;
  location.size = in.read<uint32_t>(field);
  location.offset = in.read<uint32_t>(field);
  return location;
}

class Reader {
 public:
  Reader(Bytes file, const std::string& name, ProblemLog& problems)
      : file_(file), name_(name), problems_(problems) {}

  Result<Minidump> read() {
    Cursor in(file_);
    in.begin_record("minidump header");
    const auto signature = in.read<uint32_t>("Signature");
    const auto version = in.read<uint32_t>("Version");
    const auto count = in.read<uint32_t>("NumberOfStreams");
    const auto directory = in.read<uint32_t>("StreamDirectoryRva");
    if (in.error()) return placed(*in.error());
    if (signature != kSignature)
      return placed({Error::Cause::bad_magic, {}, "minidump header", "not a minidump", 0});
    if (static_cast<uint16_t>(version) != kVersion) {
      return placed({Error::Cause::unsupported_version,
                     {},
                     "minidump header",
                     fmt::format("version {:#x} is unknown", version & 0xffff),
                     4});
    }
    reads_modules_ = true;
    read_directory(directory, count);
    // The machine decides how registers are read.
    for (const StreamType type :
         {kSystemInfo, kMiscInfo, kLinuxStatus, kLinuxCommand, kLinuxAuxiliaryVector, kModuleList,
          kThreadList, kException, kMemoryList, kMemory64List}) {
      if (const MinidumpStream* stream = find(type)) read_stream(*stream);
    }
    if (dump_.parts.machine == 0) {
      problems_.add(
          {Problem::Kind::oddity, 0, name_, "minidump header",
           "no SystemInfo stream names a processor that telltale knows: no program can be "
           "used, and no registers are read",
           0});
    }
    return std::move(dump_);
  }

 private:
  [[nodiscard]] std::unexpected<Error> placed(Error error) const {
    error.file = name_;
    return std::unexpected(std::move(error));
  }

  void damage(uint64_t offset, std::string record, std::string detail) {
    const bool cut = offset >= file_.size();
    if (cut && reads_modules_) dump_.lacks_modules = true;
    problems_.add({cut ? Problem::Kind::torn_tail : Problem::Kind::corruption,
                   std::min<uint64_t>(offset, file_.size()), name_, std::move(record),
                   std::move(detail), 0});
  }

  // The bytes of the file that a location names; what is missing is a problem.
  Cursor at(uint64_t offset, uint64_t size, const std::string& record) {
    const uint64_t begin = std::min<uint64_t>(offset, file_.size());
    const uint64_t left = file_.size() - begin;
    if (size > left) {
      damage(file_.size(), record,
             fmt::format("needs {} bytes at byte {}, {} are left", size, offset, left));
    }
    return Cursor(
        file_.subspan(static_cast<size_t>(begin), static_cast<size_t>(std::min(size, left))),
        std::endian::little, begin);
  }

  void read_directory(uint64_t offset, uint32_t count) {
    constexpr uint64_t kEntry = 12;
    Cursor in = at(offset, count * kEntry, "stream directory");
    while (in.left() >= kEntry) {
      MinidumpStream stream;
      stream.type = in.read<uint32_t>("StreamType");
      const Location location = read_location(in, "Location");
      stream.offset = location.offset;
      stream.size = location.size;
      if (stream.type != 0) dump_.streams.push_back(stream);
    }
  }

  [[nodiscard]] const MinidumpStream* find(uint32_t type) const {
    const auto found = std::ranges::find(dump_.streams, type, &MinidumpStream::type);
    return found == dump_.streams.end() ? nullptr : &*found;
  }

  void read_stream(const MinidumpStream& stream) {
    const std::string record = minidump_stream_name(stream.type);
    reads_modules_ = stream.type == kModuleList;
    Cursor in = at(stream.offset, stream.size, record);
    in.begin_record("stream");
    switch (stream.type) {
      case kSystemInfo:
        read_system(in);
        break;
      case kMiscInfo:
        read_misc(in);
        break;
      case kLinuxStatus:
        if (const auto pid = status_pid(text_of(in))) dump_.parts.pid = *pid;
        break;
      case kLinuxCommand:
        read_command(in);
        break;
      case kLinuxAuxiliaryVector:
        read_auxiliary_vector(in);
        break;
      case kModuleList:
        read_list(in, kModuleBytes, [&](Cursor& entry) { read_module(entry); });
        break;
      case kThreadList:
        read_list(in, kThreadBytes, [&](Cursor& entry) { read_thread(entry); });
        break;
      case kException:
        read_exception(in);
        break;
      case kMemoryList:
        read_list(in, kMemoryBytes, [&](Cursor& entry) { read_memory(entry); });
        break;
      case kMemory64List:
        read_memory64(in);
        break;
      default:
        break;
    }
    if (in.error()) damage(in.error()->offset.value_or(0), record, in.error()->detail);
  }

  static std::string_view text_of(Cursor& in) {
    const Bytes rest = in.rest();
    return {reinterpret_cast<const char*>(rest.data()), rest.size()};
  }

  void read_system(Cursor& in) {
    const auto processor = in.read<uint16_t>("ProcessorArchitecture");
    if (processor == kProcessorX86) dump_.parts.machine = EM_X86_64;
    if (processor == kProcessorArm || processor == kProcessorArmOld)
      dump_.parts.machine = EM_AARCH64;
  }

  void read_misc(Cursor& in) {
    constexpr uint32_t kHasProcessId = 1;
    in.read<uint32_t>("SizeOfInfo");
    const auto flags = in.read<uint32_t>("Flags1");
    const auto pid = in.read<uint32_t>("ProcessId");
    if (!in.error() && (flags & kHasProcessId) != 0) dump_.parts.pid = pid;
  }

  // The line "Pid:\t123" of /proc/PID/status.
  static std::optional<int64_t> status_pid(std::string_view text) {
    constexpr std::string_view kLine = "\nPid:\t";
    const size_t line = text.find(kLine);
    if (line == std::string_view::npos) return std::nullopt;
    int64_t pid = 0;
    for (const char digit : text.substr(line + kLine.size())) {
      if (digit < '0' || digit > '9' || pid > 0xffff'ffff) break;
      pid = pid * 10 + (digit - '0');
    }
    return pid;
  }

  void read_command(Cursor& in) {
    std::string command(text_of(in));
    while (command.ends_with('\0')) command.pop_back();
    std::ranges::replace(command, '\0', ' ');
    dump_.parts.command = std::move(command);
  }

  void read_auxiliary_vector(Cursor& in) {
    while (in.left() >= 2 * sizeof(uint64_t)) {
      const auto type = in.read<uint64_t>("a_type");
      const auto value = in.read<uint64_t>("a_val");
      if (type == AT_PHDR) dump_.parts.program_headers_address = value;
      if (type == AT_SYSINFO_EHDR) dump_.parts.vdso_address = value;
    }
  }

  // A count and entries. Some writers align the entries to 8 bytes.
  template <typename Read>
  void read_list(Cursor& in, uint64_t entry_bytes, Read read) {
    const auto count = in.read<uint32_t>("number of entries");
    if (in.left() == count * entry_bytes + 4) in.take(4, "padding");
    for (uint32_t i = 0; i < count && !in.error(); ++i) {
      Cursor entry = in.split(entry_bytes, "entry");
      if (!in.error()) read(entry);
    }
  }

  void read_module(Cursor& in) {
    CoreMapping mapping;
    mapping.begin = in.read<uint64_t>("BaseOfImage");
    const auto size = in.read<uint32_t>("SizeOfImage");
    mapping.end = mapping.begin + size;
    in.take(8, "CheckSum and TimeDateStamp");
    mapping.path = read_string(in.read<uint32_t>("ModuleNameRva"));
    in.take(52, "VersionInfo");
    const Location code_view = read_location(in, "CvRecord");
    if (code_view.size >= sizeof(uint32_t)) mapping.build_id = read_build_id(code_view);
    if (!is_file(mapping)) return;
    // Crashpad writes zeros for a file that has no build-id.
    if (mapping.build_id.find_first_not_of('0') == std::string::npos) mapping.build_id.clear();
    dump_.parts.mappings.push_back(std::move(mapping));
  }

  // LLDB writes the path that the program gave to dlopen(), which may be relative. The kernel's
  // code has a name without a file.
  static bool is_file(const CoreMapping& module) {
    if (module.path.starts_with('/')) return true;
    return !module.build_id.empty() && !module.path.empty() && !module.path.starts_with('[') &&
           !module.path.starts_with("linux-");
  }

  std::string read_build_id(const Location& location) {
    constexpr size_t kGuid = 16;
    Cursor in = at(location.offset, location.size, "CvRecord");
    const auto signature = in.read<uint32_t>("CvSignature");
    std::vector<std::byte> id;
    if (signature == kCodeViewElf) {
      constexpr uint64_t kMostBytes = 64;
      const Bytes bytes = in.take(std::min(in.left(), kMostBytes), "build-id");
      id.assign(bytes.begin(), bytes.end());
    } else if (signature == kCodeViewPdb && in.left() >= kGuid) {
      const Bytes guid = in.take(kGuid, "Guid");
      id.assign(guid.begin(), guid.end());
      // The GUID's first three numbers are of this machine's order, the build-id is bytes.
      std::reverse(id.begin(), id.begin() + 4);
      std::reverse(id.begin() + 4, id.begin() + 6);
      std::reverse(id.begin() + 6, id.begin() + 8);
    }
    std::string digits;
    for (const std::byte each : id)
      digits += fmt::format("{:02x}", std::to_integer<unsigned>(each));
    return digits;
  }

  // MINIDUMP_STRING: a length in bytes, and UTF-16.
  std::string read_string(uint32_t offset) {
    constexpr uint32_t kMostBytes = 64 * 1024;
    Cursor in = at(offset, sizeof(uint32_t), "module name");
    const auto size = in.read<uint32_t>("Length");
    if (in.error()) return {};
    if (size > kMostBytes) {
      damage(offset, "module name", fmt::format("a name of {} bytes", size));
      return {};
    }
    // Names that overlap would multiply the work.
    if (size > name_bytes_left_) return {};
    name_bytes_left_ -= size;
    Cursor text = at(offset + sizeof(uint32_t), size, "module name");
    std::string utf8;
    while (text.left() >= 2) append_utf8(text, utf8);
    return utf8;
  }

  static void append_utf8(Cursor& in, std::string& out) {
    uint32_t code = in.read<uint16_t>("character");
    if (code >= 0xd800 && code < 0xdc00 && in.left() >= 2) {
      const uint32_t low = in.read<uint16_t>("character");
      code = 0x10000 + ((code - 0xd800) << 10) + ((low - 0xdc00) & 0x3ff);
    }
    const auto byte = [&out](uint32_t value) { out += static_cast<char>(value); };
    if (code < 0x80) {
      byte(code);
    } else if (code < 0x800) {
      byte(0xc0 | code >> 6);
      byte(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
      byte(0xe0 | code >> 12);
      byte(0x80 | (code >> 6 & 0x3f));
      byte(0x80 | (code & 0x3f));
    } else {
      byte(0xf0 | (code >> 18 & 7));
      byte(0x80 | (code >> 12 & 0x3f));
      byte(0x80 | (code >> 6 & 0x3f));
      byte(0x80 | (code & 0x3f));
    }
  }

  void read_thread(Cursor& in) {
    CoreThread thread;
    thread.tid = in.read<uint32_t>("ThreadId");
    in.take(20, "SuspendCount to Teb");
    const auto stack = in.read<uint64_t>("Stack");
    add_memory(stack, read_location(in, "Stack"));
    read_context(read_location(in, "ThreadContext"), thread);
    dump_.parts.threads.push_back(std::move(thread));
  }

  void read_context(const Location& location, CoreThread& thread) {
    if (location.size == 0) return;
    const Cursor context = at(location.offset, location.size, "thread context");
    const auto number = [&context](size_t place) {
      Cursor in = context;
      in.take(place, "registers");
      return in.read<uint64_t>("register");
    };
    const auto flags = [&context](size_t place) {
      Cursor in = context;
      in.take(place, "registers");
      return in.read<uint32_t>("ContextFlags");
    };
    if (dump_.parts.machine == EM_X86_64 && context.left() >= kX86Context.back() + 8U) {
      if ((flags(kX86ContextFlags) & kControlAndInteger) != kControlAndInteger) return;
      thread.registers.clear();
      for (const uint16_t place : kX86Context) thread.registers.push_back(number(place));
      thread.pc = thread.registers.back();
    }
    if (dump_.parts.machine == EM_AARCH64 &&
        context.left() >= kArmFirst + (kArmRegisters + 1) * sizeof(uint64_t)) {
      thread.registers.clear();
      for (size_t i = 0; i < kArmRegisters; ++i)
        thread.registers.push_back(number(kArmFirst + i * sizeof(uint64_t)));
      thread.pc = number(kArmFirst + kArmRegisters * sizeof(uint64_t));
    }
  }

  // The context at the crash replaces that of the handler, in which the thread wrote the dump.
  void read_exception(Cursor& in) {
    constexpr uint32_t kMostSignal = 64;
    const int64_t tid = in.read<uint32_t>("ThreadId");
    in.take(4, "padding");
    const auto code = in.read<uint32_t>("ExceptionCode");
    in.take(148, "the rest of the exception");
    const Location context = read_location(in, "ThreadContext");
    if (in.error()) return;
    if (code <= kMostSignal) dump_.parts.signal = static_cast<int>(code);
    auto& threads = dump_.parts.threads;
    const auto thread = std::ranges::find(threads, tid, &CoreThread::tid);
    if (thread == threads.end())
      return damage(in.offset(), "exception", fmt::format("its thread {} is not in the list", tid));
    read_context(context, *thread);
    std::rotate(threads.begin(), thread, thread + 1);
  }

  void read_memory(Cursor& in) {
    const auto address = in.read<uint64_t>("StartOfMemoryRange");
    add_memory(address, read_location(in, "Memory"));
  }

  void add_memory(uint64_t address, const Location& location) {
    if (location.size != 0) add_memory(address, location.offset, location.size);
  }

  void add_memory(uint64_t address, uint64_t offset, uint64_t size) {
    if (offset >= file_.size() || size > file_.size() - offset) {
      damage(file_.size(), "memory",
             fmt::format("the file ends before {} bytes of memory at byte {}", size, offset));
    }
    dump_.parts.memory.push_back({.type = PT_LOAD,
                                  .flags = PF_R,
                                  .offset = offset,
                                  .address = address,
                                  .file_size = size,
                                  .memory_size = size});
  }

  void read_memory64(Cursor& in) {
    constexpr uint64_t kEntry = 16;
    const auto count = in.read<uint64_t>("NumberOfMemoryRanges");
    auto offset = in.read<uint64_t>("BaseRva");
    if (count > in.left() / kEntry)
      damage(in.offset(), "Memory64List",
             fmt::format("{} ranges are announced, {} are there", count, in.left() / kEntry));
    for (uint64_t i = 0; i < count && in.left() >= kEntry; ++i) {
      const auto address = in.read<uint64_t>("StartOfMemoryRange");
      const auto size = in.read<uint64_t>("DataSize");
      if (size > UINT64_MAX - offset) return damage(in.offset() - 8, "memory", "a size of 2^64");
      add_memory(address, offset, size);
      offset += size;
    }
  }

  static constexpr uint64_t kModuleBytes = 108;
  static constexpr uint64_t kThreadBytes = 48;
  static constexpr uint64_t kMemoryBytes = 16;

  Bytes file_;
  const std::string& name_;
  ProblemLog& problems_;
  uint64_t name_bytes_left_ = file_.size();
  bool reads_modules_ = false;  // what is missing may have named modules
  Minidump dump_;
};

}  // namespace

bool is_minidump(Bytes file) {
  Cursor in(file);
  return in.read<uint32_t>("Signature") == kSignature && !in.error();
}

Result<Minidump> read_minidump(Bytes file, const std::string& name, ProblemLog& problems) {
  return Reader(file, name, problems).read();
}

std::string minidump_stream_name(uint32_t type) {
  switch (type) {
    case kThreadList:
      return "ThreadListStream";
    case kModuleList:
      return "ModuleListStream";
    case kMemoryList:
      return "MemoryListStream";
    case kException:
      return "ExceptionStream";
    case kSystemInfo:
      return "SystemInfoStream";
    case kMemory64List:
      return "Memory64ListStream";
    case kMiscInfo:
      return "MiscInfoStream";
    case kLinuxStatus:
      return "LinuxProcStatus";
    case kLinuxCommand:
      return "LinuxCmdLine";
    case kLinuxAuxiliaryVector:
      return "LinuxAuxv";
    default:
      return fmt::format("{:#x}", type);
  }
}

}  // namespace telltale
