// SPDX-License-Identifier: Apache-2.0
// Who may use the explorer: the page that it has served itself, and no other page of the same
// browser. Pure functions over the head of a request; the server (http.h) calls them before it reads
// a body.
//
// - The address has a random token, which other pages and other users do not know.
// - The Host header names this machine by a name that no one else can point here: a page whose own
//   host name leads to 127.0.0.1 (DNS rebinding) is refused.
// - A POST comes from our own page (Origin, Sec-Fetch-Site), and its content type is one that a
//   browser sends to other origins only after asking, which we never allow.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ww::explore {

/// No body of a request is larger.
inline constexpr std::size_t kMaxBody = std::size_t{4} << 20;
/// No path is longer.
inline constexpr std::size_t kMaxPath = 256;

/// The head of a request.
struct Head {
  std::string method;  // "GET"
  std::string target;  // as it was sent: "/TOKEN/api/check"
  /// All values of a header, by its name in any case.
  std::function<std::vector<std::string>(std::string_view)> header;
};

/// Why a request is not answered. The text goes to pages that know the token only.
struct Refusal {
  int status = 404;
  std::string text = {};
};

/// What the server was started with.
struct Guard {
  std::string token;
  int port = 0;

  /// The path below the token, without a query: "api/check", "" for the page itself; or why not.
  [[nodiscard]] std::optional<Refusal> refuse(const Head& head, std::string& path) const;
};

/// Whether two texts are equal, in a time that does not tell how much of them is.
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace ww::explore
