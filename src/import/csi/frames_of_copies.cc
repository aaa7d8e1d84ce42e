#include "import/csi/frames_of_copies.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "formats/csi/wire.h"

namespace telltale {
namespace {

using csi::FlowRecord;

constexpr std::string_view kJumped =
    "a copy of the function ran in its place, and ended with a jump to the function above";

// Null: the block has none.
const FlowRecord::Call* last_call(const FlowRecord& record, uint32_t block) {
  const FlowRecord::Call* last = nullptr;
  for (const FlowRecord::Call& call : record.calls)
    if (call.block == block) last = &call;
  return last;
}

// What a frame is to that of the function that it called.
enum class Role : uint8_t {
  caller,   // another call of the source
  chooser,  // the same call: the callee is the copy that it chose
  left,     // it has let a copy run, which has no frame any more
};

class Roles {
 public:
  Roles(const FlowFunctions& functions, const std::map<std::string, ModulePaths>& modules,
        const ThreadPaths& thread)
      : functions_(functions), modules_(modules), frames_(thread.frames) {
    for (const FramePaths& frame : frames_)
      if (frame.line != 0) with_lines_.insert(frame.module);
  }

  [[nodiscard]] Role role_of(size_t index) const {
    const FramePaths& frame = frames_[index];
    // Of functions that are inlined at one place, the innermost one made the call.
    if (index == 0 || frames_[index - 1].inlined || frame.interrupted) return Role::caller;
    const FramePaths& callee = frames_[index - 1];
    const bool is_same = callee.module == frame.module && callee.linkage_name == frame.linkage_name;
    if (frame.inlined) {
      const FramePaths& around = machine_frame(index);
      return is_same && lacks_line(frame) && calls_copy(around, callee) ? Role::chooser
                                                                        : Role::caller;
    }
    const FlowRecord* const record = record_of(frame);
    if (record == nullptr ||
        std::ranges::none_of(record->calls, &FlowRecord::Call::runs_other_copy))
      return Role::caller;
    const std::vector<uint32_t> blocks = blocks_of(frame, *record);
    const bool has_chosen =
        blocks.empty()
            ? is_same && lacks_line(frame) && may_only_choose(*record)
            : std::ranges::all_of(blocks, [&](uint32_t each) { return chooses(*record, each); });
    if (!has_chosen) return Role::caller;
    if (is_same) return Role::chooser;
    return csi::is_of_runtime(callee.symbol) ? Role::caller : Role::left;
  }

 private:
  // The frame that has the code of the functions inlined into it.
  [[nodiscard]] const FramePaths& machine_frame(size_t index) const {
    while (frames_[index].inlined && index + 1 < frames_.size()) ++index;
    return frames_[index];
  }

  // Null: it is not known, or not clear.
  [[nodiscard]] const FlowRecord* record_of(const FramePaths& frame) const {
    const FlowRecord* found = nullptr;
    for (const uint32_t function : functions_.find(frame.module, frame.symbol)) {
      for (const FlowRecord* const record : functions_.functions()[function].copies) {
        if (!may_be_of(frame, *record)) continue;
        if (found != nullptr) return nullptr;
        found = record;
      }
    }
    return found;
  }

  [[nodiscard]] bool may_be_of(const FramePaths& frame, const FlowRecord& record) const {
    if (frame.place) return record.key == frame.place->flow_key;
    if (frame.decoded.empty()) return true;
    const auto module = modules_.find(frame.module);
    if (module == modules_.end()) return false;
    const auto graph = module->second.graphs.find(record.paths_key);
    return graph != module->second.graphs.end() &&
           std::ranges::find(frame.decoded, graph->second, &FramePaths::Decoded::graph) !=
               frame.decoded.end();
  }

  // Those that it may have stopped in; empty: not known.
  static std::vector<uint32_t> blocks_of(const FramePaths& frame, const FlowRecord& record) {
    if (frame.place) return {frame.place->block};
    std::vector<uint32_t> blocks;
    if (frame.decoded.size() != 1 ||
        frame.decoded.front().found_by != FramePaths::Decoded::FoundBy::position)
      return blocks;
    const PathGraph& graph = *frame.decoded.front().graph;
    for (const PathHistory::Reading& reading : frame.decoded.front().history.readings) {
      std::optional<uint32_t> last;
      for (size_t i = reading.partial.size(); i-- > 0 && !last;)
        last = block_with(record, graph.blocks[reading.partial[i]].id);
      if (!last) return {};
      blocks.push_back(*last);
    }
    return blocks;
  }
  static std::optional<uint32_t> block_with(const FlowRecord& record, uint64_t node) {
    for (uint32_t block = 0; block < record.blocks.size(); ++block) {
      const std::vector<uint64_t>& nodes = record.blocks[block].nodes;
      if (std::ranges::find(nodes, node) != nodes.end()) return block;
    }
    return std::nullopt;
  }

