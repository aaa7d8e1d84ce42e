#include "import/mono/mono_recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/parallel.h"
#include "bytes/map_resident.h"

namespace telltale {
namespace {

// The setup cost of a shard is small compared with this many bytes of events, and recordings of a
// few MB still have enough shards for all cores.
constexpr uint64_t kShardBytes = uint64_t{1} << 20;
// A thread with this many calls in a buffer runs the program's code.
constexpr uint64_t kManyCalls = 64;
// Buffers per work item of a worker that looks for names.
constexpr size_t kBuffersAtATime = 64;

// A thread whose buffer has this many events and no method name does not name methods.
constexpr uint64_t kManyOthers = 256;

// Collects names of methods and threads.
struct NameCollector {
  struct Count {
    uint64_t events = 0;
    void allocation(uint64_t, uint64_t, uint64_t) { ++events; }
    void heap_object(uint64_t, uint64_t, uint64_t) { ++events; }
    void clause(uint64_t, uint8_t) { ++events; }
  };
  std::vector<MonoMethods::Found> methods;
  std::vector<std::string_view> thread_names;
  uint64_t calls_seen = 0;
  uint64_t others_seen = 0;

  void calls(mono::CallRun& run) {
    run.for_each([&](mono::Call::Action, uint64_t, uint64_t) { ++calls_seen; });
  }
  [[nodiscard]] static mono::SkimRun::Wants wants() { return {false, false}; }
  void skim(mono::SkimRun& run) {
    Count count;
    run.play(count);
    others_seen += count.events;
  }
  void event(const mono::EventHead&, const mono::Jit& r) { methods.push_back({r.method, r.name}); }
  void event(const mono::EventHead&, const mono::Metadata& r) {
    if (r.kind == mono::MetadataKind::thread && r.has_name) thread_names.push_back(r.name);
  }
};

// Collects every mentioned method once, in order.
class MethodCollector {
 public:
  void calls(mono::CallRun& run) {
    run.for_each([&](mono::Call::Action, uint64_t, uint64_t method) {
      Recent& recent = recent_[(method >> 3) % kRecent];
      if (recent.method == method && recent.known) [[likely]]
        return;
      recent = {method, true};
      add({method, {}});
    });
  }
  void event(const mono::EventHead&, const mono::Jit& r) { add({r.method, r.name}); }
  void event(const mono::EventHead&, const mono::Clause& r) { add({r.method, {}}); }
  void event(const mono::EventHead&, const mono::SampleHit& r) {
    for (const mono::SampleFrame& frame : r.frames) add({frame.method, {}});
  }
  template <typename Record>
    requires requires(const Record& r) { r.backtrace; }
  void event(const mono::EventHead&, const Record& r) {
    for (const uint64_t method : r.backtrace) add({method, {}});
  }

  void add(const MonoMethods::Found& found) {
    const auto [place, is_new] = index_.try_emplace(found.method, found_.size());
    if (is_new) {
      found_.push_back(found);
    } else if (found_[place->second].name.empty()) {
      found_[place->second].name = found.name;
    }
  }
  [[nodiscard]] std::vector<MonoMethods::Found> take() { return std::move(found_); }

 private:
  static constexpr size_t kRecent = 1024;
  std::vector<MonoMethods::Found> found_;
  std::unordered_map<uint64_t, size_t> index_;
  struct Recent {
    uint64_t method = 0;
    bool known = false;
  };
  std::array<Recent, kRecent> recent_{};
};

struct TypeCollector {
  MonoTypes& types;
  uint64_t address_tag;
  void event(const mono::EventHead&, const mono::Metadata& r) { types.add(r, address_tag); }
};

}  // namespace

struct MonoRecording::LazyTypes {
  std::once_flag once;
  MonoTypes types;
};

// Reads headers, finds buffers, and orders them by thread.
class MonoRecording::Builder {
 public:
  explicit Builder(MonoRecording& recording) : recording_(recording) {}

