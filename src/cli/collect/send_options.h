#pragma once

#include <cstdint>
#include <string>

#include "cli/options/command.h"
#include "collect/sender/send_reports.h"

namespace telltale::cli {

// The options of `telltale send`.
struct SendVerbOptions {
  std::string spool;
  std::string to;
  std::string token_file;
  std::string keep_trying;
  uint64_t first_wait = 60;
  uint64_t give_up_days = 30;
  uint64_t most_bytes = uint64_t{256} << 20;
  bool if_due = false;
  bool plain_http = false;
  bool quiet = false;
  collect::SendOptions send;
};

// Adds `telltale send` with its options, which must outlive parsing.
Command declare_send_verb(Command app, SendVerbOptions& options);

}  // namespace telltale::cli
