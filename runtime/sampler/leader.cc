#include "leader.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <string.h>

#include "access_windows.h"
#include "generator.h"
#include "settings.h"
#include "signals.h"
#include "trace.h"

// Missing in static programs.
#pragma weak dlopen

namespace telltale::sampler {

const EntryPoints* the_leader = nullptr;

namespace {

// Changes when EntryPoints or the structures that it passes change.
constexpr uint32_t kCopyVersion = 0x200 + kAbiVersion;

enum Role : uint32_t { kDoesNotLead = 0, kLeads = 1, kLeadsAndReports = 2 };

// What copies of any release find of this one. The layout never changes.
struct RuntimeCopy {
  uint32_t version;
  uint32_t role;
  const EntryPoints* entries;
};

int32_t swap_window() { return telltale_sampler_swap_window; }

const EntryPoints kOwnEntryPoints = {telltale_sampler_register_v1,
                                     telltale_sampler_unregister_v1,
                                     telltale_sampler_leaving_v1,
                                     telltale_sampler_ending_v1,
                                     telltale_sampler_quick_exit_v1,
                                     telltale_sampler_reset_v1,
                                     telltale_sampler_tick,
                                     telltale_sampler_trace_v1,
                                     telltale_sampler_next,
                                     telltale_sampler_next_r,
                                     telltale_sampler_region_due_v1,
                                     telltale_sampler_region_due_r_v2,
                                     telltale_sampler_turn_v1,
                                     telltale_sampler_turn_r_v1,
                                     telltale_sampler_atoms_enter_v1,
                                     telltale_sampler_atoms_leave_v1,
                                     telltale_sampler_atoms_begin_v1,
                                     telltale_sampler_swap_enter_v1,
                                     telltale_sampler_swap_leave_v1,
                                     telltale_sampler_swap_begin_v1,
                                     swap_window,
                                     is_tracing,
                                     watches_signals,
                                     install_signal_stack};

}  // namespace
}  // namespace telltale::sampler

// An ELF note refers to this structure. Symbols do not suffice: a library may hide them, and
// symbols of dlopened libraries are not looked up by others.
extern "C" {
__attribute__((visibility("hidden"), used)) telltale::sampler::RuntimeCopy telltale_sampler_copy = {
    telltale::sampler::kCopyVersion, telltale::sampler::kDoesNotLead,
    &telltale::sampler::kOwnEntryPoints};
}

asm(".pushsection .note.telltale.sampler,\"a\",%note\n"
    "\t.balign 4\n"
    "\t.long 12, 4, 1\n"  // sizes of the name and of what it says, and the kind
    "\t.asciz \"Telltale\"\n"
    "\t.balign 4\n"
    "\t.long telltale_sampler_copy - .\n"
    "\t.popsection\n");

namespace telltale::sampler {
namespace {

constexpr uint32_t kNameSize = 12;
constexpr char kName[kNameSize] = "Telltale";
constexpr uint32_t kKind = 1;

// The copy that a note between `at` and `end` refers to, or null.
RuntimeCopy* copy_in(const char* at, const char* end, size_t alignment) {
  while (static_cast<size_t>(end - at) >= sizeof(ElfW(Nhdr))) {
    const auto* const note = reinterpret_cast<const ElfW(Nhdr)*>(at);
    const auto padded = [alignment](uint32_t size) {
      return (size_t{size} + alignment - 1) / alignment * alignment;
    };
    const size_t size = sizeof(*note) + padded(note->n_namesz) + padded(note->n_descsz);
    if (size > static_cast<size_t>(end - at)) return nullptr;
    const char* const said = at + sizeof(*note) + kNameSize;
    if (note->n_type == kKind && note->n_namesz == kNameSize && note->n_descsz == sizeof(int32_t) &&
        ::memcmp(at + sizeof(*note), kName, kNameSize) == 0) {
      int32_t distance = 0;
      ::memcpy(&distance, said, sizeof(distance));
      return reinterpret_cast<RuntimeCopy*>(const_cast<char*>(said) + distance);
    }
    at += size;
  }
  return nullptr;
}

struct Search {
  const RuntimeCopy* leading = nullptr;
  const char* own_module = "";
};

int look_at(struct dl_phdr_info* module, size_t, void* memory) {
  auto& search = *static_cast<Search*>(memory);
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = module->dlpi_phdr[i];
    if (part.p_type != PT_NOTE) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader gives integers.
    const auto* const begin = reinterpret_cast<const char*>(module->dlpi_addr + part.p_vaddr);
    constexpr size_t kUsual = 4;
    constexpr size_t kWide = 8;
    const RuntimeCopy* const found =
        copy_in(begin, begin + part.p_memsz, part.p_align == kWide ? kWide : kUsual);
    if (found == &telltale_sampler_copy) {
      search.own_module = module->dlpi_name;
    } else if (found != nullptr &&
               __atomic_load_n(&found->role, __ATOMIC_ACQUIRE) != kDoesNotLead) {
      search.leading = found;
    }
  }
  return 0;
}

void follow(const EntryPoints& other) {
  // Only the leader knows whether a window is open, so every access asks it.
  telltale_sampler_atoms_window = 1;
  telltale_sampler_atoms_rw_window = 1;
  ::pthread_atfork(nullptr, nullptr, begin_generators);
  __atomic_store_n(&the_leader, &other, __ATOMIC_RELEASE);
}

}  // namespace

void find_leader() {
  static bool done = false;
  if (done) return;
  done = true;
  Search search;
  ::dl_iterate_phdr(look_at, &search);
  if (search.leading != nullptr && search.leading->version == kCopyVersion)
    return follow(*search.leading->entries);
  // The leader removed its settings from the environment, so this copy cannot report: a run has one
  // report.
  if (search.leading != nullptr && search.leading->role == kLeadsAndReports) {
    leave_out_spool();  // whose variable stays
    warn("built by another release of telltale-cc than the rest; not in the report",
         *search.own_module == 0 ? "the program" : search.own_module);
  }
  __atomic_store_n(&telltale_sampler_copy.role, kLeads, __ATOMIC_RELEASE);
  if (*search.own_module != 0 && dlopen != nullptr)
    ::dlopen(search.own_module, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

void announce_report() {
  __atomic_store_n(&telltale_sampler_copy.role, kLeadsAndReports, __ATOMIC_RELEASE);
}

}  // namespace telltale::sampler
