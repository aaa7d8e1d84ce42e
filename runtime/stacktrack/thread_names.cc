#include "thread_names.h"

#include <cstring>

#include "names.h"

namespace telltale::st {
namespace {

using stacktrack::RecordType;

struct ThreadProperty {
  char text[sizeof(stacktrack::kThreadProperty) + 10 + 1 + kThreadNameBytes];
  size_t bytes;
};

ThreadProperty property_of(uint32_t tid, const char (&name)[kThreadNameBytes]) {
  ThreadProperty property;
  size_t at = sizeof(stacktrack::kThreadProperty) - 1;
  std::memcpy(property.text, static_cast<const char*>(stacktrack::kThreadProperty), at);
  at += write_number(property.text + at, sizeof(property.text) - at, tid);
  property.text[at++] = '=';
  const size_t bytes = std::strlen(static_cast<const char*>(name));
  std::memcpy(property.text + at, static_cast<const char*>(name), bytes);
  property.bytes = at + bytes;
  return property;
}

Payload location(Layout layout, uint32_t file, uint32_t properties) {
  if (layout == Layout::wide)
    return to_payload(stacktrack::wide::FileLocation{file, 0, properties, 0});
  return to_payload(stacktrack::classic::FileLocation{static_cast<uint16_t>(file), 0,
                                                      static_cast<uint16_t>(properties)});
}
Payload file_property(Layout layout, uint32_t file, uint32_t number) {
  if (layout == Layout::wide) return to_payload(stacktrack::wide::FileProperty{file, 0, number, 0});
  return to_payload(stacktrack::classic::FileProperty{static_cast<uint16_t>(file), 0,
                                                      static_cast<uint16_t>(number)});
}

// In a ring the name is in the thread's chunk, and is overwritten with its events: the names of all
// threads that there ever were would fill the ring. False: the chunk has no room for the name and
// `count` slots.
bool store_name(Store& store, Stream& stream, uint16_t number, const RecordHead& location_head,
                const Payload& location_payload, const RecordHead& property_head,
                const Payload& property_payload, const ThreadProperty& property, size_t count) {
  const char* const file = stacktrack::kThreadFile;
  const size_t file_slots = 1 + info_records(std::strlen(file));
  const size_t slots = file_slots + 1 + info_records(property.bytes);
  if (stream.next + (slots + count) * detail::kSlotBytes > stream.limit) return false;
  uint8_t* const at = take_slots(stream, slots);
  RecordHead head = location_head;
  head.stream = number;
  store_group(store.layout, at, head, location_payload, file, std::strlen(file));
  head = property_head;
  head.stream = number;
  store_group(store.layout, at + file_slots * detail::kSlotBytes, head, property_payload,
              property.text, property.bytes);
  stream.others += slots;
  stream.known += static_cast<uint32_t>(slots);
  return true;
}

bool post_name(Sink& sink, Store& store, Node& node, Stream& stream, uint64_t sequence,
               size_t count) {
  if (store.layout == Layout::classic && sequence > kLastClassicSequence) return true;
  SourceFile* const file = find_source_file(stacktrack::kThreadFile);
  if (file == nullptr) {
    lose(sink, &store, LostReason::names, 1);
    return true;
  }
  const uint32_t id = number_of(*file);
  const ThreadProperty property = property_of(tid_of(node), node.name);
  const RecordHead head{type_flags(RecordType::file_location), 0, settings.pid, sequence};
  RecordHead property_head = head;
  property_head.flags = type_flags(RecordType::file_property);
  const Payload place = location(store.layout, id, node.number);
  const Payload named = file_property(store.layout, id, node.number);
  if (store.chunk_bytes != 0)
    return store_name(store, stream, static_cast<uint16_t>(node.number), head, place, property_head,
                      named, property, count);
  const char* const text = stacktrack::kThreadFile;
  if (!post(sink, &store, head, place, text, std::strlen(text), false) ||
      !post(sink, &store, property_head, named, property.text, property.bytes, false)) {
    lose(sink, &store, LostReason::names, 1);
  }
  return true;
}

}  // namespace

void post_thread_name(Node& node, const View& view, uint64_t sequence, size_t count) {
  bool asked = false;
  for (int i = 0; i < kMaxSinks; ++i) {
    Stream& stream = node.streams[i];
    Store* const store = view.stores[i];
    if (store == nullptr || stream.store != store->id || stream.limit == 0 || stream.name_asked)
      continue;
    stream.name_asked = true;
    if (!asked) {
      char name[kThreadNameBytes] = {};
      thread_name(name);
      if (std::memcmp(name, node.name, sizeof(name)) != 0) {
        std::memcpy(node.name, name, sizeof(name));
        for (uint64_t& named : node.named) named = 0;
      }
    }
    asked = true;
    if (node.named[i] == store->id && store->chunk_bytes == 0) continue;
    node.named[i] = store->id;
    stream.name_asked = post_name(settings.sinks[i], *store, node, stream, sequence, count);
  }
}

}  // namespace telltale::st
