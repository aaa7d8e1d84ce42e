// Guarantees of sinks: layouts, rotation, cycles, rings, callbacks, several at once.

#include <sys/time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>
#include <utility>

#include "recorded.h"

namespace {

using recorded::fail;
using telltale::st::sink_control;

struct Point {
  int x;
  friend std::ostream& operator<<(std::ostream& out, const Point& point) {
    return out << "point " << point.x;
  }
};
enum class Colour { red = 7 };

template <typename T>
T worker(T value) {
  TELLTALE_FUNCTION();
  return value;
}

struct Server {
  void serve(int request) {
    TELLTALE_FUNCTION();
    if (request == 2) throw request;
    TELLTALE_VALUE("request", request);
  }
};

// One of every kind of event.
void record_all() {
  TELLTALE_FUNCTION();
  Server server;
  for (int i = 0; i < 4; ++i) {
    try {
      server.serve(i);
    } catch (int) {
      TELLTALE_STEP("refused");
    }
  }
  worker(1.5);
  TELLTALE_BLOCK("values");
  TELLTALE_VALUE("bool", true);
  TELLTALE_VALUE("char", 'c');
  TELLTALE_VALUE("negative", -5L);
  TELLTALE_VALUE("largest", UINT64_MAX);
  TELLTALE_VALUE("half", 0.5);
  TELLTALE_VALUE("string", std::string("a string of 32 bytes: 0123456789"));
  TELLTALE_VALUE("literal", "\xC3\xA4 & <b>");
  TELLTALE_VALUE("null", static_cast<const char*>(nullptr));
  TELLTALE_VALUE("empty", "");
  TELLTALE_VALUE("streamed", Point{3});
  TELLTALE_VALUE("enumerator", Colour::red);
  TELLTALE_VALUE("long", std::string(3000, 'l'));
}
TELLTALE_FILE_PROPERTY("owner=tests");
TELLTALE_FILE_PROPERTY("a property that is longer than one record=yes");

// Prints the path, for a test that decodes the file.
void make(const char* layout, const char* folder) {
  telltale::st::FileOptions options;
  options.directory = folder;
  if (std::strcmp(layout, "classic") == 0) options.layout = telltale::st::Layout::classic;
  if (std::strcmp(layout, "counted") == 0) options.sequence = telltale::st::Sequence::count;
  if (std::strcmp(layout, "sparse") == 0) options.clock_every = 16;
  const int sink = sink_control::open(options);
  if (sink < 0) fail("open: %s", std::strerror(-sink));
  const std::string path = sink_control::path(sink);
  record_all();
  if (sink_control::close() != 0) fail("close");
  if (sink_control::statistics().cut_text != 1)
    fail("%zu texts were truncated", size_t{sink_control::statistics().cut_text});
  std::printf("%s\n", path.c_str());
}

#define TEN_TIMES(text) text text text text text text text text text text
#define LONGEST TEN_TIMES(TEN_TIMES(TEN_TIMES("ab")))
#define CHARACTERS TEN_TIMES(TEN_TIMES(TEN_TIMES("\xe6\xbc\xa2")))

// A character that would be divided is left out.
void whole_characters() {
  const recorded::Folder folder;
  recorded::open_file(folder);
  TELLTALE_STEP(CHARACTERS);
  const std::string before = std::string(LONGEST).substr(1);
  TELLTALE_VALUE("value", before + "\xe6\xbc\xa2" + before);
  TELLTALE_VALUE("other", before + "\xe6" + before);
  sink_control::close();
  const recorded::File file = recorded::read_file(folder.files().at(0));
  const std::string name = std::string(CHARACTERS).substr(0, 1998);
  if (file.hits.size() != 3 || file.names.at(file.hits[0].scope) != name ||
      file.hits[1].text != before || file.hits[2].text != before + "\xe6")
    fail("divided characters");
}

// A text of the longest length is whole; one byte more is cut, and counted.
void longest_texts() {
  const recorded::Folder folder;
  recorded::open_file(folder);
  const std::string longest = LONGEST;
  TELLTALE_STEP(LONGEST);
  TELLTALE_VALUE("value", longest);
  if (sink_control::flush() != 0) fail("flush");
  if (const uint64_t cut = sink_control::statistics().cut_text; cut != 0)
    fail("%zu of the longest texts were truncated", size_t{cut});
  TELLTALE_STEP(LONGEST "c");
  TELLTALE_VALUE("value", longest + "c");
  sink_control::close();
  if (const uint64_t cut = sink_control::statistics().cut_text; cut != 2)
    fail("%zu of two texts were truncated", size_t{cut});
  const recorded::File file = recorded::read_file(folder.files().at(0));
  size_t whole = 0;
  for (const auto& [scope, name] : file.names) whole += name == longest ? 1 : 0;
  if (whole != 2) fail("%zu names of 2,000 bytes", whole);
  whole_characters();
}

void cycles() {
  const recorded::Folder folder;
  recorded::open_file(folder);
  for (int cycle = 0; cycle < 3; ++cycle) {
    TELLTALE_STEP("step");
    TELLTALE_STEP("step");
    if (cycle == 1) TELLTALE_STEP("only in the second");
    if (cycle < 2) sink_control::next_cycle();
  }
  const recorded::File file = recorded::read_file(folder.files().at(0));
  if (file.headers != 3) fail("%zu headers", size_t{file.headers});
  // Two checkpoints are executed in all three cycles: their previous posting was in cycle 2.
  int in_all = 0;
  int once = 0;
  for (const auto& [scope, cycle] : file.cycles) {
    in_all += file.names.at(scope) == "step" && cycle == 2 ? 1 : 0;
    once += file.names.at(scope) == "only in the second" && cycle == 0 ? 1 : 0;
  }
  if (in_all != 2 || once != 1) fail("write counts: %d and %d", in_all, once);
  sink_control::close();
}

void rings() {
  const recorded::Folder folder;
  telltale::st::RingOptions options;
  options.bytes = 1U << 18;
  const int ring = sink_control::open(options);
  constexpr uint64_t kEvents = 100'000;
  for (uint64_t i = 0; i < kEvents; ++i) TELLTALE_STEP("step");
  const std::string dump = folder.path + "/dump.tlg";
  if (sink_control::dump(ring, dump.c_str()) != 0) fail("dump");
  if (sink_control::dump(ring, dump.c_str()) != -EEXIST) fail("a dump is written over");
  const recorded::File file = recorded::read_file(dump);
  if (file.hits.size() + file.lost.at(2) != kEvents || file.hits.size() < 5000) {
    fail("%zu in the ring, %zu overwritten", file.hits.size(), size_t{file.lost.at(2)});
  }
  // The newest events are present, without a gap.
  for (size_t i = 1; i < file.hits.size(); ++i) {
    if (file.hits[i].sequence <= file.hits[i - 1].sequence) fail("order");
  }
  if (file.unnamed != 0) fail("a ring forgets names");
  sink_control::close();
}

// Opens a ring in memory.
int open_ring(size_t bytes) {
  telltale::st::RingOptions options;
  options.bytes = bytes;
  return sink_control::open(options);
}

recorded::File dumped(const recorded::Folder& folder, int ring, const char* name) {
  const std::string path = folder.path + "/" + name;
  if (sink_control::dump(ring, path.c_str()) != 0) fail("dump");
  return recorded::read_file(path);
}

uint64_t newest(const recorded::File& file) {
  uint64_t sequence = 0;
  for (const recorded::Hit& hit : file.hits) sequence = std::max(sequence, hit.sequence);
  return sequence;
}

void handle_alarm(int) {
  TELLTALE_FUNCTION();
  TELLTALE_STEP("handled");
}

// What signal handlers record while they interrupt the recorder is overwritten, too, and no chunk
// keeps old events.
void ring_with_signals() {
  const recorded::Folder folder;
  const int ring = open_ring(1U << 18);
  std::signal(SIGALRM, handle_alarm);
  const itimerval often{{0, 50}, {0, 50}};
  setitimer(ITIMER_REAL, &often, nullptr);
  uint64_t half = 0;
  for (const char* const name : {"half", "end"}) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    for (int i = 0; std::chrono::steady_clock::now() < end; ++i) {
      for (int j = 0; j < 1000; ++j) {
        TELLTALE_FUNCTION();
        TELLTALE_VALUE("i", i);
      }
    }
    const recorded::File file = dumped(folder, ring, name);
    if (file.lost.at(1) != 0) fail("%zu events found no space", size_t{file.lost.at(1)});
    // Half a chunk for each that was being filled.
    if (file.hits.size() < 4000) fail("only %zu events", file.hits.size());
    for (const recorded::Hit& hit : file.hits)
      if (hit.sequence <= half) fail("an event of the first half at the %s", name);
    half = newest(file);
  }
  const itimerval never{};
  setitimer(ITIMER_REAL, &never, nullptr);
  sink_control::close();
}

