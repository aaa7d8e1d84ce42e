// R1, R5, R10, R11, R12: hosts that load and unload code, record before and after main, run out of
// disk, and call the recorder from inside their allocator.

#include <dlfcn.h>
#include <signal.h>
#include <sys/resource.h>

#include <new>
#include <thread>

#include "recorded.h"

namespace {

using recorded::fail;
using telltale::st::sink_control;

// Allocations during a checkpoint. The program's own allocator has checkpoints, too.
thread_local bool must_not_allocate = false;
thread_local bool records_allocations = false;
thread_local uint64_t allocations = 0;
thread_local bool inside = false;

}  // namespace

extern "C" void* __libc_malloc(size_t bytes);
extern "C" void* malloc(size_t bytes) {
  if (must_not_allocate) {
    static constexpr char kText[] = "FAILED: a checkpoint allocates\n";
    (void)!write(2, kText, sizeof(kText) - 1);
    _exit(1);
  }
  if (records_allocations && !inside) {
    inside = true;
    ++allocations;
    TELLTALE_STEP("malloc");
    inside = false;
  }
  return __libc_malloc(bytes);
}

namespace {

struct Early {
  Early() { TELLTALE_STEP("constructor of a static"); }
  ~Early() { TELLTALE_STEP("destructor of a static"); }
};
Early early;

void allocation_free() {
  const recorded::Folder folder;
  telltale::st::FileOptions options;
  options.rotate_bytes = 1U << 17;
  recorded::open_file(folder, options);
  uint64_t emitted = 0;
  const std::string text(300, 't');
  must_not_allocate = true;
  for (int i = 0; i < 20000; ++i, emitted += 4) {
    TELLTALE_FUNCTION();
    TELLTALE_VALUE("number", i);
    TELLTALE_VALUE("text", text);
  }
  must_not_allocate = false;
  sink_control::close();
  uint64_t found = 0;
  const auto files = folder.files();
  for (const std::string& path : files) {
    const recorded::File file = recorded::read_file(path);
    if (file.unnamed + file.torn != 0) fail("%s: %zu unnamed", path.c_str(), size_t{file.unnamed});
    if (file.bytes > 1U << 17) fail("%s has %zu bytes", path.c_str(), file.bytes);
    found += file.hits.size() + file.all_lost();
  }
  if (files.size() < 10 || found != emitted)
    fail("%zu of %zu in %zu files", size_t{found}, size_t{emitted}, files.size());
}

void inside_malloc() {
  const recorded::Folder folder;
  recorded::open_file(folder);
  records_allocations = true;
  for (int i = 0; i < 1000; ++i) {
    std::vector<std::string> strings(10, std::string(100, 'x'));
    TELLTALE_VALUE("size", strings.size());
  }
  records_allocations = false;
  const uint64_t emitted = allocations + 1000;
  sink_control::close();
  const recorded::File file = recorded::read_file(folder.files().at(0));
  if (file.hits.size() != emitted) fail("%zu of %zu events", file.hits.size(), size_t{emitted});
}

void modules(const char* first, const char* second) {
  const recorded::Folder folder;
  recorded::open_file(folder);
  for (int i = 0; i < 100; ++i) {
    void* const module = dlopen(i % 2 == 0 ? first : second, RTLD_NOW | RTLD_LOCAL);
    if (module == nullptr) fail("%s", dlerror());
    reinterpret_cast<void (*)()>(dlsym(module, "work"))();
    dlclose(module);
    if (dlopen(i % 2 == 0 ? first : second, RTLD_NOW | RTLD_NOLOAD) != nullptr)
      fail("the module stays loaded");
  }
  sink_control::close();
  const recorded::File file = recorded::read_file(folder.files().at(0));
  if (file.hits.size() != 300) fail("%zu of 300 events", file.hits.size());
  for (size_t i = 0; i < 300; ++i) {
    const std::string which = i / 3 % 2 == 0 ? "first" : "second";
    const std::string expected =
        (i % 3 == 1 ? "value of the " : "block of the ") + which + " module";
    if (file.names.at(file.hits[i].scope) != expected)
      fail("%s is called %s", expected.c_str(), file.names.at(file.hits[i].scope).c_str());
  }
}

void* last_thread(void*) {
  for (;;) {
    TELLTALE_STEP("thread that outlives main");
    usleep(100);
  }
}

// The environment opened the recording, before the first constructor; main() ends while a thread
// records.
int order() {
  if (sink_control::path(0) == nullptr) fail("nothing was opened");
  std::printf("%s\n", sink_control::path(0));
  pthread_t thread;
  pthread_create(&thread, nullptr, last_thread, nullptr);
  std::atexit([] { TELLTALE_STEP("atexit"); });
  usleep(5000);
  return 0;
}

// The file has a size limit: events that do not fit are counted, and the host notices nothing.
void disk(const char* folder_path) {
  signal(SIGXFSZ, SIG_DFL);
  const rlimit limit{200'000, 200'000};
  if (folder_path == nullptr) setrlimit(RLIMIT_FSIZE, &limit);
  const recorded::Folder own;
  telltale::st::FileOptions options;
  options.directory = folder_path == nullptr ? own.path.c_str() : folder_path;
  const int sink = sink_control::open(options);
  if (sink < 0) fail("open: %s", std::strerror(-sink));
  const std::string path = sink_control::path(sink);
  constexpr uint64_t kEvents = 100'000;
  errno = 12345;
  for (uint64_t i = 0; i < kEvents; ++i) TELLTALE_STEP("step");
  if (errno != 12345) fail("errno is %d", errno);
  sink_control::close();
  const recorded::File file = recorded::read_file(path);
  const auto statistics = sink_control::statistics();
  if (file.lost.at(1) == 0 || file.lost.at(1) != statistics.no_space ||
      file.hits.size() + file.all_lost() != kEvents) {
    fail("%zu recorded, %zu lost of %zu", file.hits.size(), size_t{file.all_lost()},
         size_t{kEvents});
  }
  unlink(path.c_str());
}

// A recording that cannot continue: its file is removed, or replaced by another.
void replaced() {
  for (const bool other : {false, true}) {
    const recorded::Folder folder;
    recorded::open_file(folder);
    const std::string path = sink_control::path(0);
    unlink(path.c_str());
    if (other) {
      FILE* const file = std::fopen(path.c_str(), "w");
      std::fputs("somebody else's", file);
      std::fclose(file);
    }
    const uint64_t before = sink_control::statistics().no_space;
    for (int i = 0; i < 5000; ++i) TELLTALE_STEP("step");
    if (sink_control::statistics().no_space == before) fail("nothing is counted");
    sink_control::close();
    if (other && recorded::read_bytes(path).size() != 15) fail("another's file was written to");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "order") return order();
  if (what == "allocation_free") allocation_free();
  if (what == "inside_malloc") inside_malloc();
  if (what == "modules") modules(argv[2], argv[3]);
  if (what == "disk") disk(argc > 2 ? argv[2] : nullptr);
  if (what == "replaced") replaced();
  std::printf("ok %s\n", what.c_str());
  return 0;
}
