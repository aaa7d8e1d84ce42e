#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "import/path_facts.h"
#include "import/sampler/sampler_sites.h"

namespace telltale {

// The names that are not absolute, of the files that have sites: those of -frelative-paths.
using SiteFiles = std::set<std::string, std::less<>>;
SiteFiles relative_site_files(const SamplerSites& sites);

// Path tracing names files by absolute names. Returns them as the sites name them, so that a file
// has one name in an answer, and the same one in every checkout. A file whose name ends with that
// of a file with sites is taken for it (the longest such name); so the folders become known in
// which the compiler ran, and the names of other files below them become relative to the innermost
// one. All others, and with no `sites` all, are returned as they are. `files`: all that there are.
class SiteFileNames {
 public:
  SiteFileNames(const SiteFiles& sites, const std::set<std::string>& files);
  [[nodiscard]] bool empty() const { return names_.empty(); }
  [[nodiscard]] const std::string& name_of(const std::string& file) const;

 private:
  std::map<std::string, std::string> names_;
};

// Adds the names of all files in `facts`.
void collect_files(const PathFacts& facts, std::set<std::string>& files);
void collect_files(const PathFacts::Deed& deed, std::set<std::string>& files);
void rename_files(const SiteFileNames& names, PathFacts& facts);
PathFacts::Deed rename_files(const SiteFileNames& names, const PathFacts::Deed& deed);

}  // namespace telltale
