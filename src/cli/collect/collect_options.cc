#include "cli/collect/collect_options.h"

#include "collect/store/fold.h"

namespace telltale::cli {

Command declare_collect_verb(Command app, CollectOptions& options) {
  Command verb = app.add_verb(
      "collect", "receive reports over HTTP and keep them in a store, for `telltale isolate`");
  verb.add_option("--listen", options.listen,
                  "address and port, such as 127.0.0.1:8080, [::1]:8080 or :8443 (all addresses)")
      .type_name("ADDR")
      .show_default();
  verb.add_option("--store", options.store, "folder of the store; created if it does not exist")
      .type_name("DIR")
      .required();
  verb.add_option("--tokens", options.collector.tokens,
                  "file with a line for each token: application, token or sha256:HASH, and "
                  "optionally `sites`. Without it anybody may send, on loopback addresses only")
      .type_name("FILE");
  verb.add_option(
          "--sampling", options.collector.sampling,
          "file with a line for each rule: application, build (its beginning) or *, "
          "sparsity (0: no sampling), and optionally rates: uniform, adaptive or adaptive:N, "
          "which observes the first N (1 to 255) executions of each place; clients are told "
          "to use these")
      .type_name("FILE");
  verb.add_option("--certificate", options.http.certificate,
                  "PEM file of a certificate chain: serve HTTPS")
      .type_name("FILE");
  verb.add_option("--key", options.http.key, "PEM file of the certificate's private key")
      .type_name("FILE")
      .needs("--certificate");
  verb.add_flag("--plain-http", options.plain_http,
                "allow HTTP without TLS on other addresses than loopback, as behind a proxy");
  verb.add_option("--operator", options.operator_listen,
                  "address and port of /metrics and the status page, which need the token in "
                  "DIR/operator-token; by default those of --listen if that is a loopback address. "
                  "HTTPS with --certificate, except on loopback")
      .type_name("ADDR");
  verb.add_option("--host", options.collector.own_hosts,
                  "name in lower case by which the server may be called, besides addresses and "
                  "localhost: for /metrics and the status page, and for reports without --tokens")
      .type_name("NAME")
      .one_value_each();
  verb.add_option("--max-body-bytes", options.collector.max_body_bytes,
                  "largest body of a report, as sent")
      .type_name("N")
      .show_default();
  verb.add_option("--max-report-bytes", options.collector.max_report_bytes,
                  "largest report, decompressed")
      .type_name("N")
      .show_default();
  verb.add_option(
          "--max-paths-bytes", options.collector.max_paths_bytes,
          "largest path file of a report (--collect-paths of `telltale run`), decompressed; "
          "0: none are taken")
      .type_name("N")
      .show_default();
  verb.add_option("--max-connections", options.max_connections, "connections at a time")
      .type_name("N")
      .show_default();
  verb.add_option(
          "--reports-per-second", options.collector.reports_per_second,
          "limit for each token (without --tokens: for each application), with bursts of ten "
          "seconds; 0: none")
      .type_name("N")
      .show_default();
  verb.add_option("--bytes-per-second", options.collector.bytes_per_second,
                  "likewise, of bodies as sent; 0: none")
      .type_name("N")
      .show_default();
  verb.add_option("--fold-seconds", options.fold_seconds,
                  "fold the log into Parquet this often; 0: never")
      .in_range(uint64_t{0}, kMostFoldSeconds)
      .type_name("N")
      .show_default();
  verb.add_option("--keep-days", options.keep_days,
                  "remove reports that were received longer ago; 0: keep all")
      .in_range(uint64_t{0}, collect::kMostKeptDays)
      .type_name("N")
      .show_default();
  return verb;
}

}  // namespace telltale::cli
