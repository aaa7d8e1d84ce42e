#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/problem.h"
#include "bytes/input_file.h"
#include "formats/sampler/site_info.h"
#include "program/static_sections.h"

namespace telltale {

// The static site information of any number of programs, by unit and scheme. Move-only.
class SamplerSites {
 public:
  struct Section {
    const sampler::SitesSection* sites = nullptr;
    const std::string* program = nullptr;  // path as given by the user
  };
  // A file that was added, and all sections of it, also those that an earlier file has.
  struct Program {
    std::string name;                // files of one name are builds of one program
    std::vector<uint32_t> sections;  // numbers in sections(), each once
  };

  SamplerSites() = default;
  // Adds the sites of `file`: a .sites file, or the section `section_name` of an executable, shared
  // library, object, archive or separate debug file. For a program without the section, reads its
  // separate debug file. The first definition of a unit and scheme wins; a different second one is
  // a problem. A section whose tag lacks a unit or a scheme is one, too, and is skipped. Returns
  // whether there were any sites. Errors: bad_magic for another file; those of the ELF readers.
  Result<bool> add(InputFile file, ProblemLog& problems,
                   const std::string& section_name = ".debug_site_info");
  Result<bool> add(const std::string& path, const InputLimits& limits, ProblemLog& problems,
                   const std::string& section_name = ".debug_site_info");

  // As add(): a build of the program of a study or of a store's application, whatever the file's
  // name is; or of the library `library`, if that is not empty.
  Result<bool> add_build(const std::string& path, const std::string& library,
                         const InputLimits& limits, ProblemLog& problems);

  // Null if no program has them.
  [[nodiscard]] const Section* find(std::string_view unit, std::string_view scheme) const;
  // In order of addition, without duplicates.
  [[nodiscard]] const std::vector<Section>& sections() const { return sections_; }
  // In order of addition. The name of a build of a study's or store's program is empty, others
  // have the last part of their path.
  [[nodiscard]] const std::vector<Program>& programs() const { return programs_; }
  [[nodiscard]] uint64_t site_count() const;

 private:
  using Key = std::pair<std::string_view, std::string_view>;
  // `text`: site information at `offset` of the file `program`.
  void add_info(Bytes text, uint64_t offset, const std::string& program, ProblemLog& problems);
  bool add_sections(const StaticSections& found, const std::string& program, ProblemLog& problems);
  bool add_debug_file(const std::string& program, const std::string& section_name,
                      ProblemLog& problems);

  std::deque<InputFile> files_;
  std::deque<std::string> paths_;
  std::deque<std::shared_ptr<const std::string>> unpacked_;
  std::deque<sampler::SiteInfo> infos_;
  std::vector<Section> sections_;
  std::vector<Program> programs_;
  std::vector<size_t> last_program_;  // by section: the last one that has it, from 1
  std::map<Key, size_t> by_key_;
};

}  // namespace telltale
