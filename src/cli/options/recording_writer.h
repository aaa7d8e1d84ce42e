#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace telltale::cli {

// Whether the process that writes these recordings has ended or closed them. A process id may have
// been reused, be from another machine or another namespace, or be of a zombie: a writer has one of
// the files open or mapped. Without permission to look, a process of that id is taken for the
// writer.
bool writer_has_ended(int64_t pid, const std::vector<std::string>& files);

}  // namespace telltale::cli
