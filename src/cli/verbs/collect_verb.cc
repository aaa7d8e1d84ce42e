// `telltale collect`: the server that receives reports. telltale-collect does the work.
#include <memory>

#include "cli/collect/collect_options.h"
#include "cli/verbs/verbs.h"

namespace telltale::cli {

void add_collect_verb(Command app, int& /*status*/) {
  const auto options = std::make_shared<CollectOptions>();
  declare_collect_verb(app, *options).callback([options] {});
}

}  // namespace telltale::cli
