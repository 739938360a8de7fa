// SPDX-License-Identifier: Apache-2.0
#include "explore/unread.h"

#include <fmt/format.h>

namespace ww::explore {

std::shared_ptr<void> UnreadAnswers::take(std::size_t bytes) {
  std::size_t before = bytes_;
  do {
    if (bytes != 0 && before != 0 && before + bytes > most_) return nullptr;
  } while (!bytes_.compare_exchange_weak(before, before + bytes));
  return {this, [bytes](void* self) { static_cast<UnreadAnswers*>(self)->bytes_ -= bytes; }};
}

std::string unread_text(const UnreadAnswers& unread) {
  return fmt::format(
      "clients have not read {} bytes of earlier answers, and with this one there would be more "
      "than {}; "
      "read or close them and try again",
      unread.bytes(), unread.most());
}

}  // namespace ww::explore