  Result<void> add_file(InputFile input, bool one_of_many, MonoThreadNames thread_names) {
    Result<mono::FileHeader> header = mono::read_file_header(input.bytes());
    if (!header) {
      header.error().file = input.name();
      return std::unexpected(header.error());
    }
    const size_t index = recording_.files_.size();
    recording_.problems_.merge(input.problems());
    map_resident(input.bytes());
    mono::BufferFrames frames = mono::frame_file(input.bytes(), *header, input.name());
    recording_.problems_.merge(frames.problems);
    recording_.files_.push_back(
        std::make_unique<File>(File{std::move(input), *header, mono::layout_of(header->version),
                                    std::move(frames), uint64_t{index} << kAddressBits, nullptr}));
    File& file = *recording_.files_.back();
    file.layout = mono::find_layout(file.input.bytes(), file.header, file.frames);
    file.methods = std::make_unique<MonoMethods>(recording_.names_, one_of_many,
                                                 [&file] { return find_all_methods(file); });
    place_buffers(static_cast<uint32_t>(index));
    find_names(file, static_cast<uint32_t>(index), thread_names);
    return {};
  }

  void finish() {
    Ticks first = std::numeric_limits<Ticks>::max();
    for (const auto& file : recording_.files_)
      for (const mono::BufferFrame& frame : file->frames.buffers)
        first = std::min(first, frame.header.time_base);
    recording_.first_time_ = first == std::numeric_limits<Ticks>::max() ? 0 : first;
    std::map<int64_t, std::map<uint32_t, uint32_t>> processes;  // by pid and file
    for (const auto& [key, own] : threads_) {
      auto& same_pid = processes[key.first.pid];
      same_pid.try_emplace(key.second, static_cast<uint32_t>(same_pid.size() + 1));
    }
    for (auto& [key, own] : threads_) {
      auto [thread, file] = key;
      const auto& same_pid = processes[thread.pid];
      thread.process = same_pid.size() == 1 ? 0 : same_pid.at(file);
      Stream stream{std::move(own.buffers), {0}};
      uint64_t bytes = 0;
      for (size_t i = 0; i < stream.buffers.size(); ++i) {
        bytes += frame_of(stream.buffers[i]).end - frame_of(stream.buffers[i]).begin;
        if (bytes >= kShardBytes || i + 1 == stream.buffers.size()) {
          stream.shard_starts.push_back(i + 1);
          bytes = 0;
        }
      }
      recording_.streams_.push_back({.thread = thread,
                                     .thread_name = joined(own.names),
                                     .shards = stream.shard_starts.size() - 1,
                                     .process = file});
      recording_.buffers_.push_back(std::move(stream));
    }
  }

 private:
  struct Thread {
    std::vector<Stream::Place> buffers;
    std::vector<std::string> names;  // of the threads that had its id, in their order
  };

  [[nodiscard]] const mono::BufferFrame& frame_of(Stream::Place place) const {
    return recording_.files_[place.file]->frames.buffers[place.buffer];
  }
  // Each file is from a different process, even if pids are equal: they are reused, and containers
  // often have the same ones. Until finish(), ThreadKey::process is the number of the file.
  using Key = std::pair<ThreadKey, uint32_t>;
  static Key thread_key(const File& file, uint32_t index, const mono::BufferFrame& frame) {
    return {{file.header.pid, static_cast<int64_t>(frame.header.thread), index + 1}, index};
  }
  void place_buffers(uint32_t index) {
    const File& file = *recording_.files_[index];
    for (uint32_t i = 0; i < file.frames.buffers.size(); ++i)
      threads_[thread_key(file, index, file.frames.buffers[i])].buffers.push_back({index, i});
  }

  static mono::BufferFrame beginning_of(mono::BufferFrame frame) {
    constexpr uint64_t kBytes = 512;  // about ten events
    frame.end = std::min(frame.end, frame.begin + kBytes);
    return frame;
  }

