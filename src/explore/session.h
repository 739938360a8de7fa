// SPDX-License-Identifier: Apache-2.0
// What lasts while the explorer runs: how it was started, and what requests leave behind for later
// ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "explore/recordings.h"
#include "explore/unread.h"
#include "explore/work.h"
#include "runtime/assembler.h"

namespace ww::explore {

/// The file that the explorer was started with.
struct OpenedFile {
  std::string name, source, kernel, target;
};

struct SessionOptions {
  std::string version = {};
  std::optional<OpenedFile> file = {};
  runtime::SassTools sass = {};
  std::string program = {};  // the path of this program, which runs kernels on the GPU
  WorkLimits limits = {};
};

/// Limits of a run on the virtual GPU, for `--limit`.
inline constexpr std::uint64_t kMaxInstructions = 50'000'000;
inline constexpr std::uint64_t kMaxMemory = std::uint64_t{2} << 30;

/// Bytes of answers that wait for clients to read them.
inline constexpr std::size_t kMaxUnread = std::size_t{64} << 20;

struct Session {
  explicit Session(SessionOptions given) : options(std::move(given)), shop(options.limits) {}

  SessionOptions options;
  Workshop shop;
  Recordings recordings;
  UnreadAnswers unread{kMaxUnread};
};

}  // namespace ww::explore
