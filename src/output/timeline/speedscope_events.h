#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/call_sink.h"
#include "model/function_map.h"
#include "model/ns_converter.h"
#include "output/export.h"
#include "output/output_file.h"

namespace telltale {

// The numbers of functions in a speedscope file.
struct SpeedscopeFrames {
  // Numbers frames in the order of `functions`, which has every function that the export will see.
  explicit SpeedscopeFrames(const std::vector<FunctionId>& functions);
  std::vector<FunctionId> functions;
  FunctionMap<uint32_t> numbers;
};

// The begin and end of each call of a shard.
class SpeedscopeSink : public IgnoreCalls {
 public:
  SpeedscopeSink(const ExportContext& context, const NsConverter& to_ns,
                 const SpeedscopeFrames& frames)
      : context_(&context), to_ns_(to_ns), frames_(&frames) {}
  void open(Ticks time, FunctionId function) { add('O', time, function); }
  void close(Ticks time, FunctionId function, CloseKind) { add('C', time, function); }

 private:
  friend class SpeedscopeEvents;
  void add(char type, Ticks time, FunctionId function);

  const ExportContext* context_;
  NsConverter to_ns_;
  const SpeedscopeFrames* frames_;
  std::string text_;  // each event begins with the comma that separates it from the one before
  uint64_t latest_ns_ = 0;
};

// speedscope's JSON with an evented profile for each thread: calls in their order, which its tab
// "Time Order" shows. Use with run_export(); memory: the text of the shards in progress.
class SpeedscopeEvents {
 public:
  using Sink = SpeedscopeSink;
  // The references outlive it.
  SpeedscopeEvents(const ExportContext& context, const SpeedscopeFrames& frames, OutputFile& out)
      : context_(context), frames_(frames), to_ns_(context.clock), out_(out) {}

  Result<void> begin();
  Sink make(const ShardContext&) { return {context_, to_ns_, frames_}; }
  Result<void> finish(const ShardContext& shard, Sink& sink);
  Result<void> end();

 private:
  Result<void> end_profile();

  const ExportContext& context_;
  const SpeedscopeFrames& frames_;
  NsConverter to_ns_;
  OutputFile& out_;
  bool any_profile_ = false;
  bool in_profile_ = false;
  uint64_t latest_ns_ = 0;
};
static_assert(CallExport<SpeedscopeEvents>);

}  // namespace telltale
