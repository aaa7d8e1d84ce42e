#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/calls/call_tree.h"
#include "analysis/calls/profile.h"
#include "model/clock.h"
#include "model/function_names.h"
#include "model/name_style.h"

namespace telltale {

// Two recordings aligned by names, because ids change with every link of a program.
// docs/analysis/diff.md defines the numbers.
struct RecordingDiff {
  // Times are nanoseconds of each recording's own clock.
  struct Measures {
    uint64_t calls = 0;
    uint64_t total_ns = 0;
    uint64_t self_ns = 0;
    // Whether the recording has the function or path at all.
    [[nodiscard]] bool seen() const { return calls != 0 || total_ns != 0 || self_ns != 0; }
  };
  struct Row {
    std::string name;  // a function's, in the requested style
    Measures before;
    Measures after;
  };
  struct PathRow : Row {
    static constexpr size_t kNoRow = ~size_t{0};
    size_t caller = kNoRow;  // index into paths; kNoRow for outermost calls
    uint32_t depth = 1;      // 1: outermost
  };
  std::vector<Row> functions;  // by name
  std::vector<PathRow> paths;  // callers precede their callees
  Measures before;             // all outermost calls: their total; all calls
  Measures after;
};

// One of the two recordings. Its references must live during the call.
struct DiffSide {
  const CallTree& tree;  // all threads together
  const Profile& profile;
  const Clock& clock;
  const FunctionNames& names;
};

// Aligned by full names, whatever the style of the names in it. Memory and time O(paths of both),
// up to a logarithm. Not recursive.
RecordingDiff make_recording_diff(const DiffSide& before, const DiffSide& after,
                                  NameStyle style = NameStyle::full);

// "main > work > insert"; at most `max_frames` innermost frames.
std::string path_text(const RecordingDiff& diff, size_t path, size_t max_frames);

}  // namespace telltale