  // Collects names of threads, and names of methods if the runtime's own thread writes them (since
  // version 13). Older recordings name methods anywhere and are read completely.
  void find_names(File& file, uint32_t index, MonoThreadNames thread_names) {
    const bool anywhere = !file.layout.every_event_has_time;
    // Threads that name no methods. Of threads that call methods only the beginnings of further
    // buffers are read: there a new thread with the same id is named.
    enum class Busy : uint8_t { calling, otherwise };
    std::unordered_map<uint64_t, Busy> busy_threads;
    std::vector<MonoMethods::Found> methods;
    std::vector<const mono::BufferFrame*> of_busy;
    for (const mono::BufferFrame& frame : file.frames.buffers) {
      NameCollector names;
      if (const auto busy = busy_threads.find(frame.header.thread); busy != busy_threads.end()) {
        if (busy->second == Busy::otherwise) {
          of_busy.push_back(&frame);
        } else {
          file.decode(beginning_of(frame), names);
          add_thread_names(threads_[thread_key(file, index, frame)], names.thread_names);
        }
        continue;
      }
      file.decode(frame, names);
      if (!anywhere && names.calls_seen >= kManyCalls) {
        busy_threads.emplace(frame.header.thread, Busy::calling);
      } else if (!anywhere && names.others_seen >= kManyOthers && names.methods.empty()) {
        busy_threads.emplace(frame.header.thread, Busy::otherwise);
      }
      methods.insert(methods.end(), names.methods.begin(), names.methods.end());
      add_thread_names(threads_[thread_key(file, index, frame)], names.thread_names);
    }
    file.methods->add(methods);
    if (thread_names == MonoThreadNames::all) find_thread_names(file, index, of_busy);
  }
  void find_thread_names(const File& file, uint32_t index,
                         const std::vector<const mono::BufferFrame*>& frames) {
    std::vector<std::vector<std::string_view>> names(frames.size());
    parallel_for(frames.size(), worker_count(0), [&](size_t i, size_t) {
      NameCollector collector;
      file.decode(*frames[i], collector);
      names[i] = std::move(collector.thread_names);
    });
    for (size_t i = 0; i < frames.size(); ++i)
      if (!names[i].empty())
        add_thread_names(threads_[thread_key(file, index, *frames[i])], names[i]);
  }
  // The system may reuse a thread's id.
  static void add_thread_names(Thread& thread, const std::vector<std::string_view>& names) {
    for (const std::string_view name : names) {
      if (!name.empty() && (thread.names.empty() || thread.names.back() != name))
        thread.names.emplace_back(name);
    }
  }

  static std::string joined(const std::vector<std::string>& names) {
    constexpr size_t kMost = 4;
    std::string all;
    for (size_t i = 0; i < std::min(names.size(), kMost); ++i)
      all += fmt::format("{}{}", i == 0 ? "" : ", ", names[i]);
    return names.size() <= kMost ? all : fmt::format("{} and {} more", all, names.size() - kMost);
  }

  MonoRecording& recording_;
  std::map<Key, Thread> threads_;
};

namespace {

// Leaves out all but the longest of several copies of a recording (one may be compressed, or cut):
// they have the same beginning, in which the process's number and its time of birth are.
void leave_out_copies(std::vector<InputFile>& inputs, ProblemLog& problems) {
  constexpr size_t kCompared = 256;
  const auto size_of = [&](size_t i) { return inputs[i].bytes().size(); };
  const auto beginning = [&](size_t i) {
    return inputs[i].bytes().first(std::min(kCompared, size_of(i)));
  };
  const auto comes_before = [&](size_t a, size_t b) {
    return std::ranges::lexicographical_compare(beginning(a), beginning(b));
  };
  // By beginning; the longest.
  std::map<size_t, size_t, decltype(comes_before)> longest(comes_before);
  for (size_t i = 0; i < inputs.size(); ++i) {
    size_t& best = longest.try_emplace(i, i).first->second;
    if (size_of(i) > size_of(best)) best = i;
  }
  if (longest.size() == inputs.size()) return;
  std::vector<InputFile> kept;
  std::vector<size_t> numbers;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const size_t best = longest.at(i);
    if (best == i) {
      numbers.push_back(i);
    } else {
      problems.add({Problem::Kind::copies, 0, inputs[i].name(), "Header",
                    fmt::format("a copy of {}, not counted again", inputs[best].name()), 0});
    }
  }
  for (const size_t number : numbers) kept.push_back(std::move(inputs[number]));
  inputs = std::move(kept);
}

}  // namespace

