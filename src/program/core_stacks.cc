#include "program/core_stacks.h"

#include <elf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>
#include <libelf.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "bytes/input_file.h"
#include "program/code_addresses.h"
#include "program/core_programs.h"
#include "program/debug_file_search.h"
#include "program/dwarf_registers.h"
#include "program/exception_landing.h"
#include "program/frame_reader.h"
#include "program/static_sections.h"
#include "program/vdso.h"

namespace telltale {

class CoreStacks::State {
 public:
  State(const CoreFile& core, const CoreStackOptions& options, SymbolizerOptions debug_files)
      : core_(core),
        options_(options),
        debug_files_(debug_files.debug_files),
        search_(std::move(debug_files)) {
    for (const CoreThread& thread : core.threads()) sources_.push_back({&thread, this});
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (dwfl_ != nullptr) dwfl_end(dwfl_);
  }

  Result<void> open(const CorePrograms& programs, const std::string& core_name,
                    ProblemLog& problems) {
    dwfl_ = dwfl_begin(search_.callbacks());
    if (dwfl_ == nullptr) return usage_error(dwfl_errmsg(-1));
    mappings_ = programs.mappings;
    dwfl_report_begin(dwfl_);
    for (const CoreProgram& program : programs.programs) {
      Dwfl_Module* module = dwfl_report_elf(dwfl_, program.path.c_str(), program.path.c_str(), -1,
                                            program.bias, /*add_p_vaddr=*/true);
      if (module != nullptr) {
        search_.attach(module);
        modules_.emplace_back(program.path, module);
        biases_[program.path].push_back(program.bias);
      } else {
        problems.add({Problem::Kind::oddity, 0, core_name, "mapped file",
                      fmt::format("{} cannot be used: {}", program.path, dwfl_errmsg(-1)), 0});
      }
    }
    report_vdso(core_, dwfl_);
    dwfl_report_end(dwfl_, nullptr, nullptr);
    for (const auto& [path, module] : modules_) tell_unreadable_debug_info(path, module, problems);
    if (modules_.empty()) return {};
    static constexpr Dwfl_Thread_Callbacks kCallbacks = {
        .next_thread = next_thread,
        .get_thread = nullptr,
        .memory_read = read_memory,
        .set_initial_registers = set_registers,
        .detach = nullptr,
        .thread_detach = nullptr,
    };
    const pid_t pid = core_.pid() > 0 ? static_cast<pid_t>(core_.pid()) : 1;
    attached_ = dwfl_attach_state(dwfl_, nullptr, pid, &kCallbacks, this);
    if (!attached_) why_not_attached_ = dwfl_errmsg(-1);
    return {};
  }

  std::vector<ThreadStack> threads(const FindVariables& find, const ReadDebugInfo& read_debug_info,
                                   ProblemLog& problems) {
    std::vector<ThreadStack> stacks;
    frames_.emplace(core_, options_.variables, find, read_debug_info);
    if (attached_) {
      stacks_ = &stacks;
      dwfl_getthreads(dwfl_, read_thread, this);
      stacks_ = nullptr;
    }
    for (const auto& [module, file] : frames_->missing_files()) {
      problems.add({Problem::Kind::loss, 0, module, ".debug_info",
                    fmt::format("the rest of it is in {}, which was not found or cannot be read: "
                                "inlined functions may be missing",
                                file),
                    0});
    }
    for (const std::string& program : search_.sent_others()) {
      problems.add({Problem::Kind::loss, 0, program, ".debug_info",
                    "a server of DEBUGINFOD_URLS sent the debug file of another build, which is "
                    "not used",
                    0});
    }
    // Threads that libdwfl was not asked for have the one frame that their registers tell of.
    for (const CoreThread& thread : core_.threads()) {
      const auto same = [&](const ThreadStack& stack) { return stack.tid == thread.tid; };
      if (std::ranges::any_of(stacks, same)) continue;
      stacks.push_back({.tid = thread.tid, .frames = {}, .cut = cannot_unwind()});
      if (thread.pc == 0) continue;
      StackFrame frame;
      frame.pc = thread.pc;
      frame.interrupted = true;
      stacks.back().frames.push_back(frame);
    }
    return stacks;
  }

