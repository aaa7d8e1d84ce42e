#include "formats/xray/basic_composer.h"

namespace telltale::xray {

using Reason = ConversionLoss::Reason;

void BasicComposer::write(const TimedEvent& event, const Thread& thread,
                          std::span<const uint64_t> arguments) {
  switch (event.kind) {
    case TimedEvent::Kind::call:
      write_call(event, thread);
      break;
    case TimedEvent::Kind::custom:
      loss_.add(Reason::custom_event);
      break;
    case TimedEvent::Kind::typed:
      loss_.add(Reason::typed_event);
      break;
    case TimedEvent::Kind::wall:
      loss_.add(Reason::wall_clock);
      break;
    case TimedEvent::Kind::argument:
    case TimedEvent::Kind::other:
      loss_.add(Reason::misplaced_record);
      break;
    case TimedEvent::Kind::wrap:  // each record contains its time
      if (event.value != 0) loss_.add(Reason::wait);
      break;
    case TimedEvent::Kind::cpu:  // and its CPU
      break;
  }
  if (arguments.empty()) return;
  write_argument(event.function_id, thread, arguments[0]);
  loss_.add(Reason::further_argument, arguments.size() - 1);
}

void BasicComposer::write_call(const TimedEvent& event, const Thread& thread) {
  auto kind = static_cast<BasicKind>(event.action);
  if (kind == BasicKind::tail_exit && !layout_.has_tail_exit) {
    kind = BasicKind::exit;
    loss_.add(Reason::tail_exit);
  }
  if (event.cpu > 0xFF) loss_.add(Reason::cpu_number);
  if (!layout_.has_pid && thread.pid != 0) loss_.add(Reason::process_id);
  encode_basic_call({kind, static_cast<uint8_t>(event.cpu & 0xFF),
                     static_cast<int32_t>(event.function_id), event.tsc, thread.tid, thread.pid},
                    encoding_of(header_), out_.block());
  out_.flush_if_full();
}

void BasicComposer::write_argument(uint32_t function_id, const Thread& thread, uint64_t value) {
  encode_basic_argument({static_cast<int32_t>(function_id), thread.tid, thread.pid, value},
                        encoding_of(header_), out_.block());
  out_.flush_if_full();
}

}  // namespace telltale::xray
