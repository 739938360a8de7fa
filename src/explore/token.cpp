// SPDX-License-Identifier: Apache-2.0
#include "explore/token.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <system_error>

namespace ww::explore {
namespace {

constexpr std::size_t kTokenBytes = 16;

}  // namespace

Result<std::string> make_token() {
  std::array<unsigned char, kTokenBytes> bytes{};
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t count = ::getrandom(bytes.data() + filled, bytes.size() - filled, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0)
      return fail(DiagKind::Io, "the system gives no random bytes: {}",
                  std::generic_category().message(errno));
    filled += static_cast<std::size_t>(count);
  }
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

}  // namespace ww::explore
