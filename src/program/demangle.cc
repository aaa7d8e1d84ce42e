#include "program/demangle.h"

#include <libiberty/demangle.h>
#include <pthread.h>

#include <csetjmp>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "program/llvm_demangler.h"

namespace telltale {

namespace {

constexpr size_t kMaxLinkageName = 16384;
constexpr size_t kMaxOutput = 65536;
// Above this length the demangler's recursion guard has to be disabled; such names get a thread
// with a stack that no name of kMaxLinkageName can exhaust.
constexpr size_t kMaxGuardedName = 1000;
constexpr size_t kLongNameStack = size_t{64} << 20;

// A few hundred bytes of linkage name can expand to more text than any memory holds (substitutions
// double it), and libiberty has no limit. It prints into this sink, which leaves by longjmp at the
// limit; only C frames are skipped.
struct Output {
  char text[kMaxOutput];
  size_t size = 0;
  std::jmp_buf too_long;
};

void append(const char* piece, size_t size, void* opaque) {
  auto* output = static_cast<Output*>(opaque);
  if (size > kMaxOutput - output->size) std::longjmp(output->too_long, 1);
  __builtin_memcpy(output->text + output->size, piece, size);
  output->size += size;
}

enum class Scheme { rust, cpp };

// True if `linkage_name` has this scheme; then `output` contains the readable name.
bool print(Scheme scheme, const char* linkage_name, int options, Output* output) {
  output->size = 0;
  if (setjmp(output->too_long) != 0) return false;  // NOLINT(cert-err52-cpp): see Output
  const int done = scheme == Scheme::rust
                       ? rust_demangle_callback(linkage_name, options, append, output)
                       : cplus_demangle_v3_callback(linkage_name, options, append, output);
  return done != 0;
}

struct Task {
  std::string linkage_name;
  int options = DMGL_PARAMS | DMGL_ANSI;
  Output output;
  std::optional<std::string> readable;

  // libiberty first: it reads Rust, too, and its style of C++ names is that of gdb and perf.
  void run() {
    if (print(Scheme::rust, linkage_name.c_str(), options, &output) ||
        print(Scheme::cpp, linkage_name.c_str(), options, &output)) {
      readable.emplace(output.text, output.size);
    } else {
      readable = llvm_demangle(linkage_name.c_str(), kMaxOutput);
    }
  }
};

void* run_on_thread(void* task) {
  static_cast<Task*>(task)->run();
  return nullptr;
}

void run_with_large_stack(Task& task) {
  task.options |= DMGL_NO_RECURSE_LIMIT;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return;
  pthread_t thread{};
  if (pthread_attr_setstacksize(&attributes, kLongNameStack) == 0 &&
      pthread_create(&thread, &attributes, run_on_thread, &task) == 0) {
    pthread_join(thread, nullptr);
  }
  pthread_attr_destroy(&attributes);
}

bool may_be_mangled(std::string_view name) {
  return name.starts_with("_Z") || name.starts_with("_R") || name.starts_with("__Z") ||
         name.starts_with("__R");
}

}  // namespace

std::string demangle(std::string_view linkage_name) {
  if (!may_be_mangled(linkage_name) || linkage_name.size() > kMaxLinkageName)
    return std::string(linkage_name);
  const auto task = std::make_unique<Task>();
  task->linkage_name = linkage_name;
  if (linkage_name.size() <= kMaxGuardedName) {
    task->run();
  } else {
    run_with_large_stack(*task);
  }
  if (!task->readable || task->readable->empty()) return std::string(linkage_name);
  return *std::move(task->readable);
}

}  // namespace telltale
