#pragma once

#include <string>

#include "collect/client/report_spool.h"
#include "collect/client/upload_url.h"

namespace telltale::cli {

// Prints one line if an attempt to send to `url` failed and its wait is not over: how many reports
// are kept back, until when, and the command that sends them now. False: nothing keeps them back.
// `url` is what `to` says; with `quiet`, nothing is printed.
bool print_kept_back(const collect::ReportSpool& spool, const collect::UploadUrl& url,
                     const std::string& to, const std::string& token_file, bool quiet);

}  // namespace telltale::cli
