#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/call_sink.h"
#include "model/function_map.h"
#include "model/ns_converter.h"
#include "output/export.h"
#include "output/output_file.h"
#include "output/worker_local.h"

namespace telltale {

// Exports that write text call by call: Chrome's trace_event JSON, and calls as JSON or CSV rows.
// docs/exports.md defines their content.

// Common state: the position in the recording, and names escaped once per worker.
class TextSink : public IgnoreCalls {
 public:
  using Names = FunctionMap<std::string>;
  void estimated(bool now) { estimated_ = now; }

 protected:
  friend class TextExport;
  TextSink(const ExportContext& context, const NsConverter& to_ns, const ShardContext& shard,
           Names& names)
      : context_(&context),
        stream_(&context.streams[shard.stream]),
        to_ns_(to_ns),
        names_(&names) {}
  [[nodiscard]] uint64_t ns(Ticks time) const { return to_ns_(time - context_->first_time); }
  // The function's name escaped by `append`; computed on first use.
  const std::string& name(FunctionId function, void (*append)(std::string&, std::string_view)) {
    std::string& known = (*names_)[function];
    if (known.empty()) append(known, context_->functions.describe(function).name);
    return known;
  }

  const ExportContext* context_;
  const EventStream* stream_;
  NsConverter to_ns_;
  Names* names_;
  bool estimated_ = false;  // the following events have estimated times
  std::string text_;  // each JSON entry begins with the comma that separates it from the one before
};

class ChromeSink : public TextSink {
 public:
  ChromeSink(const ExportContext& context, const NsConverter& to_ns, const ShardContext& shard,
             Names& names);
  void open(Ticks time, FunctionId function);
  void argument(uint64_t value);
  void close(Ticks time, FunctionId function, CloseKind how);
  void orphan_exit(Ticks time, FunctionId function);
  void instant(const InstantEvent& event);
  void loss(const LossEvent& event);

 private:
  friend class ChromeExport;
  friend class TextExport;
  void begin_event(char phase, Ticks time);
  void begin_instant(Ticks time, std::string_view category, std::string_view event_name);

  std::string thread_;  // what names the thread in each event
  size_t arguments_ = 0;
};

// One row per call, written at its end; JSON also has rows for events, losses and exits without
// entry. RowsExport carries arguments of calls that cross shards.
class RowsSink : public TextSink {
 public:
  enum class Form : uint8_t { json, csv };
  RowsSink(const ExportContext& context, const NsConverter& to_ns, const ShardContext& shard,
           Names& names, Form form);
  void open(Ticks time, FunctionId function);
  void argument(uint64_t value);
  void close(Ticks time, FunctionId function, CloseKind how);
  void orphan_exit(Ticks time, FunctionId function);
  void instant(const InstantEvent& event);
  void loss(const LossEvent& event);

 private:
  friend class RowsExport;
  struct Frame {
    Ticks entered = 0;
    std::string arguments;
    bool estimated = false;
  };
  // A row of a call from an earlier shard: the position of its arguments in text_.
  struct Gap {
    size_t at = 0;
    size_t depth = 0;
  };
  void put_row(const OpenCall& call, Ticks time, FunctionId function, CloseKind how, size_t depth,
               const Frame* frame);
  void begin_row(std::string_view kind, Ticks time);

  Form form_;
  std::span<const OpenCall> before_;
  std::string thread_;
  std::vector<Frame> frames_;
  std::vector<Gap> gaps_;
};

// Writes the output of text sinks, without the comma of the first entry.
class TextExport {
 public:
  TextExport(const ExportContext& context, OutputFile& out)
      : context_(context), to_ns_(context.clock), out_(out) {}

 protected:
  Result<void> write_entries(std::string_view text);
  // Reuses texts: memory that was touched before causes no page faults.
  void lend_text(TextSink& sink);
  void take_text_back(TextSink& sink);
  static const std::string& text_of(const TextSink& sink) { return sink.text_; }

  ExportContext context_;
  NsConverter to_ns_;
  OutputFile& out_;
  WorkerLocal<TextSink::Names> names_;
  bool any_ = false;

 private:
  std::mutex mutex_;
  std::vector<std::string> free_texts_;
};

class ChromeExport : public TextExport {
 public:
  using Sink = ChromeSink;
  using TextExport::TextExport;
  Result<void> begin() { return out_.write("{\"displayTimeUnit\":\"ns\",\"traceEvents\":["); }
  Sink make(const ShardContext& shard) {
    Sink sink(context_, to_ns_, shard, names_.of(shard.worker));
    lend_text(sink);
    return sink;
  }
  Result<void> finish(const ShardContext& shard, Sink& sink);
  // Entries after those of the calls, each preceded by a comma.
  void add_entries(const std::string& entries) { entries_ += entries; }
  Result<void> end() {
    const Result<void> written = write_entries(entries_);
    return written ? out_.write("\n]}\n") : written;
  }

 private:
  std::string entries_;
};

class RowsExport : public TextExport {
 public:
  using Sink = RowsSink;
  RowsExport(const ExportContext& context, OutputFile& out, RowsSink::Form form)
      : TextExport(context, out), form_(form) {}
  Result<void> begin();
  Sink make(const ShardContext& shard) {
    Sink sink(context_, to_ns_, shard, names_.of(shard.worker), form_);
    lend_text(sink);
    return sink;
  }
  Result<void> finish(const ShardContext& shard, Sink& sink);
  Result<void> end() {
    return form_ == RowsSink::Form::json ? out_.write("\n]\n") : Result<void>();
  }

 private:
  RowsSink::Form form_;
  std::map<size_t, std::string> open_arguments_;  // of calls open between shards, by depth
};
static_assert(CallExport<ChromeExport> && CallExport<RowsExport>);

}  // namespace telltale
