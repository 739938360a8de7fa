// SPDX-License-Identifier: Apache-2.0
// Small tables in the place of long switches.
#pragma once

#include <initializer_list>
#include <string_view>
#include <type_traits>
#include <utility>

namespace ww {

/// The value beside the key; `otherwise` for keys that are not in the table.
template <typename Key, typename Value>
constexpr Value look_up(
    Key key,
    std::initializer_list<std::pair<std::type_identity_t<Key>, std::type_identity_t<Value>>> table,
    Value otherwise) {
  for (const auto& [own, value] : table)
    if (own == key) return value;
  return otherwise;
}

/// The same for words.
template <typename Key>
constexpr std::string_view word_for(
    Key key, std::initializer_list<std::pair<std::type_identity_t<Key>, std::string_view>> table,
    std::string_view otherwise) {
  return look_up(key, table, otherwise);
}

}  // namespace ww
