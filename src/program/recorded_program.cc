#include "program/recorded_program.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "bytes/input_file.h"
#include "program/elf_image.h"

namespace telltale {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;

std::unexpected<Error> another_program(const std::string& path, std::string detail) {
  return std::unexpected(Error{Error::Cause::bad_field, path, {}, std::move(detail), {}});
}

}  // namespace

bool may_open_recorded_path(const std::string& path) {
  constexpr std::array<std::string_view, 3> kKernelFolders = {"/proc/", "/sys/", "/dev/"};
  if (!path.starts_with('/') || path.contains('\0')) return false;
  for (const std::string_view folder : kKernelFolders) {
    if (path.starts_with(folder)) return false;
  }
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

Result<std::string> read_build_id(const std::string& path) {
  const Result<InputFile> input = InputFile::open(path);
  if (!input) return std::unexpected(input.error());
  const Result<ElfImage> image = ElfImage::read(input->bytes(), path);
  if (!image) return std::unexpected(image.error());
  return image->build_id();
}

Result<void> check_recorded_program(const ProgramIdentity& recorded, const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return io_error(path, "cannot open", errno);
  const Result<std::string> build_id = read_build_id(path);
  if (!build_id) return std::unexpected(build_id.error());
  if (!recorded.build_id.empty()) {
    if (*build_id == recorded.build_id) return {};
    return another_program(
        path, fmt::format("is not the recorded program: its build-id is {}, not {}",
                          build_id->empty() ? "missing" : *build_id, recorded.build_id));
  }
  const int64_t modified = int64_t{status.st_mtim.tv_sec} * kNsPerSecond + status.st_mtim.tv_nsec;
  if (build_id->empty() && recorded.file_bytes == static_cast<uint64_t>(status.st_size) &&
      recorded.modified_ns == modified) {
    return {};
  }
  return another_program(path,
                         "has no build-id, and has changed since it was recorded (size or time)");
}

}  // namespace telltale
