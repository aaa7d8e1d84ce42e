#include "output/flame/page.h"

#include "output/escape.h"
#include "output/flame/embedded_page.h"

namespace telltale {
namespace {

constexpr int kPayloadVersion = 1;  // web/src/payload.ts

// A JSON string of text that is visible already.
void append_visible_string(std::string& out, std::string_view text) {
  out += '"';
  append_json_for_script(out, text);
  out += '"';
}

// Pages show text verbatim, so text that hides or reorders is made visible.
void append_string(std::string& out, std::string_view text) {
  append_visible_string(out, visible(text));
}

std::string head_text(const PageHead& head) {
  std::string text = "{\"telltale_page\":" + std::to_string(kPayloadVersion) + ",\"title\":";
  append_visible_string(text, PageRoom().text(head.title));
  return text;
}

// Behind the data, because the parts may have left something out.
std::string facts_text(const PageHead& head, const PageRoom& room) {
  auto facts = head.facts;
  auto summary = head.summary;
  if (std::string told = room.left_out(); !told.empty()) {
    facts.emplace_back("left out", std::move(told));
    summary.emplace_back("left out");
  }
  std::string text = ",\"facts\":[";
  for (const auto& [name, value] : facts) {
    text += text.back() == '[' ? "[" : ",[";
    append_string(text, name);
    text += ',';
    append_visible_string(text, PageRoom().text(value));
    text += ']';
  }
  text += "],\"summary\":[";
  for (const std::string_view name : summary) {
    if (text.back() != '[') text += ',';
    append_string(text, name);
  }
  return text + "]";
}

std::string tabs_text(std::span<const PageTab> tabs) {
  std::string text = "\"tabs\":[";
  for (const PageTab& tab : tabs) {
    text += text.back() == '[' ? "{" : ",{";
    for (const auto& [key, value] :
         {std::pair("id", tab.id), {"kind", tab.kind}, {"title", tab.title}, {"data", tab.data}}) {
      if (text.back() != '{') text += ',';
      text += "\"" + std::string(key) + "\":";
      append_string(text, value);
    }
    text += '}';
  }
  return text + "]";
}

}  // namespace

Result<void> write_page(const PageHead& head, std::span<const PageData> data,
                        std::span<const PageTab> tabs, const PageRoom& room, OutputFile& out) {
  const EmbeddedPage page = embedded_page();
  if (const Result<void> done = out.write(page.before_data); !done) return done;
  std::string text = head_text(head) + "," + tabs_text(tabs) + ",\"data\":{";
  for (const PageData& part : data) {
    append_string(text, part.key);
    text += ':';
    if (const Result<void> done = out.write(text); !done) return done;
    if (const Result<void> done = part.write(out); !done) return done;
    text = ",";
  }
  if (text == ",") text.clear();
  text += "}" + facts_text(head, room) + "}";
  if (const Result<void> done = out.write(text); !done) return done;
  return out.write(page.after_data);
}

}  // namespace telltale
