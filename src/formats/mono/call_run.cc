#include "formats/mono/call_run.h"

namespace telltale::mono {

std::optional<TimedCall> CallRun::next() {
  if (in_.left() == 0 || !is_call(*in_.data())) return {};
  const size_t begin = in_.position();
  const uint8_t first = in_.byte("type");
  const uint64_t time = in_.uleb("time");
  const auto step = static_cast<uint64_t>(in_.sleb("method"));
  if (!in_.ok()) {
    in_.seek(begin);
    return {};
  }
  bases_.time += time;
  bases_.method += step;
  return TimedCall{static_cast<Call::Action>(first >> 4), bases_.time,
                   bases_.method & bases_.address_mask};
}

}  // namespace telltale::mono
