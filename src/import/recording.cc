#include "import/recording.h"

#include <fmt/format.h>

#include <utility>

#include "import/format_descriptor.h"

namespace telltale {

std::string_view Recording::noun() const { return format_->noun; }

bool Recording::has(Capability capability) const {
  switch (capability) {
    case Capability::timed_calls:
      return timed_calls() != nullptr;
    case Capability::runtime_events:
      return runtime_events() != nullptr;
    case Capability::counts_at_sites:
      return counts_at_sites() != nullptr;
    case Capability::paths_in_frames:
      return paths_in_frames() != nullptr;
    case Capability::static_information:
      return static_information() != nullptr;
  }
  return false;
}

std::string Recording::describe_capabilities() const {
  std::vector<std::string> names;
  for (const Capability capability : kAllCapabilities)
    if (has(capability)) names.emplace_back(name_of(capability));
  return join_words(names);
}

RecordingInfo info_of_selection(const Recording& recording, const CallFilter& filter,
                                size_t workers) {
  RecordingInfo info = recording.info(workers);
  if (filter.keeps_everything()) return info;
  RecordingInfo chosen = recording.info(workers, filter);
  info.records = chosen.records;
  info.records_by_kind = std::move(chosen.records_by_kind);
  info.custom_events = chosen.custom_events;
  info.threads = std::move(chosen.threads);
  return info;
}

std::string join_words(const std::vector<std::string>& words, std::string_view last) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i != 0) text += i + 1 == words.size() ? fmt::format(" {} ", last) : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace telltale
