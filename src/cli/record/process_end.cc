#include "cli/record/process_end.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/problem.h"
#include "bytes/byte_writer.h"
#include "bytes/input_file.h"
#include "formats/xray/side_record.h"

namespace telltale::cli {

void write_process_end(const std::string& side_path, const ChildOutcome& outcome) {
  {
    ProblemLog problems;
    const Result<InputFile> input = InputFile::open(side_path);
    if (!input) return;
    const auto side = xray::read_side_record(input->bytes(), side_path, problems);
    if (!side || side->pid != static_cast<uint32_t>(outcome.pid)) return;
  }
  using End = xray::SideRecord::End;
  const bool exited = WIFEXITED(outcome.wait_status);
  ByteWriter fields(std::endian::little);
  fields.write(static_cast<uint32_t>(exited ? End::exit : End::signal));
  fields.write(static_cast<uint32_t>(exited ? WEXITSTATUS(outcome.wait_status)
                                            : WTERMSIG(outcome.wait_status)));
  fields.write(outcome.end_monotonic_ns).write(outcome.user_ns).write(outcome.system_ns);
  const std::string bytes = fields.take();
  const int file = ::open(side_path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return;
  [[maybe_unused]] const ssize_t written =
      ::pwrite(file, bytes.data(), bytes.size(), xray::kSideEndOffset);
  ::close(file);
}

}  // namespace telltale::cli
