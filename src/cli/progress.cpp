// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

namespace ww::cli {
namespace {

constexpr std::chrono::milliseconds kPause{100};

void write_text(const std::string& text) {
  // What a terminal does not take is no loss.
  [[maybe_unused]] const auto count = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

Progress::~Progress() {
  if (is_shown_) write_text("\r\x1b[K");
}

std::function<bool(std::uint64_t, std::uint64_t)> Progress::callback() {
  if (::isatty(STDERR_FILENO) != 1) return {};
  return [this](std::uint64_t done, std::uint64_t all) { return update(done, all); };
}

bool Progress::update(std::uint64_t done, std::uint64_t all) {
  const auto now = Clock::now();
  if (done >= all || now - last_ < kPause) return true;
  last_ = now;
  is_shown_ = true;
  write_text(fmt::format("\r\x1b[K{}%, {} of {} done", done * 100 / all, done, all));
  return true;
}

}  // namespace ww::cli
