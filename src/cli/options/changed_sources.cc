#include "cli/options/changed_sources.h"

#include <string>

#include "base/counted.h"
#include "cli/options/message.h"
#include "output/escape.h"

namespace telltale::cli {

void tell_changed_sources(const ChangedSources& changed) {
  constexpr size_t kMost = 20;
  size_t told = 0;
  for (const auto& [path, complaint] : changed) {
    if (told == kMost) break;
    ++told;
    print_message("telltale: {}: {}\n", visible(path), complaint);
  }
  if (changed.size() > told) {
    print_message("telltale: {} more changed since then\n",
                  counted(changed.size() - told, "source file"));
  }
}

void add_changed_sources(const ChangedSources& changed, ProblemLog& problems) {
  for (const auto& [path, complaint] : changed) {
    problems.add({Problem::Kind::oddity, 0, path, "source file", std::string(complaint), 0});
  }
}

}  // namespace telltale::cli
