#pragma once

namespace telltale {

// For recordings whose clock was read only on some events: the times of the others are estimated by
// the reader. Sinks that mark estimates have a member estimated(bool): from now on events have
// estimated times, or recorded ones again. The initial state is recorded times.
template <typename Sink>
void emit_estimated(Sink& sink, bool now) {
  if constexpr (requires { sink.estimated(now); }) sink.estimated(now);
}

}  // namespace telltale