// A ring keeps what came last, however many threads there were: one after another, or more at a
// time than it has chunks.
void ring_with_threads() {
  const recorded::Folder folder;
  for (const auto& [at_a_time, rounds] : {std::pair(20, 300), std::pair(300, 1)}) {
    const int ring = open_ring(1U << 18);
    for (int round = 0; round < rounds; ++round) {
      std::vector<std::thread> threads;
      for (int i = 0; i < at_a_time; ++i) {
        threads.emplace_back([] {
          for (int j = 0; j < 50; ++j) TELLTALE_STEP("in a thread");
        });
      }
      for (std::thread& thread : threads) thread.join();
    }
    // Until the recorder looks for ended threads again.
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const uint64_t lost_before = sink_control::statistics().no_space;
    constexpr size_t kEvents = 3000;
    for (size_t i = 0; i < kEvents; ++i) TELLTALE_STEP("the end");
    const recorded::File file = dumped(folder, ring, rounds == 1 ? "many" : "short");
    size_t found = 0;
    for (const recorded::Hit& hit : file.hits)
      found += file.names.at(hit.scope) == "the end" ? 1 : 0;
    if (found != kEvents || file.lost.at(1) != lost_before || file.unnamed != 0)
      fail("%d threads: %zu of the last events", at_a_time, found);
    if (rounds != 1 && lost_before != 0) fail("%zu events lost", size_t{lost_before});
    sink_control::close();
  }
}

