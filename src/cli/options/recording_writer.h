#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "import/open_options.h"

namespace telltale::cli {

// Whether the process that writes these recordings has ended or closed them. A process id may have
// been reused, be from another machine or another namespace, or be of a zombie: a writer has one of
// the files open or mapped. Without permission to look, a process of that id is taken for the
// writer.
bool writer_has_ended(int64_t pid, const std::vector<std::string>& files);

// Says on standard error which of the recordings are still being written: what seems to be damage
// may be what was half written when it was read. Call if there is damage; reads the recordings that
// changed within the last minute.
void remark_writers(const OpenOptions& recordings);

}  // namespace telltale::cli