  std::vector<Section> sections(std::string_view name, ProblemLog& problems) {
    std::vector<Section> found;
    std::set<std::string> seen;
    for (const auto& [path, module] : modules_) {
      // A library may have been loaded several times.
      if (!seen.insert(path).second) continue;
      const size_t before = found.size();
      if (const Result<InputFile> input = InputFile::open(path))
        add_sections(input->bytes(), path, path, name, found, problems);
      if (found.size() == before) add_debug_sections(path, module, name, found, problems);
      for (size_t i = before; i < found.size(); ++i) found[i].biases = biases_.at(path);
    }
    return found;
  }

  [[nodiscard]] std::vector<uint64_t> biases_of(const std::string& module) const {
    const auto found = biases_.find(module);
    return found == biases_.end() ? std::vector<uint64_t>() : found->second;
  }

  [[nodiscard]] std::string key_of_programs() const {
    // Sorted: their addresses differ between processes.
    std::set<std::string> files(debug_files_.begin(), debug_files_.end());
    for (const auto& [path, module] : modules_) files.insert(path);
    std::string key = std::to_string(core_.machine());
    for (const std::string& path : files) {
      struct stat status{};
      if (::stat(path.c_str(), &status) != 0) status = {};
      key += fmt::format("\n{} {} {} {} {}.{}", path, status.st_dev, status.st_ino, status.st_size,
                         status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
    }
    return key;
  }

 private:
  // Older releases of libdw ignore debug information that is compressed by zstd.
  static void tell_unreadable_debug_info(const std::string& path, Dwfl_Module* module,
                                         ProblemLog& problems) {
    GElf_Addr bias = 0;
    Elf* const elf = dwfl_module_getelf(module, &bias);
    if (elf == nullptr || !has_zstd_debug_info(elf)) return;
    Dwarf_Addr dwarf_bias = 0;
    if (dwfl_module_getdwarf(module, &dwarf_bias) != nullptr) return;
    problems.add({Problem::Kind::loss, 0, path, ".debug_info",
                  "it is compressed by zstd, which the installed libdw cannot read: lines and "
                  "inlined functions are missing; compile with -gz=zlib, or use objcopy "
                  "--decompress-debug-sections",
                  0});
  }

  static bool has_zstd_debug_info(Elf* elf) {
    constexpr GElf_Word kZstd = 2;  // ELFCOMPRESS_ZSTD
    size_t names = 0;
    if (elf_getshdrstrndx(elf, &names) != 0) return false;
    for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr;
         section = elf_nextscn(elf, section)) {
      GElf_Shdr header;
      GElf_Chdr compression;
      if (gelf_getshdr(section, &header) == nullptr || (header.sh_flags & SHF_COMPRESSED) == 0)
        continue;
      const char* const name = elf_strptr(elf, names, header.sh_name);
      if (name != nullptr && std::string_view(name) == ".debug_info" &&
          gelf_getchdr(section, &compression) != nullptr && compression.ch_type == kZstd)
        return true;
    }
    return false;
  }