// The number at the end of a file's name.
int number_of(const std::string& path) { return std::atoi(path.c_str() + path.rfind('_') + 1); }

// Files are numbered from 1 on, respect their size limit, can be read alone, and the oldest are
// removed.
void rotation() {
  for (const uint32_t keep : {0U, 3U}) {
    const recorded::Folder folder;
    telltale::st::FileOptions options;
    options.rotate_bytes = 1U << 16;
    options.keep_files = keep;
    const int sink = recorded::open_file(folder, options);
    if (number_of(sink_control::path(sink)) != 1) fail("the first: %s", sink_control::path(sink));
    const std::string stem =
        std::string(sink_control::path(sink), std::strlen(sink_control::path(sink)) - 5);
    constexpr size_t kEvents = 20'000;
    for (size_t i = 0; i < kEvents; ++i) TELLTALE_STEP("step");
    if (sink_control::flush() != 0) fail("flush");
    const std::string last = sink_control::path(sink);
    sink_control::close();
    std::vector<std::string> files = folder.files();
    std::sort(files.begin(), files.end(), [](const std::string& one, const std::string& other) {
      return number_of(one) < number_of(other);
    });
    if (keep != 0 ? files.size() != keep : files.size() < 10) fail("%zu files", files.size());
    if (files.back() != last) fail("%s is not the last", last.c_str());
    size_t found = 0;
    for (size_t i = 0; i < files.size(); ++i) {
      const recorded::File file = recorded::read_file(files[i]);
      if (files[i].compare(0, stem.size(), stem) != 0 ||
          number_of(files[i]) != number_of(last) - static_cast<int>(files.size() - 1 - i))
        fail("name: %s", files[i].c_str());
      if (file.bytes > options.rotate_bytes || file.unnamed + file.torn != 0 || file.headers == 0)
        fail("%s: %zu bytes, %zu unnamed", files[i].c_str(), file.bytes, size_t{file.unnamed});
      found += file.hits.size() + file.all_lost();
    }
    if (keep == 0 ? found != kEvents : found >= kEvents) fail("%zu events", found);
  }
}

