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

void post_name(Sink& sink, Store& store, const Node& node, uint64_t sequence) {
  if (store.layout == Layout::classic && sequence > kLastClassicSequence) return;
  SourceFile* const file = find_source_file(stacktrack::kThreadFile);
  if (file == nullptr) return lose(sink, &store, LostReason::names, 1);
  const uint32_t id = number_of(*file);
  const ThreadProperty property = property_of(node.tid32, node.name);
  const RecordHead head{type_flags(RecordType::file_location), 0, settings.pid, sequence};
  RecordHead property_head = head;
  property_head.flags = type_flags(RecordType::file_property);
  const char* const text = stacktrack::kThreadFile;
  if (!post(sink, &store, head, location(store.layout, id, node.number), text, std::strlen(text),
            false) ||
      !post(sink, &store, property_head, file_property(store.layout, id, node.number),
            property.text, property.bytes, false)) {
    lose(sink, &store, LostReason::names, 1);
  }
}

}  // namespace

void post_thread_name(Node& node, const View& view, uint64_t sequence) {
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
    if (node.named[i] == store->id) continue;
    node.named[i] = store->id;
    post_name(settings.sinks[i], *store, node, sequence);
  }
}

}  // namespace telltale::st
