#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "collect/server/http_message.h"

namespace telltale::collect {

// Who may read the operator's pages. Every user of a machine can connect to its loopback addresses,
// so the pages need a token, which only those who can read the store's file have.
class OperatorToken {
 public:
  // Reads the token; if there is no file, makes one that only its owner can read, with 128 random
  // bits. Errors: io; bad_field, if the file is not a token; usage, if others can read the file.
  static Result<OperatorToken> read_or_make(const std::string& path);

  // The token that a file contains: 32 hexadecimal digits in lower case, perhaps a line feed.
  static std::optional<OperatorToken> parse(std::string_view text);

  // Whether a request has the token: in Authorization, or in the cookie that a link sets. Takes the
  // same time whatever the token is, as does the next one.
  [[nodiscard]] bool is_in(const HttpRequest& head) const;
  // Whether a request follows the link to the status page, `/?token=TOKEN`.
  [[nodiscard]] bool is_linked_by(const HttpRequest& head) const;
  // Leads from the link to the page without the token in its address. Scripts cannot read the
  // cookie, and pages of other sites cannot use it. `tls`: it is never sent without TLS.
  [[nodiscard]] HttpResponse redirect(bool tls) const;
  // The target of the link.
  [[nodiscard]] std::string link() const;

 private:
  explicit OperatorToken(std::string token);
  [[nodiscard]] bool is(std::string_view token) const;

  std::string token_;
  std::string hash_;    // SHA-256
  std::string cookie_;  // its name, different for each server: cookies do not depend on the port
};

}  // namespace telltale::collect
