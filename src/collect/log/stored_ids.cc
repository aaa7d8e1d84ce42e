#include "collect/log/stored_ids.h"

#include <fmt/format.h>
#include <libdeflate.h>
// libmd's, not OpenSSL's: programs that only read stores do not load OpenSSL.
#include <sha2.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "bytes/as_bytes.h"
#include "bytes/byte_writer.h"
#include "bytes/input_file.h"
#include "collect/log/durable_file.h"

namespace telltale::collect {
namespace {

constexpr std::string_view kIdsHead{"telltale ids 1\n\0", 16};
constexpr size_t kKeyBytes = 24;
constexpr size_t kRecentLimit = 50000;

bool by_name(const ReportKey& a, const ReportKey& b) { return a.name < b.name; }

uint64_t word(std::string_view bytes, size_t at) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

}  // namespace

ReportKey key_of(const StoredReport& report) {
  // The blank separates them, because names of applications contain none.
  const std::string name = report.application + ' ' + report.id;
  std::array<uint8_t, SHA256_DIGEST_LENGTH> digest;
  SHA2_CTX state;
  ::SHA256Init(&state);
  ::SHA256Update(&state, reinterpret_cast<const uint8_t*>(name.data()), name.size());
  ::SHA256Final(digest.data(), &state);
  const std::string_view hash(reinterpret_cast<const char*>(digest.data()), digest.size());
  return {{word(hash, 0), word(hash, 8)}, word(report.content_hash, 0)};
}

std::optional<uint64_t> StoredIds::find(const ReportKey& key) const {
  if (const auto found = recent_.find(key.name); found != recent_.end()) return found->second;
  const auto found = std::ranges::lower_bound(compact_, key.name, {}, &ReportKey::name);
  if (found == compact_.end() || found->name != key.name) return std::nullopt;
  return found->content;
}

void StoredIds::add(const ReportKey& key) {
  if (!find(key)) recent_.emplace(key.name, key.content);
}

void StoredIds::add(std::span<const ReportKey> keys) {
  compact_.insert(compact_.end(), keys.begin(), keys.end());
  std::ranges::stable_sort(compact_, by_name);
  const auto doubles = std::ranges::unique(compact_, {}, &ReportKey::name);
  compact_.erase(doubles.begin(), doubles.end());
}

void StoredIds::settle() {
  if (recent_.size() < kRecentLimit) return;
  const auto middle = static_cast<std::ptrdiff_t>(compact_.size());
  for (const auto& [name, content] : recent_) compact_.push_back({name, content});
  recent_.clear();
  std::sort(compact_.begin() + middle, compact_.end(), by_name);
  std::inplace_merge(compact_.begin(), compact_.begin() + middle, compact_.end(), by_name);
}

Result<void> write_ids(const std::string& path, std::span<const ReportKey> keys) {
  ByteWriter out;
  out.write(as_bytes(kIdsHead));
  for (const ReportKey& key : keys) out.write(key.name[0]).write(key.name[1]).write(key.content);
  const Bytes body = as_bytes(out.bytes());
  out.write(::libdeflate_crc32(0, body.data(), body.size()));
  return replace_file(path, out.bytes());
}

Result<std::vector<ReportKey>> read_ids(const std::string& path) {
  const Result<InputFile> file = InputFile::open(path);
  if (!file) return std::unexpected(file.error());
  Cursor in(file->bytes());
  in.begin_record("Ids");
  const Bytes head = in.take(kIdsHead.size(), "head");
  const uint64_t left = in.left();
  std::vector<ReportKey> keys;
  if (!in.error() && !std::ranges::equal(head, as_bytes(kIdsHead)))
    in.fail(Error::Cause::bad_magic, "is not a list of ids");
  if (!in.error() && left % kKeyBytes != sizeof(uint32_t))
    in.fail(Error::Cause::truncated, "the list of ids is not whole");
  for (uint64_t i = 0; !in.error() && i < left / kKeyBytes; ++i) {
    ReportKey key;
    key.name[0] = in.read<uint64_t>("name");
    key.name[1] = in.read<uint64_t>("name");
    key.content = in.read<uint64_t>("content");
    keys.push_back(key);
  }
  const Bytes body = file->bytes().first(static_cast<size_t>(in.offset()));
  const auto sum = in.read<uint32_t>("checksum");
  if (!in.error() && ::libdeflate_crc32(0, body.data(), body.size()) != sum)
    in.fail(Error::Cause::bad_field, "the checksum is wrong");
  if (in.error()) {
    Error error = *in.error();
    error.file = path;
    return std::unexpected(error);
  }
  return keys;
}

}  // namespace telltale::collect