  // Of the module's separate debug file.
  static void add_debug_sections(const std::string& path, Dwfl_Module* module,
                                 std::string_view name, std::vector<Section>& found,
                                 ProblemLog& problems) {
    // For a module without symbols libdwfl opens that file here; dwfl_module_getdwarf would also
    // decompress all of its DWARF, which takes longer than everything else.
    dwfl_module_getsymtab(module);
    const char* debug_file = nullptr;
    dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &debug_file);
    if (debug_file != nullptr) {
      const Result<InputFile> input = InputFile::open(debug_file);
      if (input) return add_sections(input->bytes(), path, debug_file, name, found, problems);
    }
    Dwarf_Addr bias = 0;
    Dwarf* dwarf = dwfl_module_getdwarf(module, &bias);
    if (dwarf == nullptr) return;
    dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &debug_file);
    size_t size = 0;
    const char* raw = elf_rawfile(dwarf_getelf(dwarf), &size);
    // A file from debuginfod has no name.
    const std::string file = debug_file != nullptr ? debug_file : "the debug file of " + path;
    if (raw != nullptr)
      add_sections(std::as_bytes(std::span(raw, size)), path, file, name, found, problems);
  }

  static void add_sections(Bytes bytes, const std::string& module, const std::string& file,
                           std::string_view name, std::vector<Section>& found,
                           ProblemLog& problems) {
    const Result<StaticSections> all = read_static_sections(bytes, file, name, problems);
    if (!all) return;
    for (const StaticSection& section : all->sections) {
      found.push_back(
          {.module = module,
           .file = file,
           .offset = section.offset,
           .bytes = {reinterpret_cast<const char*>(section.bytes.data()), section.bytes.size()}});
    }
  }

  [[nodiscard]] std::string cannot_unwind() const {
    if (core_.machine() != EM_X86_64 && core_.machine() != EM_AARCH64)
      return "stacks of this machine cannot be unwound";
    if (modules_.empty()) return "none of the programs was found; use --program";
    return why_not_attached_.empty() ? "its registers are missing" : why_not_attached_;
  }

  // What libdwfl passes to set_registers.
  struct ThreadSource {
    const CoreThread* thread;
    const State* state;
  };

  // All are zero in a file of TELLTALE_PATHS if the thread blocked all signals.
  static bool has_registers(const CoreThread& thread) {
    return std::ranges::any_of(thread.registers, [](uint64_t value) { return value != 0; });
  }

  static pid_t next_thread(Dwfl*, void* self_pointer, void** thread_pointer) {
    auto* self = static_cast<State*>(self_pointer);
    std::vector<ThreadSource>& sources = self->sources_;
    size_t index = 0;
    if (*thread_pointer != nullptr)
      index = static_cast<size_t>(static_cast<ThreadSource*>(*thread_pointer) - sources.data()) + 1;
    while (index < sources.size() && !has_registers(*sources[index].thread)) ++index;
    if (index >= sources.size()) return 0;
    *thread_pointer = &sources[index];
    return static_cast<pid_t>(sources[index].thread->tid);
  }

  static bool read_memory(Dwfl*, Dwarf_Addr address, Dwarf_Word* result, void* self_pointer) {
    auto* self = static_cast<State*>(self_pointer);
    const auto value = self->core_.read_number(address, 8);
    if (value) {
      *result = self->without_signature(*value);
    } else {
      self->missing_address_ = address;
    }
    return value.has_value();
  }

  static bool set_registers(Dwfl_Thread* thread, void* thread_pointer) {
    const auto* from = static_cast<const ThreadSource*>(thread_pointer);
    if (from->state->landing_) return set_landing(thread, *from->state->landing_);
    const CoreThread& core_thread = *from->thread;
    std::vector<Dwarf_Word> registers(core_thread.registers.begin(), core_thread.registers.end());
    if (registers.size() > kArmLink)
      registers[kArmLink] = from->state->without_signature(registers[kArmLink]);
    if (!dwfl_thread_state_registers(thread, 0, static_cast<unsigned>(registers.size()),
                                     registers.data()))
      return false;
    dwfl_thread_state_register_pc(thread, core_thread.pc);
    return true;
  }

  static bool set_landing(Dwfl_Thread* thread, const LandingRegisters& landing) {
    for (size_t number = 0; number < landing.registers.size(); ++number) {
      if (!landing.registers[number]) continue;
      const Dwarf_Word value = *landing.registers[number];
      if (!dwfl_thread_state_registers(thread, static_cast<int>(number), 1, &value)) return false;
    }
    dwfl_thread_state_register_pc(thread, landing.pc);
    return true;
  }

  static int read_thread(Dwfl_Thread* thread, void* self_pointer) {
    auto* self = static_cast<State*>(self_pointer);
    self->stacks_->push_back({.tid = dwfl_thread_tid(thread), .frames = {}, .cut = {}});
    self->missing_address_.reset();
    int status = DWARF_CB_OK;
    do {
      self->caller_is_landing_ = self->lands_ = false;
      status = dwfl_thread_getframes(thread, read_frame, self);
    } while (self->lands_);
    self->landing_.reset();
    self->goes_on_in_call_ = false;
    ThreadStack& stack = self->stacks_->back();
    if (status < 0) stack.cut = dwfl_errmsg(-1);
    // libdwfl takes a frame whose caller's registers cannot be read for the outermost.
    if (self->missing_address_)
      stack.cut = fmt::format("the core file has no memory at {:#x}", *self->missing_address_);
    if (self->is_lost_) {
      self->is_lost_ = false;
      stack.cut = fmt::format("{} {:#x}, and the stack does not tell who called it",
                              self->addresses().may_be_made_code(stack.frames.front().pc)
                                  ? "no file has code at"
                                  : "there is no code at",
                              stack.frames.front().pc);
    } else if (status == DWARF_CB_ABORT) {
      stack.cut = fmt::format("only the innermost {} frames are read", self->options_.most_frames);
    }
    return DWARF_CB_OK;
  }

  static int read_frame(Dwfl_Frame* state, void* self_pointer) {
    auto* self = static_cast<State*>(self_pointer);
    std::vector<StackFrame>& frames = self->stacks_->back().frames;
    if (frames.size() >= self->options_.most_frames) return DWARF_CB_ABORT;
    if (self->caller_is_landing_) return self->land(registers_of(state));
    const bool in_call = std::exchange(self->goes_on_in_call_, false);
    const size_t known = frames.size();
    self->frames_->read(self->dwfl_, state, in_call, frames);
    for (StackFrame& frame : std::span(frames).subspan(known))
      if (frame.module.empty()) frame.missing_module = self->addresses().mapped_file(frame.pc);
    if (frames.size() == 1 && frames.front().interrupted) {
      const uint64_t pc = frames.front().pc;
      const bool is_no_code = self->addresses().is_no_code(pc);
      if (is_no_code ||
          (frames.front().may_lack_caller && self->addresses().is_linkage_table(pc))) {
        if (auto caller = self->caller_after_call(registers_of(state))) {
          frames.front().may_lack_caller = false;
          self->goes_on_in_call_ = true;
          return self->land(*std::move(caller));
        }
      }
      if (is_no_code) return self->stop_without_caller(registers_of(state));
    }
    if (frames.empty() || !is_exception_unwinder(frames.back().symbol)) return DWARF_CB_OK;
    if (auto landing = self->frames_->find_landing(self->dwfl_, state, frames.back()))
      return self->land(*std::move(landing));
    self->caller_is_landing_ = self->frames_->has_landing_for_caller(self->dwfl_, state);
    return DWARF_CB_OK;
  }

  // Where the thread goes on after a call that has just been made: of an address at which there is
  // no code, for example through a null pointer, or of code of the linker. No unwind table
  // describes it, but the call has pushed the return address (x86-64) or put it into a register
  // (AArch64). libdwfl would take the frame pointer, and miss the caller.
  [[nodiscard]] std::optional<LandingRegisters> caller_after_call(
      LandingRegisters registers) const {
    constexpr uint64_t kReturnAddressBytes = 8;
    std::optional<uint64_t> address;
    if (core_.machine() == EM_AARCH64) {
      address = registers.registers[kArmLink];
    } else if (core_.machine() == EM_X86_64 && registers.registers[kRsp]) {
      address = core_.read_number(*registers.registers[kRsp], kReturnAddressBytes);
      *registers.registers[kRsp] += kReturnAddressBytes;
    }
    if (!address || !addresses().follows_call(*address)) return std::nullopt;
    registers.pc = *address - 1;
    return registers;
  }

  // The innermost frame is where no code is, and nothing tells who called it.
  int stop_without_caller(const LandingRegisters& registers) {
    const bool is_arm = core_.machine() == EM_AARCH64;
    if (addresses().may_be_made_code(registers.pc) &&
        addresses().is_frame_pointer(registers.registers[is_arm ? kArmFramePointer : kRbp],
                                     registers.registers[is_arm ? kArmStackPointer : kRsp]))
      return DWARF_CB_OK;
    is_lost_ = true;
    return DWARF_CB_ABORT;
  }

  // The thread's frames go on from a landing pad.
  int land(LandingRegisters landing) {
    landing_ = landing;
    lands_ = true;
    return DWARF_CB_ABORT;
  }

  // Functions with pointer authentication sign their return address before they save it, and
  // libdwfl of elfutils 0.188 does not know. Only what then is an address behind a call is taken
  // for one: other values are numbers of the program.
  [[nodiscard]] uint64_t without_signature(uint64_t value) const {
    const uint64_t address = value & ~core_.signature_bits();
    return address != value && addresses().follows_call(address) ? address : value;
  }

  [[nodiscard]] CodeAddresses addresses() const { return {core_, mappings_, dwfl_}; }

  static LandingRegisters registers_of(Dwfl_Frame* state) {
    LandingRegisters landing;
    dwfl_frame_pc(state, &landing.pc, nullptr);
    for (size_t number = 0; number < landing.registers.size(); ++number) {
      Dwarf_Word value = 0;
      if (dwfl_frame_reg(state, static_cast<unsigned>(number), &value) == 0)
        landing.registers[number] = value;
    }
    return landing;
  }

  const CoreFile& core_;
  CoreStackOptions options_;
  std::vector<std::string> debug_files_;  // that were given
  std::vector<CoreMapping> mappings_;
  DebugFileSearch search_;
  Dwfl* dwfl_ = nullptr;
  bool attached_ = false;
  std::string why_not_attached_;
  std::vector<std::pair<std::string, Dwfl_Module*>> modules_;  // with their paths
  std::map<std::string, std::vector<uint64_t>> biases_;        // by path
  std::optional<FrameReader> frames_;
  std::vector<ThreadSource> sources_;
  std::vector<ThreadStack>* stacks_ = nullptr;
  std::optional<LandingRegisters> landing_;  // where the thread's frames go on
  bool lands_ = false;                       // they are to be read from `landing_` on
  bool goes_on_in_call_ = false;             // `landing_` is in a call
  bool is_lost_ = false;                     // the thread is where no code is
  bool caller_is_landing_ = false;           // the next frame is in a landing pad
  std::optional<uint64_t> missing_address_;  // that the thread's unwinding wanted to read
};

