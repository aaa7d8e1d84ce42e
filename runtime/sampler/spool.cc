#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>

#include "../descriptors/open_file.h"
#include "formats/sampler/wire.h"

namespace telltale::sampler {
namespace {

constexpr size_t kBuildBytes = 64;          // of a build-id; usually 20
constexpr char kSpooledPaths[] = ".paths";  // as in src/collect/client/report_spool.h
constexpr long kNanoseconds = 1'000'000'000;

char spool_folder[kPathBytes];
char paths_pattern[kPathBytes];  // for the crash handler of programs with path tracing
char application[kApplicationBytes + 1];
char build[2 * kBuildBytes + 1];
timespec started;     // CLOCK_REALTIME
timespec started_at;  // CLOCK_MONOTONIC
const char* refusal = nullptr;

// The program is the first module.
int note_build(struct dl_phdr_info* module, size_t, void*) {
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = module->dlpi_phdr[i];
    if (part.p_type != PT_NOTE) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader gives integers.
    const auto* at = reinterpret_cast<const char*>(module->dlpi_addr + part.p_vaddr);
    const char* const end = at + part.p_memsz;
    const size_t alignment = part.p_align == 8 ? 8 : 4;
    while (static_cast<size_t>(end - at) >= sizeof(ElfW(Nhdr))) {
      ElfW(Nhdr) note;
      ::memcpy(&note, at, sizeof(note));
      const auto padded = [alignment](size_t size) {
        return (size + alignment - 1) / alignment * alignment;
      };
      const size_t size = sizeof(note) + padded(note.n_namesz) + padded(note.n_descsz);
      if (size > static_cast<size_t>(end - at)) break;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && note.n_descsz <= kBuildBytes &&
          ::memcmp(at + sizeof(note), "GNU", 4) == 0) {
        const char* const id = at + sizeof(note) + padded(note.n_namesz);
        for (size_t byte = 0; byte < note.n_descsz; ++byte) {
          const auto value = static_cast<unsigned char>(id[byte]);
          build[2 * byte] = "0123456789abcdef"[value >> 4];
          build[2 * byte + 1] = "0123456789abcdef"[value & 15];
        }
        return 1;
      }
      at += size;
    }
  }
  return 1;
}