size_t mapped_files(const recorded::Folder& folder) {
  std::FILE* const maps = std::fopen("/proc/self/maps", "r");
  size_t count = 0;
  char line[1024];
  while (std::fgets(line, sizeof(line), maps) != nullptr)
    count += std::strstr(line, folder.path.c_str()) != nullptr ? 1 : 0;
  std::fclose(maps);
  return count;
}

// The threads that recorded in a rotated file do not keep it mapped, and lose no event when its
// file is removed while they look for space in it.
void rotation_with_threads(uint32_t keep) {
  const recorded::Folder folder;
  telltale::st::FileOptions options;
  options.rotate_bytes = 1U << 16;
  options.keep_files = keep;
  recorded::open_file(folder, options);
  constexpr int kThreads = 4;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([] {
      for (int k = 0; k < 100'000; ++k) {
        TELLTALE_STEP("step");
        if (k % 64 == 0) std::this_thread::yield();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (number_of(sink_control::path(0)) < 40) fail("%s is the last", sink_control::path(0));
  const uint64_t lost = sink_control::statistics().no_space;  // of all sinks
  if (lost != 0) fail("%zu events lost", size_t{lost});
  // A chunk for each thread and one for all, in this file or the previous one.
  const size_t count = mapped_files(folder);
  if (count > 2 * (kThreads + 2)) fail("%zu files are mapped", count);
  sink_control::close();
}

std::atomic<uint64_t> calls{0};
void call(const void*, size_t, void* user) {
  ++calls;
  *static_cast<bool*>(user) = true;
  TELLTALE_STEP("inside the callback");
}

void several() {
  const recorded::Folder folder;
  bool touched = false;
  telltale::st::CallbackOptions callback;
  callback.callback = call;
  callback.user = &touched;
  telltale::st::FileOptions classic;
  classic.layout = telltale::st::Layout::classic;
  classic.directory = folder.path.c_str();
  const int file = recorded::open_file(folder);
  const std::string path = sink_control::path(file);
  const int back = sink_control::open(callback);
  const int ring = sink_control::open(telltale::st::RingOptions{});
  const int old = sink_control::open(classic);
  if (file < 0 || back < 0 || ring < 0 || old < 0) fail("open");
  if (sink_control::open(callback) != -EMFILE) fail("a fifth sink");
  for (int i = 0; i < 100; ++i) TELLTALE_STEP("step");
  const std::string dump = folder.path + "/dump.tlg";
  if (sink_control::dump(ring, dump.c_str()) != 0) fail("dump");
  // One is closed; the others continue.
  if (sink_control::close(back) != 0) fail("close");
  const uint64_t so_far = calls;
  for (int i = 0; i < 100; ++i) TELLTALE_STEP("step");
  if (calls != so_far) fail("a closed callback is called");
  sink_control::close();
  TELLTALE_STEP("after all is closed");
  // The file and the ring also contain the callback's checkpoints; the callback does not get them.
  const size_t in_file = recorded::read_file(path).hits.size();
  const size_t in_ring = recorded::read_file(dump).hits.size();
  const uint64_t nested = sink_control::statistics().reentered;
  if (!touched || in_file != 200 + calls || nested < 100 || in_ring > in_file || in_ring < 200) {
    fail("%zu in the file, %zu in the ring, %zu nested", in_file, in_ring, size_t{nested});
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "make") {
    make(argv[2], argv[3]);
    return 0;
  }
  if (what == "texts") longest_texts();
  if (what == "cycles") cycles();
  if (what == "rings") rings();
  if (what == "ring_with_signals") ring_with_signals();
  if (what == "ring_with_threads") ring_with_threads();
  if (what == "several") several();
  if (what == "rotation") {
    rotation();
    for (const uint32_t keep : {1U, 2U}) rotation_with_threads(keep);
  }
  std::printf("ok %s\n", what.c_str());
  return 0;
}
