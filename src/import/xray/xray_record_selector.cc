#include "import/xray/xray_record_selector.h"

#include <variant>

namespace telltale {

FunctionId XrayRecordSelector::function_of(uint32_t id) const {
  if (ids_ != nullptr) return (*ids_)(FunctionId{id});
  return filter_.function_at ? filter_.function_at(id) : FunctionId{id};
}

RecordFilter::Thread& XrayRecordSelector::at(int64_t pid, int64_t tid) {
  const ThreadKey key{pid, tid};
  if (thread_ == nullptr || key != key_) {
    key_ = key;
    thread_ = &filter_.thread(key);
  }
  return *thread_;
}

void XrayRecordSelector::begin_buffer(int64_t pid, int64_t tid, uint64_t tsc) {
  at(pid == 0 ? process_ : pid, tid);
  tsc_ = tsc;
  last_call_chosen_ = false;
}

bool XrayRecordSelector::here() const { return thread_ == nullptr || thread_->other(now()); }

bool XrayRecordSelector::function(const xray::FunctionRecord& record) {
  tsc_ += record.tsc_delta;
  const FunctionId function = function_of(record.function_id);
  switch (record.action) {
    case xray::FunctionAction::enter:
    case xray::FunctionAction::enter_args:
      last_call_chosen_ = thread_->enter(now(), function);
      break;
    case xray::FunctionAction::exit:
      last_call_chosen_ = thread_->leave(now(), function, LeaveKind::normal);
      break;
    case xray::FunctionAction::tail_exit:
      last_call_chosen_ = thread_->leave(now(), function, LeaveKind::tail);
      break;
  }
  return last_call_chosen_;
}

bool XrayRecordSelector::metadata(const xray::FdrRecord& record) {
  if (std::holds_alternative<xray::CallArgument>(record.payload)) return last_call_chosen_;
  if (const auto* cpu = std::get_if<xray::NewCpuId>(&record.payload)) {
    tsc_ = cpu->tsc;
  } else if (const auto* wrap = std::get_if<xray::TscWrap>(&record.payload)) {
    tsc_ = wrap->tsc;
  } else if (const auto* typed = std::get_if<xray::TypedEvent>(&record.payload)) {
    tsc_ += static_cast<uint64_t>(int64_t{typed->tsc_delta});
  } else if (const auto* custom = std::get_if<xray::CustomEvent>(&record.payload)) {
    // Before version 5 it has its own time, which does not advance the buffer's.
    tsc_ += static_cast<uint64_t>(int64_t{custom->tsc_delta});
    if (custom->tsc != 0) return thread_->other(to_ticks(custom->tsc));
  }
  return thread_->other(now());
}

bool XrayRecordSelector::basic(const xray::BasicRecord& record) {
  RecordFilter::Thread& thread = at(record.pid, record.tid);
  if (record.type == xray::BasicRecordType::argument) return thread.kept() && last_call_chosen_;
  tsc_ = record.tsc;
  const FunctionId function = function_of(static_cast<uint32_t>(record.function_id));
  switch (record.kind) {
    case xray::BasicKind::enter:
    case xray::BasicKind::enter_args:
      last_call_chosen_ = thread.enter(now(), function);
      break;
    case xray::BasicKind::exit:
      last_call_chosen_ = thread.leave(now(), function, LeaveKind::normal);
      break;
    case xray::BasicKind::tail_exit:
      last_call_chosen_ = thread.leave(now(), function, LeaveKind::tail);
      break;
  }
  return last_call_chosen_;
}

bool XrayRecordSelector::yaml(const xray::YamlRecord& record) {
  RecordFilter::Thread& thread = at(record.process, record.thread);
  tsc_ = record.tsc;
  const FunctionId function = function_of(record.function_id);
  switch (record.kind) {
    case xray::YamlKind::enter:
    case xray::YamlKind::enter_args:
      return thread.enter(now(), function);
    case xray::YamlKind::exit:
      return thread.leave(now(), function, LeaveKind::normal);
    case xray::YamlKind::tail_exit:
      return thread.leave(now(), function, LeaveKind::tail);
    case xray::YamlKind::custom_event:
    case xray::YamlKind::typed_event:
      break;
  }
  return thread.other(now());
}

}  // namespace telltale
