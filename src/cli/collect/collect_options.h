#pragma once

#include <cstdint>
#include <string>

#include "cli/options/command.h"
#include "collect/server/collector.h"
#include "collect/server/http_server.h"

namespace telltale::cli {

// A year. Longer times overflow in nanoseconds, and would fold all the time.
constexpr uint64_t kMostFoldSeconds = 31'536'000;

// The options of `telltale collect`.
struct CollectOptions {
  std::string listen = "127.0.0.1:8080";
  std::string operator_listen;  // empty: beside the other routes, on a loopback address
  std::string store;
  bool plain_http = false;
  uint64_t max_connections = 15000;
  uint64_t fold_seconds = 300;  // at most kMostFoldSeconds; 0: never
  uint64_t keep_days = 0;       // at most collect::kMostKeptDays; 0: for ever
  collect::CollectorOptions collector;
  collect::HttpServerOptions http;
};

// Adds `telltale collect` with its options, which must outlive parsing.
Command declare_collect_verb(Command app, CollectOptions& options);

}  // namespace telltale::cli
