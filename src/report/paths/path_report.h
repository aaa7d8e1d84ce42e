#pragma once

#include <string>
#include <vector>

#include "base/problem.h"
#include "import/stack_paths.h"
#include "model/call_filter.h"
#include "report/paths/paths_view.h"
#include "report/paths/source_lines.h"

namespace telltale {

// What of thread_paths() the filter chooses: threads, and frames by name.
std::vector<ThreadPaths> choose_paths(std::vector<ThreadPaths> threads, const CallFilter& filter);

// Asks `sources` for all files that the frames and slices have lines of.
void ask_for_sources(const std::vector<ThreadPaths>& threads, SourceLines& sources);

// For people: each frame with the lines that it ran, the oldest first, beside their source text
// where the file is here.
std::string paths_text(const std::vector<ThreadPaths>& threads, const std::string& why_stopped,
                       const PathsView& view, SourceLines& sources);

// The document `paths` of docs/json.md.
std::string paths_document(const std::vector<ThreadPaths>& threads, const std::string& why_stopped,
                           std::string_view format, const ProblemLog& problems);

}  // namespace telltale
