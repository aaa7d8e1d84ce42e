#include "cli/network/network_command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>

#include "cli/network/collect_service.h"
#include "cli/network/send_service.h"
#include "cli/options/file_size_limit.h"
#include "cli/options/message.h"
#include "cli/options/standard_descriptors.h"
#include "cli/verbs/verbs.h"
#include "output/escape.h"

namespace telltale::cli {

int run_network_command_line(std::span<char* const> words, const std::string& telltale) {
  keep_standard_descriptors();
  fail_at_file_size_limit();
  CLI::App app;
  app.set_help_flag();
  app.require_subcommand(1);
  int status = kDone;
  CollectOptions collect;
  declare_collect_verb(Command(app), collect).callback([&] {
    status = serve_reports(collect, telltale);
  });
  SendVerbOptions send;
  declare_send_verb(Command(app), send).callback([&] { status = send_spool(send); });
  try {
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::ParseError&) {
    print_message(
        "telltale: use `telltale collect` or `telltale send`, which start this program\n");
    return kUsage;
  } catch (const std::exception& error) {
    print_message("telltale: {}\n", visible(error.what()));
    return kUnreadable;
  }
  return status;
}

}  // namespace telltale::cli
