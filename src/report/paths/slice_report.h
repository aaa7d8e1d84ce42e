#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "import/program_slice.h"
#include "import/stack_paths.h"
#include "model/name_style.h"
#include "output/table/object_writer.h"
#include "report/paths/source_lines.h"

namespace telltale {

// "defines x, used at line 7": why a line is in a slice.
std::string sentence_of(const ProgramSlice::Reason& reason);
// The nearest two reasons.
std::string sentence_of(const ProgramSlice::Line& line);
// "12 lines in 9 blocks; ...": its size, beside that of the slice of the stack alone.
std::string size_of_slice(const ProgramSlice& slice);

// The folder that the file of a line is relative to.
std::string directory_of_slice(const ThreadPaths& thread, const ProgramSlice::Line& line);

// For people: the slice of the first thread that has one, with the text of its lines where the
// file is here. At most `limit` lines, the nearest; 0: all. What is left out is counted.
std::string slice_text(const std::vector<ThreadPaths>& threads, const std::string& why_stopped,
                       NameStyle names, size_t limit, SourceLines& sources);

// The member `slice` of a thread in the document `paths`.
void write_slice(ObjectWriter& thread, const ProgramSlice& slice);

}  // namespace telltale
