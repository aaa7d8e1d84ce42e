#include "cli/study/program_sites.h"

#include <fmt/format.h>

#include <utility>

#include "base/fnv.h"
#include "bytes/input_file.h"
#include "formats/csi/path_metadata.h"
#include "formats/csi/wire.h"
#include "import/sampler/sampler_sites.h"
#include "program/elf_image.h"
#include "program/static_sections.h"

namespace telltale::cli {
namespace {

// For programs without a build-id.
std::string hash_name(std::string_view text) { return fmt::format("sites-{:016x}", fnv1a(text)); }

}  // namespace

Result<std::string> build_id_of(const std::string& program) {
  const Result<InputFile> file = InputFile::open(program);
  if (!file) return std::unexpected(file.error());
  if (!ElfImage::recognises(file->bytes())) return std::string();  // a .sites file
  const Result<ElfImage> image = ElfImage::read(file->bytes(), program);
  if (!image) return std::unexpected(image.error());
  return image->build_id();
}

Result<ProgramSites> read_program_sites(const std::string& program, ProblemLog& problems) {
  SamplerSites sites;
  const Result<bool> added = sites.add(program, {}, problems);
  if (!added) return std::unexpected(added.error());
  if (!*added) {
    return std::unexpected(Error{
        Error::Cause::bad_field,
        program,
        {},
        "has no sites: it was not built by telltale-cc with -fsampler-scheme, or it is stripped",
        {}});
  }
  std::string text;
  for (const SamplerSites::Section& section : sites.sections()) {
    text += fmt::format("<sites unit=\"{}\" scheme=\"{}\">\n{}</sites>\n", section.sites->unit,
                        section.sites->scheme, section.sites->body);
  }
  Result<std::string> name = build_id_of(program);
  if (!name) return std::unexpected(name.error());
  if (name->empty()) *name = hash_name(text);
  return ProgramSites{*std::move(name), std::move(text)};
}

std::vector<std::string> programs_of_cores(const std::vector<std::string>& programs,
                                           const InputLimits& limits) {
  std::vector<std::string> kept;
  for (const std::string& program : programs) {
    const Result<InputFile> file = InputFile::open(program, limits);
    if (file &&
        (ElfImage::recognises(file->bytes()) || csi::looks_like_path_metadata(file->bytes())))
      kept.push_back(program);
  }
  return kept;
}

Result<std::string> traced_build_of(const std::string& program) {
  const Result<InputFile> file = InputFile::open(program);
  if (!file) return std::unexpected(file.error());
  if (!ElfImage::recognises(file->bytes())) return std::string();
  for (const char* name : {csi::kRecordSection, csi::kPathSection}) {
    ProblemLog ignored;  // `telltale paths` reports damage
    const auto found = read_static_sections(file->bytes(), program, name, ignored);
    if (!found || found->sections.empty()) continue;
    Result<std::string> id = build_id_of(program);
    if (!id || !id->empty()) return id;
    const Bytes bytes = found->sections.front().bytes;
    return fmt::format("paths-{:016x}",
                       fnv1a({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  }
  return std::string();
}

}  // namespace telltale::cli
