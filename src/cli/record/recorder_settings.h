#pragma once

#include <cstdint>
#include <string_view>

#include "base/error.h"

namespace telltale::cli {

enum class RecorderKind { xray, stacktrack };

// Whether the recorder will accept KEY=VALUE in its environment variable, by the rules of
// docs/formats/xray-recorder.md ("Control") and docs/design/stacktrack-runtime.md; a recorder with
// bad settings records nothing, and the program would run for nothing. `origin` is what the user
// wrote, for messages: "--min 5" or "--set foo=bar".
// Errors: usage; the message says what the value should look like, or which settings there are.
Result<void> check_setting(RecorderKind recorder, std::string_view key, std::string_view value,
                           std::string_view origin);

// The bytes that a valid setting of a size means; 0 for an invalid one.
uint64_t size_in_bytes(std::string_view value);

}  // namespace telltale::cli
