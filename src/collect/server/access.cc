#include "collect/server/access.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>

#include "bytes/input_file.h"
#include "collect/client/sampling_wish_text.h"
#include "collect/log/stored_report.h"
#include "collect/server/sha256.h"

namespace telltale::collect {
namespace {

using Words = std::vector<std::string_view>;

constexpr std::string_view kHashed = "sha256:";
constexpr size_t kDigestBytes = 32;

Words words_of(std::string_view line) {
  Words words;
  while (!line.empty()) {
    const size_t end = std::min(line.find_first_of(" \t\r"), line.size());
    if (end != 0) words.push_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return words;
}

// Calls use(words) for each line that counts; use returns what is wrong with it, or nothing.
Result<void> read_lines(const std::string& path,
                        const std::function<std::string(const Words&)>& use) {
  const Result<InputFile> file = InputFile::open(path);
  if (!file) return std::unexpected(file.error());
  const Bytes bytes = file->bytes();
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (uint64_t at = 0; !text.empty();) {
    const size_t end = std::min(text.find('\n'), text.size());
    const Words words = words_of(text.substr(0, end));
    if (!words.empty() && !words[0].starts_with('#')) {
      if (std::string wrong = use(words); !wrong.empty())
        return std::unexpected(Error{Error::Cause::bad_field, path, "line", std::move(wrong), at});
    }
    at += end + 1;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

std::optional<std::string> unhex(std::string_view digits) {
  if (digits.size() != 2 * kDigestBytes) return std::nullopt;
  std::string bytes;
  for (size_t i = 0; i < digits.size(); i += 2) {
    unsigned char byte = 0;
    const char* const end = digits.data() + i + 2;
    if (std::from_chars(digits.data() + i, end, byte, 16).ptr != end) return std::nullopt;
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

}  // namespace

std::string token_of(std::string_view authorization) {
  const size_t blank = authorization.find(' ');
  if (blank == std::string_view::npos) return {};
  const std::string_view kind = authorization.substr(0, blank);
  const std::string_view value = authorization.substr(blank + 1);
  if (equal_ignoring_case(kind, "Bearer")) return std::string(value);
  if (!equal_ignoring_case(kind, "Basic") || value.size() % 4 != 0) return {};
  std::string text(value.size(), '\0');
  const int size = ::EVP_DecodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(value.data()),
                                     static_cast<int>(value.size()));
  if (size < 0) return {};
  text.resize(static_cast<size_t>(size));
  for (size_t i = value.size(); i > 0 && value[i - 1] == '=' && !text.empty(); --i) text.pop_back();
  const size_t colon = text.find(':');
  return colon == std::string::npos ? std::string() : text.substr(colon + 1);
}

Result<Tokens> Tokens::read(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) == 0 && (info.st_mode & S_IROTH) != 0)
    return usage_error(path + " is readable by everybody: chmod o-r");
  Tokens tokens;
  const auto read = read_lines(path, [&](const Words& words) -> std::string {
    if (words.size() < 2 || words.size() > 3 || !is_application(words[0]))
      return "is not an application and a token";
    if (words.size() == 3 && words[2] != "sites") return "has a right other than sites";
    Token token{std::string(words[0]), {}, words.size() == 3};
    if (words[1].starts_with(kHashed)) {
      const auto hash = unhex(words[1].substr(kHashed.size()));
      if (!hash) return "has a hash without 64 hexadecimal digits";
      token.hash = *hash;
    } else {
      token.hash = sha256(words[1]);
    }
    tokens.tokens_.push_back(std::move(token));
    return {};
  });
  if (!read) return std::unexpected(read.error());
  return tokens;
}

std::optional<std::string> Tokens::find(std::string_view application,
                                        std::string_view authorization, Right right) const {
  std::string hash = sha256(token_of(authorization));
  unsigned found = 0;
  for (const Token& token : tokens_) {
    const bool fits = token.application == application && (right == Right::report || token.sites);
    const bool same = ::CRYPTO_memcmp(hash.data(), token.hash.data(), hash.size()) == 0;
    found |= static_cast<unsigned>(fits) & static_cast<unsigned>(same);
  }
  if (found == 0) return std::nullopt;
  return hash;
}

Result<SamplingRules> SamplingRules::read(const std::string& path) {
  SamplingRules rules;
  const auto read = read_lines(path, [&](const Words& words) -> std::string {
    if (words.size() < 3 || words.size() > 4 || !is_application(words[0]))
      return "is not an application, a build or *, a sparsity, and maybe rates";
    Rule rule{std::string(words[0]), std::string(words[1] == "*" ? "" : words[1]), {}};
    if (!sampler::read_wish_number(wish_text(words[2]), sampler::kMostSparsity, rule.wish.sparsity))
      return fmt::format("has a sparsity that is not a number up to {}", sampler::kMostSparsity);
    rule.wish.has_rates = words.size() == 4;
    if (rule.wish.has_rates && !sampler::read_rates(wish_text(words[3]), rule.wish.first))
      return "has rates other than uniform, adaptive and adaptive:N, with N from 1 to 255";
    rules.rules_.push_back(std::move(rule));
    return {};
  });
  if (!read) return std::unexpected(read.error());
  return rules;
}

std::optional<sampler::SamplingWish> SamplingRules::find(std::string_view application,
                                                         std::string_view build) const {
  for (const Rule& rule : rules_) {
    if (rule.application == application && build.starts_with(rule.build)) return rule.wish;
  }
  return std::nullopt;
}

std::optional<unsigned> RateLimit::take(double amount, Clock::time_point now) {
  if (per_second_ == 0) return std::nullopt;
  if (last_ == Clock::time_point{}) last_ = now;
  const double passed = std::chrono::duration<double>(now - last_).count();
  last_ = now;
  left_ = std::min(per_second_ * kBurstSeconds, left_ + passed * per_second_);
  // One report may be larger than the burst; it then waits for a full bucket.
  const double needed = std::min(amount, per_second_ * kBurstSeconds);
  if (left_ >= needed) {
    left_ -= needed;
    return std::nullopt;
  }
  return std::max(1U, static_cast<unsigned>(std::ceil((needed - left_) / per_second_)));
}

bool is_own_host(std::string_view host, const std::vector<std::string>& names) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  std::string name;
  for (const char c : host) name += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const size_t bracket = name.find(']');
  const bool version_six = name.starts_with('[') && bracket != std::string::npos;
  const size_t end = version_six ? bracket + 1 : std::min(name.find(':'), name.size());
  const std::string_view port = std::string_view(name).substr(end);
  const bool has_port = port.size() > 1 && port[0] == ':' &&
                        port.find_first_not_of("0123456789", 1) == std::string_view::npos;
  if (!port.empty() && !has_port) return false;
  name.resize(end);
  if (version_six)
    return ::inet_pton(AF_INET6, name.substr(1, end - 2).c_str(), address.data()) == 1;
  return name == "localhost" || std::ranges::find(names, name) != names.end() ||
         ::inet_pton(AF_INET, name.c_str(), address.data()) == 1;
}

}  // namespace telltale::collect
