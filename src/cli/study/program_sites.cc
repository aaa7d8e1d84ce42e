#include "cli/study/program_sites.h"

#include <fmt/format.h>

#include <utility>

#include "base/fnv.h"
#include "bytes/input_file.h"
#include "import/sampler/sampler_sites.h"
#include "program/elf_image.h"

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

}  // namespace telltale::cli
