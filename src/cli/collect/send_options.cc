#include "cli/collect/send_options.h"

namespace telltale::cli {

Command declare_send_verb(Command app, SendVerbOptions& options) {
  Command verb =
      app.add_verb("send", "send reports that wait in a folder to a server (telltale collect)");
  verb.add_option("SPOOL", options.spool,
                  "folder of reports (default: TELLTALE_COLLECT, or telltale/spool in the user's "
                  "folder for state)");
  verb.add_option("--to", options.to, "the server, such as https://reports.example:8443")
      .type_name("URL")
      .required();
  verb.add_option("--token-file", options.token_file,
                  "file with the token that the server asks for (default: TELLTALE_TOKEN)")
      .type_name("FILE");
  verb.add_option("--authorities", options.send.upload.authorities,
                  "PEM file of the certificates that vouch for the server (default: the system's)")
      .type_name("FILE");
  verb.add_flag("--plain-http", options.plain_http,
                "allow http without TLS to other machines than this one");
  verb.add_flag("--unredacted", options.send.unredacted,
                "send folders in backtraces and path files too, arguments in path files, and parts "
                "of reports that telltale does not know");
  verb.add_option("--keep-trying", options.keep_trying,
                  "if the server cannot be reached, try again until this time has passed, such as "
                  "2h: after a minute, two, four, up to six hours")
      .type_name("TIME");
  verb.add_option("--first-wait", options.first_wait, "seconds after the first attempt that failed")
      .in_range(uint64_t{1}, uint64_t{21600})
      .type_name("N")
      .show_default();
  verb.add_flag(
      "--if-due", options.if_due,
      "do nothing if the last attempt to send to URL failed and its wait is not over; if another "
      "process is sending, wait for it");
  verb.add_option("--give-up-days", options.give_up_days, "remove reports that are older")
      .in_range(uint64_t{1}, uint64_t{3650})
      .type_name("N")
      .show_default();
  verb.add_option("--max-bytes", options.most_bytes,
                  "remove the oldest reports while there are more bytes than this")
      .type_name("N")
      .show_default();
  verb.add_flag("-q,--quiet", options.quiet, "print errors only");
  verb.footer(
      "Exit status: 0 all reports are sent; 1 some wait for the next attempt, or were\n"
      "refused. A report is removed when the server has stored it. Reports of\n"
      "applications for which the user's consent is off are removed and not sent.\n");
  return verb;
}

}  // namespace telltale::cli
