#pragma once

#include <cstdint>

#include "formats/mono/records.h"
#include "formats/mono/versions.h"

namespace telltale::mono {

// The grammar of every event, written once: fields(codec, record) lists the fields that follow the
// first byte (and the time, if the event begins with one) in file order. Codecs read them
// (FieldReader), write them (FieldWriter) or print them. A codec provides:
//   layout(), info()            the version; the upper four bits of the first byte
//   uleb, sleb, byte            plain numbers
//   int_uleb                    a number that was a 32-bit int in the writer
//   accumulated(name, value, last)     an int_uleb that is added to `last`
//   small(name, value, byte?)   one byte or a uleb
//   pointer, object, method     addresses: relative to ptr_base; shifted and relative to obj_base;
//                               relative to the buffer's previous method
//   text, f64
//   count(name, size), items(list, n, each)     a list and its length, which need not be adjacent
//   terminated(list, each)      a list of items with an `index`, terminated by 0
//   own_time                    a time stamp that is not the buffer's running time

template <typename Codec>
void backtrace_fields(Codec& c, Backtrace& frames) {
  if (!c.layout().backtrace_is_methods) {
    uint64_t flags = 0;
    c.uleb("backtrace_flags", flags);
    if (flags != 0) c.reject("backtrace_flags");
  }
  const uint64_t n = c.count("frames", frames.size());
  const bool methods = c.layout().backtrace_is_methods;
  c.items("frame", frames, n, [&](uint64_t& frame) {
    if (methods) {
      c.method("frame", frame);
    } else {
      c.pointer("frame", frame);
    }
  });
}

template <typename Codec>
[[gnu::always_inline]] inline void fields(Codec& c, Alloc& r) {
  c.pointer("type", r.type);
  c.object("object", r.object);
  c.int_uleb("size", r.size);
  r.has_backtrace = (c.info() & info::kAllocBacktrace) != 0;
  if (r.has_backtrace) [[unlikely]]
    backtrace_fields(c, r.backtrace);
}

template <typename Codec>
void fields(Codec& c, GcEvent& r) {
  c.small("event", r.event, c.layout().small_fields_are_bytes);
  c.small("generation", r.generation, c.layout().small_fields_are_bytes);
}
template <typename Codec>
void fields(Codec& c, GcResize& r) {
  c.int_uleb("heap_size", r.heap_size);
}
template <typename Codec>
void fields(Codec& c, GcMove& r) {
  const uint64_t n = c.count("objects", r.objects.size());
  c.items("object", r.objects, n, [&](uint64_t& object) { c.object("object", object); });
}
template <typename Codec>
void fields(Codec& c, GcHandle& r) {
  r.created = c.info() == info::kGcHandleCreated || c.info() == info::kGcHandleCreatedBacktrace;
  r.has_backtrace = c.info() >= info::kGcHandleCreatedBacktrace;
  c.int_uleb("type", r.type);
  c.int_uleb("handle", r.handle);
  if (r.created) c.object("object", r.object);
  if (r.has_backtrace) backtrace_fields(c, r.backtrace);
}
template <typename Codec>
void fields(Codec& c, GcFinalize& r) {
  r.phase = static_cast<GcFinalize::Phase>((c.info() - info::kGcFinalizeStart) >> 4);
  if (r.phase >= GcFinalize::Phase::object_start) c.object("object", r.object);
}

template <typename Codec>
void fields(Codec& c, Metadata& r) {
  uint8_t kind = static_cast<uint8_t>(r.kind);
  c.byte("mtype", kind);
  r.kind = static_cast<MetadataKind>(kind);
  r.action = static_cast<Metadata::Action>((c.info() & 0x70) >> 4);
  r.load_error = (c.info() & info::kMetadataLoadError) != 0;
  c.pointer("pointer", r.pointer);
  const Layout& layout = c.layout();
  const bool has_flags = layout.metadata_has_flags;
  const auto flags = [&] {
    if (has_flags) c.int_uleb("flags", r.flags);
  };
  const auto name = [&] {
    r.has_name = true;
    c.text("name", r.name);
  };
  switch (r.kind) {
    case MetadataKind::type:
      c.pointer("image", r.image);
      flags();
      return name();
    case MetadataKind::image:
      flags();
      name();
      if (layout.image_load_has_mvid && r.action == Metadata::Action::end_load)
        c.text("mvid", r.mvid);
      return;
    case MetadataKind::assembly:
      if (layout.assembly_has_image) c.pointer("image", r.image);
      flags();
      return name();
    case MetadataKind::domain:
    case MetadataKind::thread:
      flags();
      if (r.action == Metadata::Action::name) name();
      return;
    case MetadataKind::context:
      flags();
      return c.pointer("domain", r.domain);
    case MetadataKind::vtable:
      c.pointer("domain", r.domain);
      return c.pointer("type", r.type);
  }
  c.reject("mtype");
}

template <typename Codec>
void fields(Codec& c, Call& r) {
  r.action = static_cast<Call::Action>(c.info() >> 4);
  c.method("method", r.method);
}
template <typename Codec>
void fields(Codec& c, Jit& r) {
  c.method("method", r.method);
  c.pointer("code", r.code);
  c.int_uleb("code_size", r.code_size);
  c.text("name", r.name);
}

template <typename Codec>
void fields(Codec& c, Throw& r) {
  c.object("object", r.object);
  r.has_backtrace = (c.info() & info::kExceptionBacktrace) != 0;
  if (r.has_backtrace) backtrace_fields(c, r.backtrace);
}
template <typename Codec>
void fields(Codec& c, Clause& r) {
  c.small("type", r.type, c.layout().small_fields_are_bytes);
  c.int_uleb("index", r.index);
  c.method("method", r.method);
  if (c.layout().clause_has_object) c.object("object", r.object);
}
template <typename Codec>
void fields(Codec& c, Monitor& r) {
  if (c.layout().monitor_action_is_byte) {
    c.byte("action", r.action);
  } else {
    r.action = (c.info() >> 4) & 3;
  }
  c.object("object", r.object);
  r.has_backtrace = (c.info() & info::kMonitorBacktrace) != 0 &&
                    (c.layout().monitor_always_may_trace ||
                     r.action == static_cast<uint8_t>(MonitorAction::contention));
  if (r.has_backtrace) backtrace_fields(c, r.backtrace);
}

template <typename Codec>
void fields(Codec& c, HeapShot& r) {
  r.begin = c.info() == info::kHeapStart;
}
template <typename Codec>
void fields(Codec& c, HeapObject& r) {
  c.object("object", r.object);
  c.pointer("type", r.type);
  c.int_uleb("size", r.size);
  if (c.layout().heap_object_has_generation) c.byte("generation", r.generation);
  const uint64_t n = c.count("references", r.references.size());
  const bool offsets = c.layout().references_have_offsets;
  uint64_t last = 0;
  c.items("reference", r.references, n, [&](HeapReference& reference) {
    if (offsets) c.accumulated("offset", reference.offset, last);
    last = reference.offset;
    c.object("object", reference.object);
  });
}
template <typename Codec>
void fields(Codec& c, HeapRoots& r) {
  const Layout& layout = c.layout();
  const uint64_t n = c.count("roots", r.roots.size());
  if (!layout.roots_are_slots) c.int_uleb("collections", r.collections);
  const bool slots = layout.roots_are_slots;
  const bool type_is_byte = layout.root_type_is_byte;
  c.items("root", r.roots, n, [&](HeapRoot& root) {
    if (slots) {
      c.pointer("slot", root.slot);
      c.object("object", root.object);
      return;
    }
    c.object("object", root.object);
    c.small("type", root.type, type_is_byte);
    c.uleb("extra", root.extra);
  });
}
template <typename Codec>
void fields(Codec& c, HeapRootArea& r) {
  r.registered = c.info() == info::kHeapRootRegister;
  c.pointer("start", r.start);
  if (!r.registered) return;
  c.uleb("size", r.size);
  c.byte("source", r.source);
  c.pointer("key", r.key);
  c.text("name", r.name);
}

template <typename Codec>
void fields(Codec& c, SampleHit& r) {
  const Layout& layout = c.layout();
  if (layout.hit_has_type) c.small("type", r.type, layout.small_fields_are_bytes);
  if (!layout.every_event_has_time) c.own_time("timestamp", r.timestamp);
  if (layout.hit_has_thread) c.pointer("thread", r.thread);
  const uint64_t addresses = c.count("addresses", r.addresses.size());
  c.items("address", r.addresses, addresses,
          [&](uint64_t& address) { c.pointer("address", address); });
  if (!layout.hit_has_frames) return;
  const bool offsets = layout.hit_frames_have_offsets;
  const uint64_t frames = c.count("frames", r.frames.size());
  c.items("frame", r.frames, frames, [&](SampleFrame& frame) {
    c.method("method", frame.method);
    if (!offsets) return;
    c.sleb("il_offset", frame.il_offset);
    c.sleb("native_offset", frame.native_offset);
  });
}
template <typename Codec>
void fields(Codec& c, NativeSymbol& r) {
  c.pointer("address", r.address);
  c.uleb("size", r.size);
  c.text("name", r.name);
}
template <typename Codec>
void fields(Codec& c, NativeBinary& r) {
  if (c.layout().binary_address_is_pointer) {
    c.pointer("address", r.address);
  } else {
    int64_t address = static_cast<int64_t>(r.address);
    c.sleb("address", address);
    r.address = static_cast<uint64_t>(address);
  }
  c.uleb("file_offset", r.file_offset);
  c.uleb("size", r.size);
  c.text("name", r.name);
}

template <typename Codec>
void fields(Codec& c, CounterDescriptions& r) {
  const bool sections = c.layout().counters_name_sections;
  const bool bytes = c.layout().counter_fields_are_bytes;
  const uint64_t n = c.count("counters", r.counters.size());
  c.items("counter", r.counters, n, [&](CounterDescription& counter) {
    c.uleb("section", counter.section);
    if (sections && counter.section == kPerformanceCounters)
      c.text("section_name", counter.section_name);
    c.text("name", counter.name);
    c.small("type", counter.type, bytes);
    c.small("unit", counter.unit, bytes);
    c.small("variance", counter.variance, bytes);
    c.uleb("index", counter.index);
  });
}

template <typename Codec>
void counter_value_fields(Codec& c, CounterValue& value) {
  switch (static_cast<CounterType>(value.type)) {
    case CounterType::uint32:
    case CounterType::uint64:
      return c.uleb("value", value.number);
    case CounterType::f64:
      return c.f64("value", value.real);
    case CounterType::text: {
      uint8_t present = value.has_text ? 1 : 0;
      c.byte("has_text", present);
      if (present > 1) c.reject("has_text");
      value.has_text = present != 0;
      if (value.has_text) c.text("value", value.text);
      return;
    }
    case CounterType::int32:
    case CounterType::word:
    case CounterType::int64:
    case CounterType::time_interval: {
      int64_t number = static_cast<int64_t>(value.number);
      c.sleb("value", number);
      value.number = static_cast<uint64_t>(number);
      return;
    }
  }
  c.reject("type");
}
template <typename Codec>
void fields(Codec& c, Counters& r) {
  if (!c.layout().every_event_has_time) c.uleb("timestamp_ms", r.timestamp_ms);
  const bool bytes = c.layout().counter_fields_are_bytes;
  c.terminated("index", r.values, [&](CounterValue& value) {
    c.small("type", value.type, bytes);
    counter_value_fields(c, value);
  });
}

template <typename Codec>
void fields(Codec& c, JitHelper& r) {
  c.small("type", r.type, c.layout().small_fields_are_bytes);
  c.pointer("code", r.code);
  c.int_uleb("size", r.size);
  if (r.type == c.layout().specific_trampoline) c.text("name", r.name);
}

template <typename Codec>
void fields(Codec& c, CoverageAssembly& r) {
  c.text("name", r.name);
  c.text("guid", r.guid);
  c.text("file", r.file);
  c.int_uleb("methods", r.methods);
  c.int_uleb("fully_covered", r.fully_covered);
  c.int_uleb("partially_covered", r.partially_covered);
}
template <typename Codec>
void fields(Codec& c, CoverageMethod& r) {
  c.text("assembly", r.assembly);
  c.text("type", r.type);
  c.text("name", r.name);
  c.text("signature", r.signature);
  c.text("file", r.file);
  c.int_uleb("token", r.token);
  c.int_uleb("id", r.id);
  c.int_uleb("statements", r.statements);
}
template <typename Codec>
void fields(Codec& c, CoverageStatement& r) {
  c.int_uleb("method_id", r.method_id);
  c.int_uleb("il_offset", r.offset);
  c.int_uleb("counter", r.counter);
  c.int_uleb("line", r.line);
  c.int_uleb("column", r.column);
}
template <typename Codec>
void fields(Codec& c, CoverageClass& r) {
  c.text("assembly", r.assembly);
  c.text("name", r.name);
  c.int_uleb("methods", r.methods);
  c.int_uleb("fully_covered", r.fully_covered);
  c.int_uleb("partially_covered", r.partially_covered);
}

template <typename Codec>
void fields(Codec& c, SyncPoint& r) {
  c.byte("kind", r.kind);
}
template <typename Codec>
void fields(Codec& c, AotId& r) {
  c.text("id", r.id);
}

// Calls use(Record()) with the record type of an event. REQUIRES: a listed kind.
template <typename Use>
[[gnu::always_inline]] inline void with_record_of(EventKind kind, Use use) {
  switch (kind) {
#define TELLTALE_MONO_RECORD(name, Record) \
  case EventKind::name:                    \
    return use(Record());
    TELLTALE_MONO_RECORD(alloc, Alloc)
    TELLTALE_MONO_RECORD(gc_event, GcEvent)
    TELLTALE_MONO_RECORD(gc_resize, GcResize)
    TELLTALE_MONO_RECORD(gc_move, GcMove)
    TELLTALE_MONO_RECORD(gc_handle, GcHandle)
    TELLTALE_MONO_RECORD(gc_finalize, GcFinalize)
    TELLTALE_MONO_RECORD(metadata, Metadata)
    TELLTALE_MONO_RECORD(call, Call)
    TELLTALE_MONO_RECORD(jit, Jit)
    TELLTALE_MONO_RECORD(exception_throw, Throw)
    TELLTALE_MONO_RECORD(exception_clause, Clause)
    TELLTALE_MONO_RECORD(monitor, Monitor)
    TELLTALE_MONO_RECORD(heap_shot, HeapShot)
    TELLTALE_MONO_RECORD(heap_object, HeapObject)
    TELLTALE_MONO_RECORD(heap_roots, HeapRoots)
    TELLTALE_MONO_RECORD(heap_root_area, HeapRootArea)
    TELLTALE_MONO_RECORD(sample_hit, SampleHit)
    TELLTALE_MONO_RECORD(native_symbol, NativeSymbol)
    TELLTALE_MONO_RECORD(native_binary, NativeBinary)
    TELLTALE_MONO_RECORD(counter_descriptions, CounterDescriptions)
    TELLTALE_MONO_RECORD(counters, Counters)
    TELLTALE_MONO_RECORD(jit_helper, JitHelper)
    TELLTALE_MONO_RECORD(coverage_assembly, CoverageAssembly)
    TELLTALE_MONO_RECORD(coverage_method, CoverageMethod)
    TELLTALE_MONO_RECORD(coverage_statement, CoverageStatement)
    TELLTALE_MONO_RECORD(coverage_class, CoverageClass)
    TELLTALE_MONO_RECORD(sync_point, SyncPoint)
    TELLTALE_MONO_RECORD(aot_id, AotId)
#undef TELLTALE_MONO_RECORD
  }
}

}  // namespace telltale::mono