Result<MonoRecording> MonoRecording::open(std::vector<InputFile> inputs,
                                          MonoThreadNames thread_names) {
  MonoRecording recording;
  recording.names_ = std::make_shared<MonoFunctionNames>();
  recording.types_ = std::make_shared<LazyTypes>();
  Builder builder(recording);
  leave_out_copies(inputs, recording.problems_);
  const bool many = inputs.size() > 1;
  for (InputFile& input : inputs) {
    if (Result<void> added = builder.add_file(std::move(input), many, thread_names); !added)
      return std::unexpected(added.error());
  }
  builder.finish();
  return recording;
}

std::vector<MonoMethods::Found> MonoRecording::find_all_methods(const File& file) {
  const std::vector<mono::BufferFrame>& buffers = file.frames.buffers;
  const size_t parts = (buffers.size() + kBuffersAtATime - 1) / kBuffersAtATime;
  std::vector<std::vector<MonoMethods::Found>> found(parts);
  parallel_for(parts, worker_count(0), [&](size_t part, size_t) {
    MethodCollector collector;
    const size_t end = std::min(buffers.size(), (part + 1) * kBuffersAtATime);
    for (size_t i = part * kBuffersAtATime; i < end; ++i) file.decode(buffers[i], collector);
    found[part] = collector.take();
  });
  MethodCollector all;
  for (const auto& part : found)
    for (const MonoMethods::Found& method : part) all.add(method);
  return all.take();
}

const TypeNames& MonoRecording::types() const {
  std::call_once(types_->once, [&] {
    types_->types.set_address_bits(address_bits());
    for (const auto& file : files_) {
      TypeCollector collector{types_->types, file->address_tag};
      for (const mono::BufferFrame& frame : file->frames.buffers) file->decode(frame, collector);
    }
  });
  return types_->types;
}

uint64_t MonoRecording::shard_bytes(size_t stream, size_t shard) const {
  const Stream& own = buffers_[stream];
  uint64_t bytes = 0;
  for (size_t i = own.shard_starts[shard]; i < own.shard_starts[shard + 1]; ++i) {
    const mono::BufferFrame& frame =
        files_[own.buffers[i].file]->frames.buffers[own.buffers[i].buffer];
    bytes += frame.end - frame.begin;
  }
  return bytes;
}

bool MonoRecording::lost_between(Stream::Place before, Stream::Place after) const {
  if (before.file != after.file) return false;
  const mono::BufferFrames& frames = files_[before.file]->frames;
  const uint64_t end = frames.buffers[after.buffer].offset;
  const auto gap = std::ranges::lower_bound(frames.gaps, frames.buffers[before.buffer].end, {},
                                            &mono::Gap::offset);
  return frames.buffers[before.buffer].torn || (gap != frames.gaps.end() && gap->offset < end);
}

void MonoRecording::add_went_back(const File& file, const mono::BufferFrame& frame,
                                  ProblemLog& problems) {
  problems.add({Problem::Kind::oddity, frame.offset, file.input.name(), "Buffer",
                "the times of calls go backwards; they are held until the clock has caught up", 0});
}

Ticks MonoRecording::first_buffer_time() const {
  const auto& buffers = files_.front()->frames.buffers;
  return buffers.empty() ? 0 : buffers.front().header.time_base;
}

static_assert(EventSource<MonoRecording>);

}  // namespace telltale