  static bool chooses(const FlowRecord& record, uint32_t block) {
    const FlowRecord::Call* const last = last_call(record, block);
    return last != nullptr && last->runs_other_copy;
  }

  // Whether no call but those by which it chooses has line 0. The optimiser gives it to equal calls
  // on several lines that it merged.
  static bool may_only_choose(const FlowRecord& record) {
    const auto has_no_line = [](const FlowRecord::Call& call) {
      return call.line == 0 && !call.callee.starts_with("telltale.") &&
             !csi::is_of_runtime(call.callee);
    };
    return std::ranges::none_of(record.calls, [&](const FlowRecord::Call& call) {
      return has_no_line(call) && !call.runs_other_copy;
    });
  }

  // Whether the code around a function that was inlined with its choice calls a copy of it.
  [[nodiscard]] bool calls_copy(const FramePaths& around, const FramePaths& callee) const {
    const FlowRecord* const record = record_of(around);
    if (record == nullptr) return false;
    const auto is_choice = [&](const FlowRecord::Call& call) {
      return call.line == 0 && source_of(callee.module, call.callee) == callee.linkage_name;
    };
    const std::vector<uint32_t> blocks = blocks_of(around, *record);
    if (blocks.empty()) return std::ranges::any_of(record->calls, is_choice);
    return std::ranges::all_of(blocks, [&](uint32_t block) {
      const FlowRecord::Call* const last = last_call(*record, block);
      return last != nullptr && is_choice(*last);
    });
  }
  // Empty: it is no copy.
  [[nodiscard]] std::string_view source_of(const std::string& module,
                                           const std::string& symbol) const {
    const auto paths = modules_.find(module);
    if (paths == modules_.end()) return {};
    const auto source = paths->second.sources.find(symbol);
    return source == paths->second.sources.end() ? std::string_view() : source->second;
  }

  // Calls by which copies are chosen have no line; other calls have one, if the program has lines.
  [[nodiscard]] bool lacks_line(const FramePaths& frame) const {
    return frame.line == 0 && with_lines_.contains(frame.module);
  }

  const FlowFunctions& functions_;
  const std::map<std::string, ModulePaths>& modules_;
  const std::vector<FramePaths>& frames_;
  std::set<std::string> with_lines_;  // modules
};

std::vector<Role> roles_of(const FlowFunctions& functions,
                           const std::map<std::string, ModulePaths>& modules,
                           const ThreadPaths& thread) {
  const Roles roles(functions, modules, thread);
  std::vector<Role> all;
  for (size_t i = 0; i < thread.frames.size(); ++i) all.push_back(roles.role_of(i));
  return all;
}

void forget_answers(FramePaths& frame) {
  frame.untraced = kJumped;
  frame.decoded.clear();
  frame.lines = {};
  frame.blocks.clear();
  frame.lost_lines = {};
}

}  // namespace

std::vector<size_t> calls_of_frames(const FlowFunctions& functions,
                                    const std::map<std::string, ModulePaths>& modules,
                                    const ThreadPaths& thread) {
  std::vector<size_t> calls;
  for (const Role role : roles_of(functions, modules, thread)) {
    const size_t next = calls.empty() ? 0 : calls.back() + 1;
    calls.push_back(role == Role::chooser ? next - 1 : next);
  }
  return calls;
}

void join_frames_of_copies(const FlowFunctions& functions,
                           const std::map<std::string, ModulePaths>& modules,
                           std::vector<ThreadPaths>& threads) {
  for (ThreadPaths& thread : threads) {
    const std::vector<Role> roles = roles_of(functions, modules, thread);
    std::vector<FramePaths> kept;
    for (size_t i = 0; i < roles.size(); ++i) {
      FramePaths& frame = thread.frames[i];
      if (roles[i] == Role::chooser) {
        kept.back().may_lack_caller = kept.back().may_lack_caller || frame.may_lack_caller;
        continue;
      }
      if (roles[i] == Role::left) forget_answers(frame);
      frame.number = kept.size();
      kept.push_back(std::move(frame));
    }
    thread.frames = std::move(kept);
  }
}

}  // namespace telltale