CoreStacks::CoreStacks(std::unique_ptr<State> state) : state_(std::move(state)) {}
CoreStacks::CoreStacks(CoreStacks&&) noexcept = default;
CoreStacks& CoreStacks::operator=(CoreStacks&&) noexcept = default;
CoreStacks::~CoreStacks() = default;

Result<CoreStacks> CoreStacks::open(const CoreFile& core, const std::string& core_name,
                                    const CoreStackOptions& options, ProblemLog& problems) {
  const GivenPrograms given{.paths = options.programs,
                            .may_be_unused = options.other_programs,
                            .core_is_cut = options.core_is_cut};
  const Result<CorePrograms> programs = find_core_programs(core, core_name, given, problems);
  if (!programs) return std::unexpected(programs.error());
  SymbolizerOptions debug_files = options.debug_files;
  debug_files.debug_files.insert(debug_files.debug_files.end(), programs->debug_files.begin(),
                                 programs->debug_files.end());
  auto state = std::make_unique<State>(core, options, std::move(debug_files));
  if (const Result<void> done = state->open(*programs, core_name, problems); !done)
    return std::unexpected(done.error());
  return CoreStacks(std::move(state));
}

std::vector<ThreadStack> CoreStacks::threads(const FindVariables& find,
                                             const ReadDebugInfo& read_debug_info,
                                             ProblemLog& problems) const {
  return state_->threads(find, read_debug_info, problems);
}

std::vector<uint64_t> CoreStacks::biases_of(const std::string& module) const {
  return state_->biases_of(module);
}

std::string CoreStacks::key_of_programs() const { return state_->key_of_programs(); }

std::vector<CoreStacks::Section> CoreStacks::sections(std::string_view name,
                                                      ProblemLog& problems) const {
  return state_->sections(name, problems);
}

}  // namespace telltale
