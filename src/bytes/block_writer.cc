#include "bytes/block_writer.h"

namespace telltale {

void BlockWriter::flush() {
  if (state_ && !block_.empty()) state_ = sink_(block_);
  block_.clear();
}

}  // namespace telltale
