// SPDX-License-Identifier: Apache-2.0
// Reads and writes whole files. A failed write never leaves half a file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ww {

/// The contents of a file, or of an open descriptor (`/dev/stdin`, `/dev/fd/3`) whatever it leads to,
/// of at most `max_bytes` bytes. Fails with `Io` when it cannot be read and with `TooLarge` when there
/// is more; never reads further than it must to know. Refuses a named pipe, a socket or a device
/// without opening it, because that may block forever.
Result<std::string> read_file(const std::filesystem::path& path, std::size_t max_bytes);

/// Makes `path` hold exactly `bytes`, or leaves it as it was: the bytes go to a new file in the
/// same folder, which then takes the name. A symbolic link stays, and the file that it names is
/// written; the mode of an existing file is kept. What is not a regular file has no such notion and
/// is written directly: a device, a pipe, an open descriptor (`/dev/stdout`, `/dev/fd/3`). Fails
/// with `Io`, naming the path and the reason, and refuses a file that is read-only, even to root, a
/// socket, and a named pipe that no process opens for reading within a second.
Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

/// Fails as write_file_atomically would, where that can be told before; changes nothing. For
/// callers that work long before they write.
Result<void> check_writable(const std::filesystem::path& path);

/// Whether both paths name one regular file, under whatever names (`x` and `./x`, links of both
/// kinds), or would name one if it were there.
bool is_same_file(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace ww
