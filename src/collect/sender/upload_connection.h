#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "collect/client/upload_url.h"

namespace telltale::collect {

struct UploadOptions {
  std::string
      authorities;  // PEM file of certificates that vouch for the server; empty: the system's
  std::chrono::seconds timeout{60};  // to connect, and for each request
};

struct UploadRequest {
  std::string target;  // below the URL's path
  std::vector<std::pair<std::string, std::string>> fields;
  std::string body;
};

struct UploadReply {
  unsigned status = 0;
  std::string body;                     // up to 64 KiB
  std::string sparsity;                 // Telltale-Sparsity; empty: absent
  std::string rates;                    // Telltale-Rates; empty: absent
  std::chrono::seconds retry_after{0};  // Retry-After; 0: absent
};

// A connection to the server, made for the first request, and again when the server has closed it.
// TLS 1.2 or later, with a certificate for the URL's host. Move-only.
class UploadConnection {
 public:
  // Errors: io or usage, if the certificates of `options` cannot be read.
  static Result<UploadConnection> open(const UploadUrl& url, const UploadOptions& options);
  UploadConnection(UploadConnection&& other) noexcept;
  UploadConnection& operator=(UploadConnection&&) = delete;
  UploadConnection(const UploadConnection&) = delete;
  UploadConnection& operator=(const UploadConnection&) = delete;
  ~UploadConnection();

  // POSTs, and waits for the reply. After an error it is not known whether the server has the
  // request. Errors: io.
  Result<UploadReply> post(const UploadRequest& request);

 private:
  struct State;
  explicit UploadConnection(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace telltale::collect
