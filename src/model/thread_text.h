#pragma once

#include <string>

#include "model/events.h"

namespace telltale {

// "42"; of several processes with that pid, "42.1", "42.2", ...
std::string process_text(const ThreadKey& thread);

// "42:43", "42.2:43", as --thread takes it; "43" if the pid was not recorded.
std::string thread_text(const ThreadKey& thread);

// "43"; of several processes with that pid, "42.2:43".
std::string short_thread_text(const ThreadKey& thread);

}  // namespace telltale
