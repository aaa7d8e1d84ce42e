#include "import/sampler/sampler_sites.h"

#include <fmt/format.h>

#include <utility>

#include "formats/sampler/recognise.h"
#include "program/elf_image.h"
#include "program/symbolizer.h"

namespace telltale {

Result<bool> SamplerSites::add(const std::string& path, const InputLimits& limits,
                               ProblemLog& problems, const std::string& section_name) {
  Result<InputFile> file = InputFile::open(path, limits);
  if (!file) return std::unexpected(file.error());
  return add(*std::move(file), problems, section_name);
}

Result<bool> SamplerSites::add(InputFile file, ProblemLog& problems,
                               const std::string& section_name) {
  problems.merge(file.problems());
  const InputFile& kept = files_.emplace_back(std::move(file));
  const std::string& path = paths_.emplace_back(kept.name());
  programs_.push_back({path.substr(path.rfind('/') + 1), {}});
  const Bytes bytes = kept.bytes();
  if (sampler::kind_of(bytes) == sampler::TextKind::sites) {
    add_info(bytes, 0, path, problems);
    return true;
  }
  if (!may_have_static_sections(bytes)) {
    return std::unexpected(Error{Error::Cause::bad_magic,
                                 path,
                                 {},
                                 "neither a program, nor an archive, nor a .sites file",
                                 0});
  }
  const Result<StaticSections> found = read_static_sections(bytes, path, section_name, problems);
  if (!found) return std::unexpected(found.error());
  if (add_sections(*found, path, problems)) return true;
  return ElfImage::recognises(bytes) && add_debug_file(path, section_name, problems);
}

Result<bool> SamplerSites::add_build(const std::string& path, const std::string& library,
                                     const InputLimits& limits, ProblemLog& problems) {
  Result<InputFile> file = InputFile::open(path, limits);
  if (!file) return std::unexpected(file.error());
  const Result<bool> added = add(*std::move(file), problems);
  programs_.back().name = library;
  return added;
}

bool SamplerSites::add_sections(const StaticSections& found, const std::string& program,
                                ProblemLog& problems) {
  for (const StaticSection& section : found.sections) {
    if (section.unpacked != nullptr) unpacked_.push_back(section.unpacked);
    add_info(section.bytes, section.offset, program, problems);
  }
  return !found.sections.empty();
}

// A separate debug file may contain what strip removed.
bool SamplerSites::add_debug_file(const std::string& program, const std::string& section_name,
                                  ProblemLog& problems) {
  const std::string debug_file = Symbolizer(program).debug_file();
  if (debug_file.empty() || debug_file == program) return false;
  Result<InputFile> file = InputFile::open(debug_file);
  if (!file) return false;
  const InputFile& kept = files_.emplace_back(*std::move(file));
  const Result<StaticSections> found =
      read_static_sections(kept.bytes(), debug_file, section_name, problems);
  return found && add_sections(*found, program, problems);
}

void SamplerSites::add_info(Bytes text, uint64_t offset, const std::string& program,
                            ProblemLog& problems) {
  const sampler::SiteInfo& info =
      infos_.emplace_back(sampler::SiteInfo::read(text, program, offset, problems));
  const auto refuse = [&](const sampler::SitesSection& section, std::string message) {
    problems.add({Problem::Kind::corruption, offset + section.offset, program, "sites",
                  std::move(message), section.body.size()});
  };
  for (const sampler::SitesSection& section : info.sections()) {
    if (section.unit.empty() || section.scheme.empty()) {
      refuse(section, "the tag lacks a unit or a scheme");
      continue;
    }
    const auto [known, is_new] =
        by_key_.try_emplace({section.unit, section.scheme}, sections_.size());
    if (is_new) {
      sections_.push_back({&section, &program});
    } else if (sections_[known->second].sites->body != section.body) {
      refuse(section, fmt::format("unit {} has different {} sites in {}; those are used",
                                  section.unit, section.scheme, *sections_[known->second].program));
    }
    last_program_.resize(sections_.size());
    if (std::exchange(last_program_[known->second], programs_.size()) != programs_.size())
      programs_.back().sections.push_back(static_cast<uint32_t>(known->second));
  }
}

const SamplerSites::Section* SamplerSites::find(std::string_view unit,
                                                std::string_view scheme) const {
  const auto found = by_key_.find({unit, scheme});
  return found == by_key_.end() ? nullptr : &sections_[found->second];
}

uint64_t SamplerSites::site_count() const {
  uint64_t count = 0;
  for (const Section& section : sections_) count += section.sites->size();
  return count;
}

}  // namespace telltale
