#include "formats/xray/timed_events.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace telltale::xray {

FdrBufferEvents::FdrBufferEvents(Bytes file, const FileHeader& header, const BufferFrame& frame)
    : file_(file),
      header_(header),
      frame_end_(frame.end),
      in_(file.subspan(static_cast<size_t>(frame.begin),
                       static_cast<size_t>(frame.end - frame.begin)),
          header.order, frame.begin) {
  while (!has_pending_ && !start_.timed && read(pending_)) {
    if (const auto* buffer = std::get_if<NewBuffer>(&pending_)) {
      start_.tid = buffer->tid;
    } else if (const auto* wall = std::get_if<WalltimeMarker>(&pending_)) {
      start_.seconds = wall->seconds;
      start_.microseconds = wall->microseconds;
    } else if (const auto* pid = std::get_if<Pid>(&pending_)) {
      start_.pid = pid->pid;
    } else if (const auto* cpu = std::get_if<NewCpuId>(&pending_)) {
      start_.cpu = cpu_ = cpu->cpu;
      start_.tsc = now_ = cpu->tsc;
      start_.timed = true;
    } else {
      has_pending_ = true;
    }
  }
}

bool FdrBufferEvents::read(FdrPayload& payload) {
  if (ended_) return false;
  end_.offset = in_.offset();
  if (in_.at_end()) {
    ended_ = true;
    return false;
  }
  const Result<FdrRecord> record = read_fdr_record(in_, header_.version);
  if (!record) {
    end_.error = record.error();
  } else if (detail::begins_buffer(record->payload) && !first_record_) {
    end_.error = detail::misplaced_opening(record->offset, record->payload);
  } else if (header_.version == 1 && std::holds_alternative<EndOfBuffer>(record->payload)) {
    end_.offset = in_.offset();
    end_.end_of_buffer = true;  // filler follows
  } else {
    first_record_ = false;
    payload = record->payload;
    return true;
  }
  ended_ = true;
  return false;
}

bool FdrBufferEvents::next(TimedEvent& event) {
  if (!std::exchange(has_pending_, false) && !read(pending_)) return false;
  event = timed(pending_);
  return true;
}

TimedEvent FdrBufferEvents::timed(const FdrPayload& payload) {
  using Kind = TimedEvent::Kind;
  TimedEvent event;
  event.cpu = cpu_;
  if (const auto* function = std::get_if<FunctionRecord>(&payload)) {
    now_ += function->tsc_delta;
    event.kind = Kind::call;
    event.action = function->action;
    event.function_id = function->function_id;
  } else if (const auto* argument = std::get_if<CallArgument>(&payload)) {
    event.kind = Kind::argument;
    event.value = argument->value;
  } else if (const auto* cpu = std::get_if<NewCpuId>(&payload)) {
    event.kind = Kind::cpu;
    event.cpu = cpu_ = cpu->cpu;
    now_ = cpu->tsc;
  } else if (const auto* wrap = std::get_if<TscWrap>(&payload)) {
    event.kind = Kind::wrap;
    event.value =
        wait_us(file_.subspan(in_.offset() - kMetadataRecordBytes, kMetadataRecordBytes), header_);
    now_ = wrap->tsc;
  } else if (const auto* wall = std::get_if<WalltimeMarker>(&payload)) {
    event.kind = Kind::wall;
    event.seconds = wall->seconds;
    event.microseconds = wall->microseconds;
  } else if (const auto* typed = std::get_if<TypedEvent>(&payload)) {
    event.kind = Kind::typed;
    event.event_type = typed->event_type;
    event.payload = typed->payload;
    now_ += static_cast<uint64_t>(int64_t{typed->tsc_delta});
  } else if (const auto* custom = std::get_if<CustomEvent>(&payload)) {
    const FdrLayout layout = fdr_layout(header_.version);
    event.kind = Kind::custom;
    event.payload = custom->payload;
    if (layout.custom_event_has_cpu) event.cpu = custom->cpu;
    if (!layout.event_time_is_delta) {
      // Does not change the running time, but stays between its neighbours.
      if (next_timed_.offset < in_.offset())
        next_timed_ = find_next_timed(file_, header_, in_.offset(), frame_end_, now_);
      event.tsc = std::max(std::min(custom->tsc, next_timed_.tsc), now_);
      return event;
    }
    now_ += static_cast<uint64_t>(int64_t{custom->tsc_delta});
  }
  event.tsc = now_;
  return event;
}

TimedEvent timed_event(const BasicRecord& record) {
  TimedEvent event;
  event.kind = record.type == BasicRecordType::argument ? TimedEvent::Kind::argument
                                                        : TimedEvent::Kind::call;
  event.action = static_cast<FunctionAction>(record.kind);  // the numbers are the same
  event.cpu = record.cpu;
  event.function_id = static_cast<uint32_t>(record.function_id);
  event.tsc = record.tsc;
  event.value = record.argument;
  return event;
}

}  // namespace telltale::xray
