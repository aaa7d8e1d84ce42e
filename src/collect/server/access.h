#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "collect/server/http_message.h"
#include "formats/sampler/sampling_wish.h"

namespace telltale::collect {

// The token of an Authorization field: of `Bearer TOKEN`, or the password of `Basic BASE64`. Empty:
// there is none.
std::string token_of(std::string_view authorization);

// Who may send what. A file with a line for each token: application, blank, token or
// `sha256:` and its hash in hexadecimal digits, and optionally a blank and `sites`. Empty lines and
// lines that begin with # do not count.
class Tokens {
 public:
  enum class Right : uint8_t { report, sites };

  // Errors: io; bad_field with the line; usage, if others than the owner and its group can read the
  // file.
  static Result<Tokens> read(const std::string& path);
  // The SHA-256 of the Authorization field's token if this application has it with this right;
  // otherwise none. Takes the same time whatever the token is.
  [[nodiscard]] std::optional<std::string> find(std::string_view application,
                                                std::string_view authorization, Right right) const;

 private:
  struct Token {
    std::string application;
    std::string hash;  // SHA-256
    bool sites = false;
  };
  std::vector<Token> tokens_;
};

// Whether a request's Host names this server as only its users do: by an address, as localhost, or
// by one of `names` (lower case). Any other name may be a stranger's that leads here: the page of a
// stranger, opened in a browser on this machine, could then read what the server tells.
bool is_own_host(std::string_view host, const std::vector<std::string>& names);

// How runs should be sampled from now on. A file with a line for each rule: application, blank,
// beginning of a build or *, blank, sparsity, and maybe blank and rates. The first rule that fits
// counts.
class SamplingRules {
 public:
  static Result<SamplingRules> read(const std::string& path);
  [[nodiscard]] std::optional<sampler::SamplingWish> find(std::string_view application,
                                                          std::string_view build) const;

 private:
  struct Rule {
    std::string application;
    std::string build;
    sampler::SamplingWish wish;
  };
  std::vector<Rule> rules_;
};

// A limit of one sender: tokens that refill at a constant rate and are enough for a burst of
// this many seconds.
class RateLimit {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr double kBurstSeconds = 10;

  explicit RateLimit(uint64_t per_second)
      : per_second_(static_cast<double>(per_second)) {}  // 0: none
  // Takes `amount`, or returns after how many seconds there is enough of it (at least 1).
  std::optional<unsigned> take(double amount, Clock::time_point now);

 private:
  double per_second_;
  double left_ = per_second_ * kBurstSeconds;
  Clock::time_point last_{};
};

}  // namespace telltale::collect
