// SPDX-License-Identifier: Apache-2.0
#include "explore/guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <system_error>
#include <vector>

#include "base/ascii.h"

namespace ww::explore {
namespace {

// The one value of a header that must be there once; nothing where there are others.
std::optional<std::string> only(const Head& head, std::string_view name) {
  std::vector<std::string> values = head.header(name);
  if (values.size() != 1) return std::nullopt;
  return std::move(values.front());
}

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), to_lower);
  return text;
}

bool is_own_host(const Head& head, int port) {
  const auto host = only(head, "Host");
  if (!host) return false;
  const std::string name = lower_case(*host);
  return name == fmt::format("127.0.0.1:{}", port) || name == fmt::format("localhost:{}", port);
}

// Programs send neither header, browsers at least one.
bool is_same_origin(const Head& head) {
  const auto site = head.header("Sec-Fetch-Site");
  if (site.size() > 1 || (site.size() == 1 && site[0] != "same-origin")) return false;
  const auto origin = head.header("Origin");
  if (origin.empty()) return true;
  const auto host = only(head, "Host");
  return origin.size() == 1 && host && lower_case(origin[0]) == "http://" + lower_case(*host);
}

bool is_json(const Head& head) {
  const auto type = only(head, "Content-Type");
  if (!type) return false;
  std::string name = lower_case(type->substr(0, type->find(';')));
  while (name.ends_with(' ')) name.pop_back();
  return name == "application/json";
}

// A body whose length the header gives, not compressed.
std::optional<Refusal> refuse_body(const Head& head) {
  if (!head.header("Transfer-Encoding").empty() || !head.header("Content-Encoding").empty())
    return Refusal{411, "a body in pieces or compressed; expected one with Content-Length"};
  const auto length = only(head, "Content-Length");
  std::uint64_t bytes = 0;
  if (!length) return Refusal{411, "no Content-Length"};
  const char* const end = length->data() + length->size();
  const auto read = std::from_chars(length->data(), end, bytes);
  if (read.ec == std::errc::invalid_argument || read.ptr != end)
    return Refusal{400, "Content-Length is not a number"};
  if (read.ec != std::errc() || bytes > kMaxBody)
    return Refusal{413, fmt::format("a body of {} bytes; at most {} are taken", *length, kMaxBody)};
  return std::nullopt;
}

std::optional<Refusal> refuse_post(const Head& head) {
  if (!is_same_origin(head))
    return Refusal{403, "the request comes from another page than the explorer's own"};
  if (!is_json(head)) return Refusal{415, "the body is not of type application/json"};
  return refuse_body(head);
}

}  // namespace

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |=
        static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  return difference == 0;
}

std::optional<Refusal> Guard::refuse(const Head& head, std::string& path) const {
  std::string_view target = head.target;
  target = target.substr(0, target.find('?'));
  const bool has_token = target.size() > token.size() + 1 && target.size() <= kMaxPath &&
                         target[0] == '/' && target[token.size() + 1] == '/' &&
                         equal_in_constant_time(target.substr(1, token.size()), token);
  if (!has_token || !is_own_host(head, port)) return Refusal{};
  path = target.substr(token.size() + 2);
  if (head.method == "POST") return refuse_post(head);
  if (head.method == "GET") return std::nullopt;
  return Refusal{405, fmt::format("method {}; expected GET or POST", head.method)};
}

}  // namespace ww::explore
