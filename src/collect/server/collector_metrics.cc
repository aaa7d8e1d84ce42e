// What GET /metrics prints (docs/formats/collect.md), in Prometheus' text format 0.0.4.
#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include "collect/server/collector.h"

namespace telltale::collect {

std::string Collector::metrics() const {
  std::string out;
  const auto add = [&](std::string_view name, std::string_view type, std::string_view help,
                       uint64_t value) {
    out += fmt::format("# HELP telltale_{0} {2}\n# TYPE telltale_{0} {1}\ntelltale_{0} {3}\n", name,
                       type, help, value);
  };
  add("reports_stored_total", "counter", "Reports that were stored.", counts_.stored);
  add("reports_duplicate_total", "counter", "Reports that were there before.", counts_.duplicates);
  add("reports_conflict_total", "counter", "Reports with the id of a different one.",
      counts_.conflicts);
  add("stored_bytes_total", "counter", "Bytes of stored reports.", counts_.stored_bytes);
  add("path_files_stored_total", "counter", "Path files that were stored with their reports.",
      counts_.stored_paths);
  add("path_files_too_large_total", "counter", "Reports refused because of their path file's size.",
      counts_.refused_paths);
  add("unauthorized_total", "counter", "Requests without a valid token.", counts_.unauthorized);
  add("other_hosts_total", "counter",
      "Requests that called the server by a name that is not its own.", counts_.other_hosts);
  add("pages_total", "counter", "Reports and sites that pages in a browser sent: refused.",
      counts_.pages);
  add("over_rate_total", "counter", "Requests over their token's or application's rate.",
      counts_.over_rate);
  add("overload_total", "counter", "Requests refused because the disk was too slow.",
      counts_.overloads);
  add("disk_failures_total", "counter", "Reports that could not be written.",
      counts_.disk_failures);
  add("folds_total", "counter", "Times the log was folded.", counts_.folds);
  add("failed_folds_total", "counter", "Times folding the log failed.", counts_.failed_folds);
  add("syncs_total", "counter", "Times the log was synced.", log_->syncs());
  add("known_reports", "gauge", "Reports that the store has or had.", ids_.size());
  add("unfolded_bytes", "gauge", "Bytes of the log that are not folded.", unfolded_bytes());
  add("waiting_bytes", "gauge", "Bytes of reports that wait for the disk.", log_->waiting_bytes());
  HttpCounts all;
  for (const HttpServer* server : servers_) {
    const HttpCounts& counts = server->counts();
    all.connections += counts.connections;
    all.accepted += counts.accepted;
    all.timeouts += counts.timeouts;
    all.body_bytes += counts.body_bytes;
    for (size_t i = 0; i < std::size(all.requests_by_class); ++i)
      all.requests_by_class[i] += counts.requests_by_class[i];
  }
  add("connections", "gauge", "Open connections.", all.connections);
  add("connections_total", "counter", "Accepted connections.", all.accepted);
  add("timeouts_total", "counter", "Connections closed because the client was too slow.",
      all.timeouts);
  add("body_bytes", "gauge", "Bytes of requests in work.", all.body_bytes);
  out +=
      "# HELP telltale_responses_total Responses by class of status.\n"
      "# TYPE telltale_responses_total counter\n";
  for (size_t i = 2; i < std::size(all.requests_by_class); ++i)
    out +=
        fmt::format("telltale_responses_total{{class=\"{}xx\"}} {}\n", i, all.requests_by_class[i]);
  return out;
}

}  // namespace telltale::collect
