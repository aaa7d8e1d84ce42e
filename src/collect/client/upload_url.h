#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace telltale::collect {

// Where reports are sent: "https://reports.example:8443/base", "http://[::1]:8080".
struct UploadUrl {
  bool tls = false;
  std::string host;  // without the brackets of an address
  std::string port;  // decimal
  std::string path;  // without a slash at its end; requests append theirs

  [[nodiscard]] bool is_loopback() const;       // an address or name of this machine
  [[nodiscard]] std::string authority() const;  // for the field Host
  [[nodiscard]] std::string text() const;       // the same for each form of one URL
};
// Errors: usage.
Result<UploadUrl> parse_upload_url(std::string_view text);

}  // namespace telltale::collect