// Reads at most `bytes` of a file; returns how many, or -1 and errno.
ssize_t read_small(const char* path, char* text, size_t bytes) {
  const int file = descriptors::open_file(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return -1;
  size_t used = 0;
  ssize_t got = 1;
  while (used < bytes && got > 0) {
    got = ::read(file, text + used, bytes - used);
    if (got > 0) used += static_cast<size_t>(got);
  }
  const int failure = errno;
  ::close(file);
  errno = failure;
  return got < 0 ? -1 : static_cast<ssize_t>(used);
}

Consent ask_file() {
  char path[kPathBytes];
  const char* const config = ::secure_getenv("XDG_CONFIG_HOME");
  const char* const home = ::secure_getenv("HOME");
  int size = -1;
  if (config != nullptr && *config == '/') {
    size = ::snprintf(path, sizeof(path), "%s%s", config, kConsentFile);
  } else if (home != nullptr && *home == '/') {
    size = ::snprintf(path, sizeof(path), "%s/.config%s", home, kConsentFile);
  }
  if (size < 0 || static_cast<size_t>(size) >= sizeof(path)) return Consent::unsaid;
  static char text[16384];
  const ssize_t used = read_small(path, text, sizeof(text));
  if (used >= 0) return consent_of(text, static_cast<size_t>(used), application);
  // A file that cannot be read may say no.
  return errno == ENOENT || errno == ENOTDIR ? Consent::unsaid : Consent::off;
}

// opendir(3) would allocate while the program starts.
bool has_room(const char* path) {
  const int folder = descriptors::open_file(path, O_RDONLY | O_DIRECTORY);
  if (folder < 0) return false;
  size_t files = 0;
  alignas(8) char entries[4096];
  long bytes = 0;
  constexpr size_t kSizeAt = 16;  // in linux_dirent64, after two numbers of 64 bits
  while (files < kSpoolLimit &&
         (bytes = ::syscall(SYS_getdents64, folder, entries, sizeof(entries))) > 0) {
    for (long at = 0; at < bytes; ++files) {
      uint16_t size = 0;
      ::memcpy(&size, entries + at + kSizeAt, sizeof(size));
      if (size == 0) break;
      at += size;
    }
  }
  ::close(folder);
  return files < kSpoolLimit;
}

bool put_pattern(const char* folder, char* pattern) {
  uint8_t random[kIdDigits / 2];
  if (::getrandom(random, sizeof(random), GRND_NONBLOCK) != static_cast<ssize_t>(sizeof(random)))
    return false;
  char digits[kIdDigits + 1];
  for (size_t i = 0; i < sizeof(random); ++i)
    ::snprintf(digits + 2 * i, 3, "%02x", static_cast<unsigned>(random[i]));
  size_t used = 0;
  for (const char* from = folder; *from != 0; ++from) {
    if (used + 2 >= kPathBytes) return false;
    if (*from == '%') pattern[used++] = '%';
    pattern[used++] = *from;
  }
  const int size = ::snprintf(pattern + used, kPathBytes - used, "/%s-%%p%s", digits, kSpooling);
  if (size <= 0 || static_cast<size_t>(size) >= kPathBytes - used) return false;
  const int paths = ::snprintf(paths_pattern, kPathBytes, "%.*s/%s-%%p%s", static_cast<int>(used),
                               pattern, digits, kSpooledPaths);
  if (paths <= 0 || static_cast<size_t>(paths) >= kPathBytes) *paths_pattern = 0;
  return true;
}

// Days since 1970 to a date of the Gregorian calendar, in eras of 400 years that begin in March.
void put_time(Writer& out, time_t seconds) {
  constexpr int64_t kDay = 86400;
  const auto two = [&out](int64_t number) {
    out.put(static_cast<char>('0' + number / 10));
    out.put(static_cast<char>('0' + number % 10));
  };
  const int64_t days = seconds / kDay + 719468;  // since 1 March of the year 0
  const int64_t era = days / 146097;
  const int64_t day_of_era = days % 146097;
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t month = (5 * day_of_year + 2) / 153;  // from March
  out.decimal(static_cast<uint64_t>(year_of_era + era * 400 + (month >= 10 ? 1 : 0)));
  out.put('-');
  two(month < 10 ? month + 3 : month - 9);
  out.put('-');
  two(day_of_year - (153 * month + 2) / 5 + 1);
  out.put('T');
  two(seconds % kDay / 3600);
  out.put(':');
  two(seconds % 3600 / 60);
  out.put(':');
  two(seconds % 60);
  out.put('Z');
}

// strsignal(3) and its kin are not async-signal-safe.
void put_signal(Writer& out, int signal) {
  constexpr struct {
    int number;
    const char* name;
  } kNames[] = {{SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
                {SIGHUP, "SIGHUP"},   {SIGILL, "SIGILL"},   {SIGINT, "SIGINT"},
                {SIGPIPE, "SIGPIPE"}, {SIGQUIT, "SIGQUIT"}, {SIGSEGV, "SIGSEGV"},
                {SIGSYS, "SIGSYS"},   {SIGTERM, "SIGTERM"}, {SIGTRAP, "SIGTRAP"},
                {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"}};
  for (const auto& known : kNames) {
    if (known.number == signal) return out.put(known.name);
  }
  out.decimal(static_cast<uint64_t>(signal));
}

void put_begin(Writer& out, const char* id) {
  out.put("<report id=\"");
  out.put(id);
  out.put("\">\n");
}

}  // namespace

const char* spool_refusal() { return refusal; }

void refuse_spool(const char* why) { refusal = why; }

const char* spooled_paths_pattern() { return *paths_pattern == 0 ? nullptr : paths_pattern; }

bool choose_spool(const char* folder, char* pattern) {
  if (folder == nullptr || *folder != '/' || ::strlen(folder) >= sizeof(spool_folder)) return false;
  char program[kPathBytes];
  const ssize_t size = ::readlink("/proc/self/exe", program, sizeof(program) - 1);
  if (size <= 0) return false;
  program[size] = 0;
  put_application_name(program, application);
  if (*application == 0) return false;
  if (ask_file() == Consent::off) {
    refuse_spool("the user's file of consent says off, or cannot be read");
    return false;
  }
  ::memcpy(spool_folder, folder, ::strlen(folder) + 1);
  if (!has_room(spool_folder)) {
    refuse_spool("the folder of TELLTALE_COLLECT cannot be opened, or is full of files");
    return false;
  }
  ::dl_iterate_phdr(note_build, nullptr);
  ::clock_gettime(CLOCK_REALTIME, &started);
  ::clock_gettime(CLOCK_MONOTONIC, &started_at);
  return put_pattern(spool_folder, pattern);
}

SamplingWish spool_wish() {
  SamplingWish wish;
  wish.sparsity = kSpoolSparsity;
  char path[kPathBytes];
  static char text[kSamplingFileBytes];
  int size = ::snprintf(path, sizeof(path), "%s/%s", spool_folder, kSpoolSampling);
  if (size > 0 && static_cast<size_t>(size) < sizeof(path)) {
    const ssize_t used = read_small(path, text, sizeof(text));
    const WishText rules{text, text + (used < 0 ? 0 : used)};
    if (find_sampling_rule(rules, application, {build, build + ::strlen(build)}, wish)) return wish;
  }
  size = ::snprintf(path, sizeof(path), "%s/%s/%s", spool_folder, kSpoolSparsities, build);
  if (*build != 0 && size > 0 && static_cast<size_t>(size) < sizeof(path)) {
    const ssize_t used = read_small(path, text, sizeof(text));
    if (used > 0) read_sampling_wish({text, text + used}, wish);
  }
  return wish;
}

void put_run(Writer& out, const char* sparsity, const uint64_t* seed) {
  put_begin(out, kRunReport);
  out.put("application ");
  out.put(application);
  if (*build != 0) {
    out.put("\nbuild ");
    out.put(build);
  }
  out.put("\nstarted ");
  put_time(out, started.tv_sec);
  if (*sparsity != 0) {
    out.put("\nsparsity ");
    out.put(sparsity);
  }
  if (seed != nullptr) {
    out.put("\nseed ");
    out.decimal(*seed);
  }
  out.put("\n</report>\n");
}

void put_outcome(Writer& out, int signal, int status) {
  put_begin(out, kOutcomeReport);
  if (signal != 0) {
    out.put("signal ");
    put_signal(out, signal);
  } else {
    out.put("status ");
    out.decimal(static_cast<uint64_t>(status & 0xff));
  }
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const int64_t elapsed =
      (now.tv_sec - started_at.tv_sec) * kNanoseconds + now.tv_nsec - started_at.tv_nsec;
  const auto milliseconds = static_cast<uint64_t>(elapsed < 0 ? 0 : elapsed / 1'000'000);
  out.put("\nseconds ");
  out.decimal(milliseconds / 1000);
  out.put('.');
  for (uint64_t unit = 100; unit > 0; unit /= 10)
    out.put(static_cast<char>('0' + milliseconds / unit % 10));
  out.put("\n</report>\n");
}

void finish_spooled(const char* path) {
  char name[kPathBytes + sizeof(kSpooled)];
  const int size = static_cast<int>(::strlen(path) - (sizeof(kSpooling) - 1));
  ::snprintf(name, sizeof(name), "%.*s%s", size, path, kSpooled);
  ::rename(path, name);
}

}  // namespace telltale::sampler

// runtime/paths asks for it, if the program has both runtimes.
extern "C" const char* telltale_spooled_paths_v1() {  // NOLINT: a symbol
  return telltale::sampler::spooled_paths_pattern();
}
