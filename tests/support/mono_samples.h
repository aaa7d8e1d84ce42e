#pragma once

// The Mono recordings of tests, golden files and fuzz corpora: small, every data version, both
// pointer sizes, every event. Values are distinct, so that swapped fields are detected.

#include <array>
#include <string>
#include <vector>

#include "support/mono_builder.h"

namespace telltale::testing {

struct MonoSample {
  std::string name;  // a file name
  std::string bytes;
  bool valid = true;  // strictly follows the format
};

namespace mono_samples {

// Addresses that fit both pointer sizes.
constexpr uint64_t kPointers = 0x5000'0000;
constexpr uint64_t kObjects = 0x6000'0000;
constexpr uint64_t kMethods = 0x7000'0000;

inline mono::BufferHeader buffer_header(uint64_t thread, uint64_t time_base) {
  return {.time_base = time_base,
          .pointer_base = kPointers,
          .object_base = kObjects >> mono::kObjectShift,
          .thread = thread,
          .method_base = kMethods};
}

inline void add_loads(MonoBuilder& file) {
  using enum mono::MetadataKind;
  using mono::Metadata;
  const mono::Layout& layout = file.layout();
  const auto load = [&](uint8_t info, Metadata metadata) {
    file.event(mono::Group::metadata, info, 11, metadata);
  };
  const uint8_t loaded = mono::info::kMetadataEndLoad;
  load(loaded, {.kind = image, .pointer = kPointers + 0x100, .name = "corlib.dll", .mvid = "1-2"});
  load(loaded, {.kind = type,
                .pointer = kPointers + 0x200,
                .image = kPointers + 0x100,
                .name = "System.\"Object\"\x1b[31m"});
  load(mono::info::kMetadataName, {.kind = thread, .pointer = kPointers + 0x1, .name = "Main"});
  if (layout.version >= 11) {
    load(loaded, {.kind = assembly,
                  .pointer = kPointers + 0x300,
                  .image = kPointers + 0x100,
                  .name = "corlib, Version=4.0"});
    load(loaded, {.kind = domain, .pointer = 1});
    load(mono::info::kMetadataName, {.kind = domain, .pointer = 1, .name = "p.exe"});
    load(loaded, {.kind = thread, .pointer = kPointers + 0x1});
    load(loaded, {.kind = context, .pointer = 2, .domain = 1});
    load(mono::info::kMetadataEndUnload,
         {.kind = image, .pointer = kPointers + 0x100, .name = "corlib.dll"});
  }
  if (layout.has_root_areas) {
    load(loaded,
         {.kind = vtable, .pointer = kPointers + 0x240, .domain = 1, .type = kPointers + 0x200});
  }
}

inline void add_memory(MonoBuilder& file, mono::Backtrace stack) {
  using mono::Group;
  namespace info = mono::info;
  const mono::Layout& layout = file.layout();
  const uint64_t type = kPointers + (layout.objects_have_vtables ? 0x240 : 0x200);
  file.event(Group::alloc, 0, 13, mono::Alloc{.type = type, .object = kObjects + 0x10, .size = 24});
  file.event(Group::alloc, info::kAllocBacktrace, 17,
             mono::Alloc{
                 .type = type, .object = kObjects - 0x38, .size = 0x8000'0000, .backtrace = stack});
  file.event(Group::gc, info::kGcEvent, 19, mono::GcEvent{.event = 6, .generation = 1});
  file.event(Group::gc, info::kGcResize, 23, mono::GcResize{.heap_size = 0x12345678});
  const std::array<uint64_t, 4> moves = {kObjects + 0x10, kObjects + 0x1010, kObjects - 0x38,
                                         kObjects + 0x1028};
  file.event(Group::gc, info::kGcMove, 29, mono::GcMove{.objects = moves});
  file.event(Group::gc, info::kGcHandleCreated, 31,
             mono::GcHandle{.type = 2, .handle = 0x301, .object = kObjects + 0x1010});
  file.event(Group::gc, info::kGcHandleDestroyed, 37, mono::GcHandle{.type = 2, .handle = 0x301});
  if (layout.version >= 11) {
    file.event(Group::gc, info::kGcHandleCreatedBacktrace, 41,
               mono::GcHandle{.type = 3, .handle = 9, .object = kObjects, .backtrace = stack});
    file.event(Group::gc, info::kGcHandleDestroyedBacktrace, 43,
               mono::GcHandle{.type = 3, .handle = 9, .backtrace = stack});
  }
  if (layout.version >= 13) {
    file.event(Group::gc, info::kGcFinalizeStart, 47, mono::GcFinalize{});
    file.event(Group::gc, info::kGcFinalizeObjectStart, 53, mono::GcFinalize{.object = kObjects});
    file.event(Group::gc, info::kGcFinalizeObjectEnd, 59, mono::GcFinalize{.object = kObjects});
    file.event(Group::gc, info::kGcFinalizeEnd, 61, mono::GcFinalize{});
  }
}

inline void add_heap_shot(MonoBuilder& file) {
  using mono::Group;
  namespace info = mono::info;
  const mono::Layout& layout = file.layout();
  const uint64_t type = kPointers + (layout.objects_have_vtables ? 0x240 : 0x200);
  if (layout.has_root_areas) {
    file.event(Group::heap, info::kHeapRootRegister, 67,
               mono::HeapRootArea{.start = kPointers + 0x800,
                                  .size = 64,
                                  .source = 3,
                                  .key = kPointers + 0x240,
                                  .name = "statics"});
  }
  file.event(Group::heap, info::kHeapStart, 71, mono::HeapShot{});
  const std::array<mono::HeapReference, 2> references = {
      mono::HeapReference{.offset = layout.references_have_offsets ? 16U : 0U, .object = kObjects},
      mono::HeapReference{.offset = layout.references_have_offsets ? 40U : 0U,
                          .object = kObjects + 0x1028}};
  file.event(Group::heap, info::kHeapObject, 73,
             mono::HeapObject{.object = kObjects + 0x1010,
                              .type = type,
                              .size = 48,
                              .generation = 1,
                              .references = references});
  file.event(Group::heap, info::kHeapObject, 79,
             mono::HeapObject{.object = kObjects + 0x1010, .type = type, .size = 0});
  if (layout.version >= 3) {
    const uint64_t kind = layout.root_type_is_byte ? 3 : mono::kRootPinning | 2;
    const std::array<mono::HeapRoot, 2> roots = {
        mono::HeapRoot{
            .object = kObjects + 0x1010, .slot = kPointers + 0x808, .type = kind, .extra = 5},
        mono::HeapRoot{.object = kObjects, .slot = kPointers + 0x810, .type = 1, .extra = 0}};
    file.event(Group::heap, info::kHeapRoot, 83, mono::HeapRoots{.collections = 7, .roots = roots});
  }
  file.event(Group::heap, info::kHeapEnd, 89, mono::HeapShot{});
  if (layout.has_root_areas) {
    file.event(Group::heap, info::kHeapRootUnregister, 97,
               mono::HeapRootArea{.start = kPointers + 0x800});
  }
}

inline void add_calls(MonoBuilder& file, mono::Backtrace stack) {
  using mono::Group;
  namespace info = mono::info;
  const mono::Layout& layout = file.layout();
  file.jit(101, kMethods + 8, "Program:Main (string[])").jit(103, kMethods - 64, "Program:Work ()");
  file.enter(107, kMethods + 8).enter(109, kMethods - 64).enter(1, kMethods - 64);
  file.leave(0x7FFF'FFFF'FFFF, kMethods - 64);
  const uint8_t contended =
      static_cast<uint8_t>(info::kMonitorBacktrace | (layout.monitor_action_is_byte ? 0 : 0x10));
  const uint8_t done = layout.monitor_action_is_byte ? 0 : 0x20;
  file.event(Group::monitor, contended, 113,
             mono::Monitor{.action = 1, .object = kObjects, .backtrace = stack});
  file.event(Group::monitor, done, 127, mono::Monitor{.action = 2, .object = kObjects});
  file.event(Group::exception, info::kExceptionThrow | info::kExceptionBacktrace, 131,
             mono::Throw{.object = kObjects + 0x18, .backtrace = stack});
  file.event(Group::exception, info::kExceptionThrow, 137, mono::Throw{.object = kObjects + 0x18});
  file.event(Group::method, info::kMethodExceptionLeave, 139, mono::Call{.method = kMethods - 64});
  file.event(
      Group::exception, info::kExceptionClause, 149,
      mono::Clause{.type = 2, .index = 3, .method = kMethods + 8, .object = kObjects + 0x18});
  file.leave(151, kMethods + 8);
}

inline void add_samples(MonoBuilder& file) {
  using mono::Group;
  namespace info = mono::info;
  const mono::Layout& layout = file.layout();
  if (layout.version < 4) return;
  const std::array<uint64_t, 2> addresses = {kPointers + 0x4000, kPointers - 0x10};
  const std::array<mono::SampleFrame, 2> frames = {
      mono::SampleFrame{.method = kMethods - 64, .il_offset = 0, .native_offset = -5},
      mono::SampleFrame{.method = kMethods + 8, .il_offset = 6, .native_offset = 70}};
  file.event(Group::sample, info::kSampleHit, 157,
             mono::SampleHit{.type = 1,
                             .timestamp = 0x123456789A,
                             .thread = kPointers + 1,
                             .addresses = addresses,
                             .frames = frames});
  file.event(Group::sample, info::kSampleSymbol, 163,
             mono::NativeSymbol{.address = kPointers + 0x4000, .size = 0x40, .name = "memcpy"});
  if (layout.version <= 15) {
    file.event(Group::sample, info::kSampleBinary, 167,
               mono::NativeBinary{.address = kPointers + 0x1000,
                                  .file_offset = 0x2000,
                                  .size = 0x3000,
                                  .name = "/usr/bin/mono"});
  }
  if (layout.version < 5) return;
  using mono::CounterValue;
  const std::array<mono::CounterDescription, 2> descriptions = {
      mono::CounterDescription{.section = 1U << 8,
                               .name = "Methods JITted",
                               .type = 1,
                               .unit = layout.counter_fields_are_bytes ? 0 : 3U << 24,
                               .variance = layout.counter_fields_are_bytes ? 0 : 1U << 28,
                               .index = 1},
      mono::CounterDescription{.section = mono::kPerformanceCounters,
                               .section_name = layout.counters_name_sections ? "Process" : "",
                               .name = "User Time",
                               .type = 3,
                               .unit = 0,
                               .variance = 0,
                               .index = 2}};
  file.event(Group::sample, info::kSampleCounterDescriptions, 173,
             mono::CounterDescriptions{.counters = descriptions});
  const auto number = [](int64_t value) { return static_cast<uint64_t>(value); };
  const std::array<CounterValue, 8> values = {
      CounterValue{.index = 1, .type = 0, .number = number(-1)},
      CounterValue{.index = 2, .type = 1, .number = 300},
      CounterValue{.index = 3, .type = 2, .number = number(-300)},
      CounterValue{.index = 4, .type = 3, .number = 4},
      CounterValue{.index = 5, .type = 4, .number = ~uint64_t{0}},
      CounterValue{.index = 6, .type = 5, .real = 0.5},
      CounterValue{.index = 7, .type = 6, .has_text = true, .text = "seven"},
      CounterValue{.index = 8, .type = 6}};
  file.event(Group::sample, info::kSampleCounters, 179,
             mono::Counters{.timestamp_ms = 1000, .values = values});
}

inline void add_rest(MonoBuilder& file) {
  using mono::Group;
  namespace info = mono::info;
  const uint8_t version = file.layout().version;
  if (version >= 8) {
    file.event(Group::runtime, info::kRuntimeJitHelper, 181,
               mono::JitHelper{.type = 4, .code = kPointers + 0x9000, .size = 80});
    file.event(Group::runtime, info::kRuntimeJitHelper, 191,
               mono::JitHelper{.type = file.layout().specific_trampoline,
                               .code = kPointers + 0x9100,
                               .size = 96,
                               .name = "generic"});
  }
  if (version >= 10 && version <= 15) {
    file.event(Group::coverage, info::kCoverageAssembly, 193,
               mono::CoverageAssembly{.name = "p",
                                      .guid = "guid",
                                      .file = "p.exe",
                                      .methods = 3,
                                      .fully_covered = 2,
                                      .partially_covered = 1});
    file.event(Group::coverage, info::kCoverageMethod, 197,
               mono::CoverageMethod{.assembly = "p",
                                    .type = "Program",
                                    .name = "Main",
                                    .signature = "void (string[])",
                                    .file = "p.cs",
                                    .token = 0x6000001,
                                    .id = 1,
                                    .statements = 2});
    file.event(Group::coverage, info::kCoverageStatement, 199,
               mono::CoverageStatement{
                   .method_id = 1, .offset = 6, .counter = 4, .line = 12, .column = 5});
    file.event(Group::coverage, info::kCoverageClass, 211,
               mono::CoverageClass{.assembly = "p",
                                   .name = "Program",
                                   .methods = 3,
                                   .fully_covered = 2,
                                   .partially_covered = 1});
  }
  if (version >= 13) {
    file.event(Group::meta, info::kMetaSyncPoint, 223, mono::SyncPoint{.kind = 1});
  }
  if (version >= 16) file.event(Group::meta, info::kMetaAotId, 227, mono::AotId{.id = "aot-id"});
}

}  // namespace mono_samples

// Every event of the version, in buffers of two threads.
inline MonoBuilder every_mono_event(uint8_t version, uint8_t pointer_size = 8,
                                    bool counters_only = false) {
  using namespace mono_samples;
  MonoBuilder file(version, pointer_size, counters_only);
  const std::array<uint64_t, 2> stack = {kMethods + 8, kMethods - 64};
  file.buffer(buffer_header(0x5000'0001, 0x1112'1314'2000));
  add_loads(file);
  add_memory(file, stack);
  add_heap_shot(file);
  file.buffer(buffer_header(0x5000'0002, 0x1112'1314'2100));
  add_calls(file, stack);
  add_samples(file);
  add_rest(file);
  file.buffer(buffer_header(0x5000'0001, 0x1112'1314'3000)).enter(5, kMethods + 8);
  return file;
}

// The worked example of docs/formats/mono.md: a program that allocates one object.
inline std::string worked_mono_example() {
  using namespace mono_samples;
  MonoBuilder file(1);
  file.header().startup_ms = 0;
  file.header().timer_overhead_ns = 0;
  file.header().pid = 0;
  file.buffer({.time_base = 1'000'000,
               .pointer_base = 0x10000,
               .object_base = 0x20000 >> mono::kObjectShift,
               .thread = 7,
               .method_base = 0x30000});
  file.event(
      mono::Group::metadata, mono::info::kMetadataEndLoad, 5,
      mono::Metadata{
          .kind = mono::MetadataKind::type, .pointer = 0x10200, .image = 0x10100, .name = "Node"});
  file.jit(7, 0x30008, "P:Main ()").enter(10, 0x30008);
  file.event(mono::Group::alloc, 0, 300,
             mono::Alloc{.type = 0x10200, .object = 0x1FFF8, .size = 24});
  return file.leave(900, 0x30008).bytes();
}

inline std::vector<MonoSample> valid_mono_samples() {
  std::vector<MonoSample> samples;
  samples.push_back({"worked_example.mlpd", worked_mono_example()});
  for (uint8_t version = 1; version <= mono::kLastVersion; ++version) {
    samples.push_back({"v" + std::to_string(version) + ".mlpd", every_mono_event(version).bytes()});
  }
  for (const auto version : std::to_array<uint8_t>({1, 12, 17})) {
    samples.push_back(
        {"v" + std::to_string(version) + "_32.mlpd", every_mono_event(version, 4).bytes()});
  }
  samples.push_back({"v15_counters_only.mlpd", every_mono_event(15, 8, true).bytes()});
  samples.push_back({"empty.mlpd", MonoBuilder(17).bytes()});
  return samples;
}

}  // namespace telltale::testing
