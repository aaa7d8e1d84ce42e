// What `telltale collect` reads from strangers and after crashes: no crash; a request gives the
// same in pieces as at once; what is read from a log is written again as it was. The first byte of
// an input chooses: a connection's bytes, the body of an upload in the multipart form, a segment of
// the log, a report's text as it is folded, a report that waits to be sent, the body of a digest,
// that of a digest of path files, a path file that waits to be sent, a request for the operator's
// pages.
#include <libdeflate.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "collect/client/redacted_paths.h"
#include "collect/client/spooled_report.h"
#include "collect/log/log_segment.h"
#include "collect/log/stored_ids.h"
#include "collect/log/stored_report.h"
#include "collect/server/multipart.h"
#include "collect/server/operator_token.h"
#include "collect/server/report_request.h"
#include "collect/server/request_parser.h"
#include "collect/store/observations.h"
#include "collect/store/path_digest.h"
#include "collect/store/run_digest.h"
#include "fuzz_checks.h"

namespace {

using namespace telltale;
using namespace telltale::collect;
using State = RequestParser::State;

constexpr uint64_t kLimit = 1 << 20;
const InputLimits kLimits{kLimit, 2000, 1 << 20};

struct Parsed {
  State state = State::head;
  std::vector<HttpRequest> requests;
  unsigned refusal = 0;
};

// Parses a connection's bytes, `step` at a time.
Parsed parse(std::string_view bytes, size_t step) {
  Parsed parsed;
  std::string in;
  auto parser = std::make_unique<RequestParser>();
  while (parsed.refusal == 0) {
    if (!in.empty()) parser->feed(in);
    if (parser->state() == State::checked) {
      parser->accept_body(kLimit);
      parser->feed(in);
    }
    parsed.state = parser->state();
    fuzz::require(parser->state() == State::refused || parser->body_bytes() <= kLimit,
                  "the limit of bodies");
    if (parsed.state == State::refused) {
      parsed.refusal = parser->refusal().status;
    } else if (parsed.state == State::done) {
      parsed.requests.push_back(parser->take_request());
      parser = std::make_unique<RequestParser>();
      if (!in.empty()) continue;
    }
    if (bytes.empty()) return parsed;
    const size_t size = std::min(step, bytes.size());
    in += bytes.substr(0, size);
    bytes.remove_prefix(size);
  }
  return parsed;
}

void check_connection(std::string_view bytes) {
  const Parsed whole = parse(bytes, bytes.size() + 1);
  const Parsed pieces = parse(bytes, 7);
  // A refused connection may be refused for another reason when more of it is known.
  fuzz::require((whole.refusal == 0) == (pieces.refusal == 0),
                "pieces are refused as the whole is");
  fuzz::require(whole.requests.size() == pieces.requests.size(), "pieces are the same requests");
  for (size_t i = 0; i < whole.requests.size(); ++i) {
    HttpRequest request = whole.requests[i];
    fuzz::require(request.body == pieces.requests[i].body, "pieces have the same body");
    fuzz::require(request.fields == pieces.requests[i].fields, "pieces have the same fields");
    auto head = read_report_head(request);
    if (!head) continue;
    fuzz::require(is_application(head->application) && is_build(head->build), "names are checked");
    auto report = read_report_body(*std::move(head), request, kLimits, kLimit);
    if (!report) continue;
    fuzz::require(report->paths_bytes <= kLimit, "the limit of path files");
    if (report->id.empty()) report->id = "12345678";
    const std::string payload = to_payload(*report);
    const auto again = read_payload(as_bytes(payload));
    fuzz::require(again.has_value(), "what is stored can be read");
    StoredReport back = again->head;
    back.body.assign(reinterpret_cast<const char*>(again->body.data()), again->body.size());
    fuzz::require(back == *report, "what is stored is what was sent");
  }
}

void check_segment(Bytes file) {
  ProblemLog problems;
  SegmentReader reader(file, "f", problems);
  uint64_t entries = 0;
  uint64_t last = 0;
  while (const auto entry = reader.next()) {
    fuzz::require(entries++ == 0 || entry->offset > last, "entries ascend");
    last = entry->offset;
    const std::string_view payload(reinterpret_cast<const char*>(entry->payload.data()),
                                   entry->payload.size());
    const std::string head = entry_head(payload);
    fuzz::require(std::ranges::equal(as_bytes(head), file.subspan(entry->offset, kEntryHeadBytes)),
                  "an entry is written as it was read");
    const auto view = read_payload(entry->payload);
    if (!view) continue;
    StoredReport report = view->head;
    report.body.assign(reinterpret_cast<const char*>(view->body.data()), view->body.size());
    fuzz::require(key_of(report).content == key_of(view->head).content, "keys need no body");
  }
  fuzz::require_placed(problems, file);
}

void check_observations(Bytes report) {
  ProblemLog problems;
  for (const SectionObservations& section : read_observations(report, "f", problems)) {
    fuzz::require(section.sites.size() == section.counted.size(),
                  "a set of counters for each site");
    fuzz::require(section.first.empty() || section.first.size() == section.sites.size(),
                  "a time for each site");
    fuzz::require(
        std::ranges::is_sorted(section.sites, std::less_equal<>()) || section.sites.size() < 2,
        "sites ascend");
    for (const int32_t site : section.sites)
      fuzz::require(site >= 0 && static_cast<uint32_t>(site) < section.rows,
                    "a site of the report");
  }
  fuzz::require(read_backtrace(report).size() <= report.size(),
                "a backtrace is a part of the report");
}

void check_spooled(Bytes file) {
  const auto report = read_spooled(file, "f");
  if (!report) return;
  fuzz::require(is_application(report->application) && is_build(report->build),
                "names are checked");
  const auto again = read_spooled(as_bytes(to_spooled(*report)), "f");
  fuzz::require(again.has_value() && again->application == report->application &&
                    again->build == report->build && again->label == report->label,
                "what is written can be read");
  const std::string text = redacted(as_bytes(report->body));
  fuzz::require(text.size() <= report->body.size() + 1, "redaction adds nothing");
}

// The checksum of a digest is right; its body is anything.
void check_digest(std::string_view body) {
  const FileIdentity file{1, 2, 3};
  std::string digest = *RunDigestWriter().finish(file, true);
  const uint32_t sum = ::libdeflate_crc32(0, body.data(), body.size());
  std::memcpy(digest.data() + digest.size() - sizeof sum, &sum, sizeof sum);
  digest += body;
  fuzz::require(is_digest_of(as_bytes(digest), file, true), "the digest is whole");
  RunDigestWriter again;
  const auto done = read_digest(as_bytes(digest), [&](const StoredRun& run) {
    for (const StoredRun::Section& section : run.sections)
      fuzz::require(section.sites.size() == section.counted.size(), "a set for each site");
    again.add(run);
  });
  if (!done) fuzz::require(*done.error().offset <= digest.size(), "errors have their place");
}

// Cookies, after a line feed Authorization, after another one the target. None of them opens the
// pages without the token; with the cookie after them they do, if no other cookie has its name.
void check_operator_request(std::string_view text) {
  const std::string digits = "0123456789abcdef0123456789abcdef";
  const auto token = OperatorToken::parse(digits);
  const HttpResponse redirect = token->redirect(true);
  const std::string_view set = find_field(redirect.fields, "Set-Cookie");
  const std::string cookie(set.substr(0, set.find(';')));
  const std::string_view name = std::string_view(cookie).substr(0, cookie.find('='));
  const size_t first = std::min(text.find('\n'), text.size());
  const size_t second = std::min(text.find('\n', first + 1), text.size());
  HttpRequest request;
  request.fields = {
      {"Cookie", std::string(text.substr(0, first))},
      {"Authorization", std::string(text.substr(std::min(first + 1, second),
                                                second - std::min(first + 1, second)))}};
  request.target = text.substr(std::min(second + 1, text.size()));
  const bool has_digits = text.contains(digits);
  // Base64 hides them.
  const bool is_basic = equal_ignoring_case(request.field("Authorization").substr(0, 6), "basic ");
  if (token->is_in(request)) fuzz::require(has_digits || is_basic, "no token, no page");
  if (token->is_linked_by(request))
    fuzz::require(request.target == token->link(), "there is one link");
  std::string& cookies = request.fields[0].second;
  if (cookies.contains(name)) return;
  cookies += "; " + cookie;
  fuzz::require(token->is_in(request), "the cookie is found after any others");
}

// As check_digest(). What is read is written again as it is read.
void check_path_digest(std::string_view body) {
  const FileIdentity file{1, 2, 3};
  std::string digest = to_path_digest({}, file, 4);
  const uint32_t sum = ::libdeflate_crc32(0, body.data(), body.size());
  std::memcpy(digest.data() + digest.size() - sizeof sum, &sum, sizeof sum);
  digest += body;
  fuzz::require(is_path_digest_of(as_bytes(digest), file, 4), "the digest is whole");
  const auto runs = read_path_digest(as_bytes(digest));
  if (!runs) {
    fuzz::require(*runs.error().offset <= digest.size(), "errors have their place");
    return;
  }
  const std::string again = to_path_digest(*runs, file, 4);
  const auto same = read_path_digest(as_bytes(again));
  fuzz::require(same.has_value() && same->size() == runs->size(), "what is written can be read");
  for (size_t i = 0; i < runs->size(); ++i)
    fuzz::require((*same)[i].read.facts == (*runs)[i].read.facts, "facts are kept");
}

void check_redacted(Bytes core) {
  const auto redacted = redacted_paths(core, "f");
  if (redacted) fuzz::require(redacted->size() == core.size(), "redaction moves nothing");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 9) {
    case 0:
      check_connection(text);
      break;
    case 1: {
      const auto parts = report_of_parts(text, "cut", kLimits, kLimit);
      if (parts)
        fuzz::require(parts->report.size() <= kLimit && parts->paths.size() <= kLimit,
                      "the limits of the parts");
      break;
    }
    case 2:
      check_segment(as_bytes(text));
      break;
    case 3:
      check_observations(as_bytes(text));
      break;
    case 4:
      check_spooled(as_bytes(text));
      break;
    case 5:
      check_digest(text);
      break;
    case 6:
      check_path_digest(text);
      break;
    case 7:
      check_redacted(as_bytes(text));
      break;
    default:
      check_operator_request(text);
      break;
  }
  return 0;
}
