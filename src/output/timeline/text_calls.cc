#include "output/timeline/text_calls.h"

#include <array>
#include <charconv>
#include <utility>

#include "output/escape.h"
#include "output/timeline/event_title.h"
#include "output/timeline/shown_thread.h"

namespace telltale {
namespace {

// JavaScript's numbers are exact up to here; larger ones are written as text.
constexpr uint64_t kMaxExact = uint64_t{1} << 53;

void append_number(std::string& out, auto number) {
  std::array<char, 24> digits;
  out.append(digits.data(),
             std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}

void append_exact(std::string& out, uint64_t number) {
  if (number > kMaxExact) out += '"';
  append_number(out, number);
  if (number > kMaxExact) out += '"';
}

// Microseconds with three decimals.
void append_microseconds(std::string& out, uint64_t ns) {
  append_number(out, ns / 1000);
  const auto rest = static_cast<unsigned>(ns % 1000);
  const char digits[4] = {'.', static_cast<char>('0' + rest / 100),
                          static_cast<char>('0' + rest / 10 % 10),
                          static_cast<char>('0' + rest % 10)};
  out.append(digits, sizeof digits);
}

// ,"key":"text"
void append_text_member(std::string& out, std::string_view key, std::string_view text) {
  out += ",\"";
  out += key;
  out += "\":\"";
  append_json(out, text);
  out += '"';
}

// ,"payload":"..." or ,"payload_hex":"..."
void append_payload(std::string& out, std::span<const std::byte> payload) {
  const std::string_view bytes(reinterpret_cast<const char*>(payload.data()), payload.size());
  if (is_printable_utf8(bytes)) {
    append_text_member(out, "payload", bytes);
    return;
  }
  out += ",\"payload_hex\":\"";
  append_hex(out, bytes);
  out += '"';
}

}  // namespace

Result<void> TextExport::write_entries(std::string_view text) {
  if (text.empty()) return {};
  if (!any_) text.remove_prefix(1);
  any_ = true;
  return out_.write(text);
}

void TextExport::lend_text(TextSink& sink) {
  const std::lock_guard lock(mutex_);
  if (free_texts_.empty()) return;
  sink.text_ = std::move(free_texts_.back());
  free_texts_.pop_back();
}

void TextExport::take_text_back(TextSink& sink) {
  sink.text_.clear();
  const std::lock_guard lock(mutex_);
  free_texts_.push_back(std::move(sink.text_));
}

ChromeSink::ChromeSink(const ExportContext& context, const NsConverter& to_ns,
                       const ShardContext& shard, Names& names)
    : TextSink(context, to_ns, shard, names) {
  thread_ = ",\"pid\":";
  append_number(thread_, distinct_pid(stream_->thread));
  thread_ += ",\"tid\":";
  append_number(thread_, shown_tid(*stream_, shard.stream));
  thread_ += ",\"ts\":";
}

void ChromeSink::begin_event(char phase, Ticks time) {
  text_ += ",\n{\"ph\":\"";
  text_ += phase;
  text_ += '"';
  text_ += thread_;
  append_microseconds(text_, ns(time));
}

void ChromeSink::open(Ticks time, FunctionId function) {
  begin_event('B', time);
  text_ += ",\"name\":\"";
  text_ += name(function, append_json);
  text_ += estimated_ ? "\",\"cat\":\"telltale.estimated\"}" : "\"}";
  arguments_ = 0;
}

void ChromeSink::argument(uint64_t value) {
  // Reopens the event that was just closed.
  text_.resize(text_.size() - (arguments_ == 0 ? 1 : 2));
  text_ += arguments_ == 0 ? ",\"args\":{\"arg" : ",\"arg";
  append_number(text_, arguments_++);
  text_ += "\":";
  append_exact(text_, value);
  text_ += "}}";
}

void ChromeSink::close(Ticks time, FunctionId function, CloseKind how) {
  begin_event('E', time);
  text_ += ",\"name\":\"";
  text_ += name(function, append_json);
  text_ += estimated_ ? "\",\"cat\":\"telltale.estimated\"" : "\"";
  if (how == CloseKind::unwound || how == CloseKind::unfinished) {
    text_ += ",\"args\":{\"ended\":\"";
    text_ += close_name(how);
    text_ += "\"}";
  }
  text_ += '}';
}

void ChromeSink::begin_instant(Ticks time, std::string_view category, std::string_view event_name) {
  begin_event('i', time);
  text_ += ",\"s\":\"t\",\"cat\":\"telltale.";
  text_ += category;
  text_ += estimated_ ? ",telltale.estimated\"" : "\"";
  append_text_member(text_, "name", event_name);
  text_ += ",\"args\":{";
}

void ChromeSink::orphan_exit(Ticks time, FunctionId function) {
  begin_instant(time, "orphan_exit", "exit without entry");
  text_ += "\"function\":\"";
  text_ += name(function, append_json);
  text_ += "\"}}";
}

void ChromeSink::instant(const InstantEvent& instant) {
  begin_instant(instant.time, instant.category, event_title(instant));
  text_ += "\"type\":";
  append_number(text_, instant.type);
  append_payload(text_, instant.payload);
  text_ += "}}";
}

void ChromeSink::loss(const LossEvent& loss) {
  begin_instant(loss.time, "loss", "loss");
  text_ += "\"bytes\":";
  append_exact(text_, loss.bytes);
  append_text_member(text_, "reason", loss.reason);
  text_ += "}}";
}

Result<void> ChromeExport::finish(const ShardContext& shard, Sink& sink) {
  const EventStream& stream = context_.streams[shard.stream];
  if (shard.first_shard) {
    std::string text;
    const auto name = [&](std::string_view what, const std::string& of) {
      if (of.empty()) return;
      text += ",\n{\"ph\":\"M\",\"name\":\"";
      text += what;
      text += "\"" + sink.thread_ + "0,\"args\":{\"name\":\"";
      append_json(text, of);
      text += "\"}}";
    };
    const bool first_of_process =
        shard.stream == 0 ||
        distinct_pid(context_.streams[shard.stream - 1].thread) != distinct_pid(stream.thread);
    if (first_of_process) name("process_name", shown_process_name(stream));
    name("thread_name", shown_thread_name(stream, shard.stream));
    if (const Result<void> written = write_entries(text); !written) return written;
  }
  const Result<void> written = write_entries(text_of(sink));
  take_text_back(sink);
  return written;
}

RowsSink::RowsSink(const ExportContext& context, const NsConverter& to_ns,
                   const ShardContext& shard, Names& names, Form form)
    : TextSink(context, to_ns, shard, names), form_(form), before_(shard.open_calls) {
  if (form == Form::json) thread_ = ",\"pid\":";
  append_number(thread_, distinct_pid(stream_->thread));
  thread_ += form == Form::json ? ",\"tid\":" : ",";
  append_number(thread_, stream_->thread.tid);
  if (form == Form::json) {
    if (!stream_->process_name.empty())
      append_text_member(thread_, "process", stream_->process_name);
    if (!stream_->thread_name.empty()) append_text_member(thread_, "thread", stream_->thread_name);
  } else {
    thread_ += ',';
    append_csv(thread_, stream_->process_name);
    thread_ += ',';
    append_csv(thread_, stream_->thread_name);
  }
}

void RowsSink::open(Ticks time, FunctionId) { frames_.push_back({time, {}, estimated_}); }

void RowsSink::argument(uint64_t value) {
  std::string& arguments = frames_.back().arguments;
  if (!arguments.empty()) arguments += form_ == Form::json ? ',' : ' ';
  if (form_ == Form::json) {
    append_exact(arguments, value);
  } else {
    append_number(arguments, value);
  }
}

void RowsSink::close(Ticks time, FunctionId function, CloseKind how) {
  if (frames_.empty()) {
    const OpenCall call = before_.back();
    before_ = before_.first(before_.size() - 1);
    put_row(call, time, function, how, before_.size() + 1, nullptr);
    return;
  }
  const Frame frame = std::move(frames_.back());
  frames_.pop_back();
  put_row({function, frame.entered, frame.estimated}, time, function, how,
          before_.size() + frames_.size() + 1, &frame);
}

void RowsSink::begin_row(std::string_view kind, Ticks time) {
  text_ += ",\n{\"kind\":\"";
  text_ += kind;
  text_ += '"';
  text_ += thread_;
  text_ += ",\"start_ns\":";
  append_number(text_, ns(time));
}

void RowsSink::put_row(const OpenCall& call, Ticks time, FunctionId function, CloseKind how,
                       size_t depth, const Frame* frame) {
  const uint64_t start = ns(call.entered);
  const uint64_t duration = ns(time) - start;
  const std::string_view estimated = !estimated_      ? (call.estimated ? "start" : "")
                                     : call.estimated ? "both"
                                                      : "end";
  if (form_ == Form::json) {
    begin_row("call", call.entered);
    text_ += ",\"duration_ns\":";
    append_number(text_, duration);
    text_ += ",\"depth\":";
    append_number(text_, depth);
    text_ += ",\"function\":\"";
    text_ += name(function, append_json);
    text_ += "\",\"ended\":\"";
    text_ += close_name(how);
    if (!estimated.empty()) {
      text_ += "\",\"estimated\":\"";
      text_ += estimated;
    }
    text_ += "\",\"arguments\":[";
  } else {
    text_ += thread_;
    text_ += ',';
    append_number(text_, depth);
    text_ += ',';
    text_ += name(function, append_csv);
    text_ += ',';
    append_number(text_, start);
    text_ += ',';
    append_number(text_, duration);
    text_ += ',';
    text_ += close_name(how);
    text_ += ',';
    text_ += estimated;
    text_ += ',';
  }
  if (frame == nullptr) {
    gaps_.push_back({text_.size(), depth});
  } else {
    text_ += frame->arguments;
  }
  text_ += form_ == Form::json ? "]}" : "\n";
}

void RowsSink::orphan_exit(Ticks time, FunctionId function) {
  if (form_ == Form::csv) return;
  begin_row("orphan_exit", time);
  text_ += ",\"function\":\"";
  text_ += name(function, append_json);
  text_ += "\"}";
}

void RowsSink::instant(const InstantEvent& instant) {
  if (form_ == Form::csv) return;
  begin_row(instant.category, instant.time);
  if (estimated_) text_ += ",\"estimated\":\"start\"";
  text_ += ",\"type\":";
  append_number(text_, instant.type);
  append_payload(text_, instant.payload);
  text_ += '}';
}

void RowsSink::loss(const LossEvent& loss) {
  if (form_ == Form::csv) return;
  begin_row("loss", loss.time);
  text_ += ",\"bytes\":";
  append_exact(text_, loss.bytes);
  append_text_member(text_, "reason", loss.reason);
  text_ += '}';
}

Result<void> RowsExport::begin() {
  if (form_ == RowsSink::Form::json) return out_.write("[");
  return out_.write(
      "pid,tid,process,thread,depth,function,start_ns,duration_ns,ended,estimated,arguments\n");
}

Result<void> RowsExport::finish(const ShardContext& shard, Sink& sink) {
  if (shard.first_shard) open_arguments_.clear();
  const auto write = [this](std::string_view text) {
    return form_ == RowsSink::Form::json ? write_entries(text) : out_.write(text);
  };
  const std::string_view whole = text_of(sink);
  size_t done = 0;
  Result<void> written;
  for (const RowsSink::Gap& gap : sink.gaps_) {
    const auto found = open_arguments_.find(gap.depth);
    if (found == open_arguments_.end()) continue;
    written = write(whole.substr(done, gap.at - done));
    if (written) written = out_.write(found->second);
    if (!written) return written;
    done = gap.at;
    open_arguments_.erase(found);
  }
  written = write(whole.substr(done));
  for (size_t i = 0; i < sink.frames_.size(); ++i) {
    const size_t depth = sink.before_.size() + i + 1;
    if (!sink.frames_[i].arguments.empty()) open_arguments_[depth] = sink.frames_[i].arguments;
  }
  take_text_back(sink);
  return written;
}

}  // namespace telltale
