#include "formats/xray/fdr_composer.h"

#include <algorithm>
#include <limits>

namespace telltale::xray {

using Reason = ConversionLoss::Reason;

void FdrComposer::open(const BufferStart& start) {
  start_ = start;
  now_ = start.tsc;
  if (!layout_.has_pid && start.pid != 0) output_.loss->add(Reason::process_id);
  put(NewBuffer{start.tid});
  put(WalltimeMarker{start.seconds, start.microseconds});
  if (layout_.has_pid) put(Pid{start.pid});
  put(NewCpuId{start.cpu, start.tsc});
}

void FdrComposer::close() {
  BlockWriter& out = *output_.out;
  const Encoding encoding = encoding_of(output_.header);
  if (layout_.has_extents) {
    encode_fdr_record(BufferExtents{body_.size()}, encoding, out.block());
    out.write(body_);
  } else {
    put(EndOfBuffer{});
    out.write(body_);
    for (uint64_t left = output_.header.buffer_size - body_.size(); left != 0;) {
      const uint64_t now = std::min<uint64_t>(left, BlockWriter::kBlockBytes);
      out.block().append(static_cast<size_t>(now), '\0');
      out.flush_if_full();
      left -= now;
    }
  }
  body_.clear();
}

void FdrComposer::make_room(uint64_t bytes) {
  // A wrap may precede it, and EndOfBuffer follow.
  if (body_.size() + bytes + 2 * kMetadataRecordBytes <= output_.split_at) return;
  const uint64_t now = now_;
  close();
  start_.tsc = now;
  open(start_);
}

void FdrComposer::put_wait(uint32_t us) {
  const size_t begin = body_.size() - kMetadataRecordBytes + kWaitOffset;
  for (size_t i = 0; i < sizeof(us); ++i) {
    const size_t shift = 8 * (output_.header.order == std::endian::little ? i : 3 - i);
    body_[begin + i] = static_cast<char>(us >> shift & 0xFF);
  }
}

uint64_t FdrComposer::advance(uint64_t tsc, uint64_t most) {
  uint64_t delta = tsc - now_;  // going back gives a huge delta
  if (delta > most) {
    put(TscWrap{tsc});
    delta = 0;
  }
  now_ = tsc;
  return delta;
}

void FdrComposer::add(const TimedEvent& event) {
  switch (event.kind) {
    case TimedEvent::Kind::call:
      add_call(event);
      break;
    case TimedEvent::Kind::argument:
      add_argument(event);
      break;
    case TimedEvent::Kind::custom:
      add_custom(event);
      break;
    case TimedEvent::Kind::typed:
      add_typed(event);
      break;
    case TimedEvent::Kind::cpu:
      make_room(kMetadataRecordBytes);
      start_.cpu = event.cpu;
      now_ = event.tsc;
      put(NewCpuId{event.cpu, event.tsc});
      break;
    case TimedEvent::Kind::wrap:
      make_room(kMetadataRecordBytes);
      now_ = event.tsc;
      put(TscWrap{event.tsc});
      put_wait(static_cast<uint32_t>(event.value));
      break;
    case TimedEvent::Kind::wall:
    case TimedEvent::Kind::other:
      output_.loss->add(Reason::misplaced_record);
      break;
  }
}

void FdrComposer::add_call(const TimedEvent& event) {
  call_dropped_ = event.function_id > kMaxFdrFunctionId;
  if (call_dropped_) {
    output_.loss->add(Reason::function_id);
    return;
  }
  // An entry and its arguments stay in one buffer; no known writer emits more arguments than these.
  constexpr uint64_t kArguments = 8;
  make_room(kFunctionRecordBytes +
            (event.action == FunctionAction::enter_args ? kArguments * kMetadataRecordBytes : 0));
  const uint64_t delta = advance(event.tsc, std::numeric_limits<uint32_t>::max());
  put(FunctionRecord{event.action, event.function_id, static_cast<uint32_t>(delta)});
}

void FdrComposer::add_argument(const TimedEvent& event) {
  if (call_dropped_) return;
  const bool full =
      !layout_.has_extents && body_.size() + 2 * kMetadataRecordBytes > output_.header.buffer_size;
  if (full) {
    output_.loss->add(Reason::further_argument);
  } else {
    put(CallArgument{event.value});
  }
}

bool FdrComposer::fits(Bytes payload) const {
  return layout_.has_extents || payload.size() + kFramingBytes <= output_.header.buffer_size;
}

void FdrComposer::add_custom(const TimedEvent& event) {
  if (!fits(event.payload)) {
    output_.loss->add(Reason::large_payload);
    return;
  }
  make_room(kMetadataRecordBytes + event.payload.size());
  CustomEvent custom;
  custom.payload_bytes = static_cast<int32_t>(event.payload.size());
  custom.payload = event.payload;
  if (layout_.event_time_is_delta) {
    custom.tsc_delta =
        static_cast<int32_t>(advance(event.tsc, std::numeric_limits<int32_t>::max()));
  } else {
    custom.tsc = event.tsc;
  }
  if (layout_.custom_event_has_cpu) {
    custom.cpu = event.cpu;
  } else if (event.cpu != start_.cpu) {
    output_.loss->add(Reason::event_cpu);
  }
  put(custom);
}

void FdrComposer::add_typed(const TimedEvent& event) {
  if (!layout_.has_typed_events) {
    output_.loss->add(Reason::typed_event);
    return;
  }
  make_room(kMetadataRecordBytes + event.payload.size());
  TypedEvent typed;
  typed.payload_bytes = static_cast<int32_t>(event.payload.size());
  typed.tsc_delta = static_cast<int32_t>(advance(event.tsc, std::numeric_limits<int32_t>::max()));
  typed.event_type = event.event_type;
  typed.payload = event.payload;
  put(typed);
}

}  // namespace telltale::xray
