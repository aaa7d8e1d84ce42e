#pragma once

#include <chrono>

#include "base/error.h"
#include "collect/store_folder.h"

namespace telltale::collect {

// Whether nobody writes to the segment any more. A server keeps a lock on the one that it writes.
bool is_ended(const std::string& segment);

// Asks the server that writes the log to end its segment, so that its reports can be folded, and
// waits until it has. False: it has not in this time. Without a server there is nothing to wait
// for. The request is a file that the server looks for every second; a signal would need the
// server's process id, which means another process if the server is in a container. Errors: io.
Result<bool> request_roll(const StoreFolder& store, std::chrono::seconds patience);

// Whether there was such a request; takes it away. For the server.
bool take_roll_request(const StoreFolder& store);

}  // namespace telltale::collect
