// The events of an XRay recording as text, for tests.
#pragma once

#include <fmt/format.h>

#include <string>

#include "import/xray/xray_recording.h"
#include "model/waiting.h"

namespace telltale {

// Each event as "time+id" or "time-id".
struct EventWords : IgnoreEvents {
  std::string words;
  void enter(Ticks time, FunctionId function) { add(time, '+', function); }
  void leave(Ticks time, FunctionId function, LeaveKind) { add(time, '-', function); }
  void add(Ticks time, char sign, FunctionId function) {
    words += words.empty() ? "" : " ";
    words += function == kWaiting ? fmt::format("{}{}w", time, sign)
                                  : fmt::format("{}{}{}", time, sign, to_number(function));
  }
};

// Of the first shard.
inline std::string words(const XrayRecording& recording) {
  EventWords events;
  ProblemLog problems;
  recording.play(0, 0, events, problems);
  return events.words;
}

}  // namespace telltale
