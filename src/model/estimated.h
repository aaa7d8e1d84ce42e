#pragma once

namespace telltale {

// Of a recording whose clock was read on some events only, the others are told at times that were
// estimated when it was read. Sinks that say so to their reader have a member estimated(bool): the
// times of the events that follow are estimates, or are not any more. Nothing is told before the
// first estimate.
template <typename Sink>
void tell_estimated(Sink& sink, bool now) {
  if constexpr (requires { sink.estimated(now); }) sink.estimated(now);
}

}  // namespace telltale
