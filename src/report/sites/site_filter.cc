#include "report/sites/site_filter.h"

#include <algorithm>

namespace telltale {

bool SiteFilter::keeps(const CountedSite& site) {
  if (options_.observed && !site.observed) return false;
  if (!options_.schemes.empty() &&
      std::ranges::find(options_.schemes, site.scheme->name) == options_.schemes.end())
    return false;
  if (filter_.functions.empty()) return true;
  if (function_.empty() || function_ != site.function) {
    function_ = site.function;
    FunctionInfo info;
    info.name = function_;
    kept_ = filter_.matches(info);
  }
  return kept_;
}

}  // namespace telltale
