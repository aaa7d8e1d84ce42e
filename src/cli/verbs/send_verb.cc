// `telltale send`: sends the reports of a spool to a server. telltale-collect does the work.
#include <memory>

#include "cli/collect/send_options.h"
#include "cli/verbs/verbs.h"

namespace telltale::cli {

void add_send_verb(Command app, int& /*status*/) {
  const auto options = std::make_shared<SendVerbOptions>();
  declare_send_verb(app, *options).callback([options] {});
}

}  // namespace telltale::cli
