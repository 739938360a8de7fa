// SPDX-License-Identifier: Apache-2.0
// Bytes as text of 64 different characters, for JSON and for addresses of pictures (RFC 4648).
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace ww {

/// With `=` at the end up to a multiple of four characters.
std::string base64(std::span<const std::byte> bytes);

}  // namespace ww
