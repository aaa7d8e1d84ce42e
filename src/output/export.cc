#include "output/export.h"

namespace telltale {

std::string_view close_name(CloseKind how) {
  switch (how) {
    case CloseKind::returned:
      return "normal";
    case CloseKind::tail:
      return "tail";
    case CloseKind::unwound:
      return "unwound";
    case CloseKind::unfinished:
      return "unfinished";
  }
  return "normal";
}

}  // namespace telltale
