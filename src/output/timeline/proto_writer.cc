#include "output/timeline/proto_writer.h"

#include "output/escape.h"

namespace telltale {

ProtoMessage& ProtoMessage::text(uint32_t field, std::string_view value) {
  if (is_utf8(value)) return bytes(field, value);
  std::string repaired;
  append_repaired_utf8(repaired, value);
  return bytes(field, repaired);
}

}  // namespace telltale
