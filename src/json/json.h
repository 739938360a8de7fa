// SPDX-License-Identifier: Apache-2.0
// JSON as a value: made with braces, read from text and written as text. nlohmann::json reads and
// writes it, in json.cpp alone: its templates took a quarter of the time to compile the driver.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <ranges>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace ww {

/// A value is not what its reader takes it for, or lacks a key.
class JsonMismatch : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class JsonType : std::uint8_t { Null, Boolean, Number, String, Array, Object };
/// "null", "boolean", "number", "string", "array" or "object".
const char* name_of(JsonType type);

class Json;
struct JsonEntry;
using JsonMember = std::pair<std::string, Json>;  // of an object: a key and its value

// Of a text that is read: lists and objects inside each other; keys of an object, which are searched
// one by one.
constexpr std::size_t kMaxJsonDepth = 100;
constexpr std::size_t kMaxJsonKeys = 1000;

/// Null, a truth value, a number, a text, a list, or an object whose keys keep their order.
class Json {
 public:
  Json() = default;  // null
  Json(std::nullptr_t) {}
  template <std::integral T>
  Json(T value) {
    if constexpr (std::same_as<T, bool>)
      value_ = value;
    else if (std::cmp_less(value, 0))
      value_ = static_cast<std::int64_t>(value);
    else
      value_ = static_cast<std::uint64_t>(value);
  }
  Json(double value);
  Json(const char* text);
  Json(std::string text);
  Json(std::string_view text);
  /// An object: `{{"a", 1}, {"b", 2}}`; the last of equal keys counts. `{}` is null.
  Json(std::initializer_list<JsonEntry> entries);
  /// The elements of a range, as a list.
  template <std::ranges::input_range Range>
  requires(!std::convertible_to<Range, std::string_view> && !std::same_as<Range, Json>)
      Json(const Range& items)
      : Json(array()) {
    for (const auto& item : items) push_back(Json(item));
  }

  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();

  static Json array(std::initializer_list<Json> items = {});
  static Json object();
  /// The value of a text in UTF-8; the last of equal keys counts. Syntax ("no JSON in UTF-8: ...") or
  /// TooLarge ("JSON with more than ...") otherwise.
  static Result<Json> parse(std::string_view text);

  [[nodiscard]] JsonType type() const;
  [[nodiscard]] bool is_null() const { return type() == JsonType::Null; }
  /// A number without a fraction.
  [[nodiscard]] bool is_integer() const;

  /// As std::string, std::string_view, bool, double, int, std::int64_t or std::uint64_t; JsonMismatch if it is of another
  /// type, or a number that does not fit.
  template <typename T>
  [[nodiscard]] T get() const;

  // Lists. Null becomes one when it is asked for.
  std::vector<Json>& list();
  [[nodiscard]] const std::vector<Json>& list() const;
  void push_back(Json item);
  [[nodiscard]] const Json* begin() const;
  [[nodiscard]] const Json* end() const;
  Json& operator[](std::size_t i);
  const Json& operator[](std::size_t i) const;

  // Objects. Null becomes one when it is asked for, or when a key is set.
  std::vector<JsonMember>& members();
  [[nodiscard]] const std::vector<JsonMember>& members() const;
  Json& operator[](std::string_view key);  // null where there was none
  const Json& operator[](std::string_view key) const;
  /// The value of a key, null: there is none, or this is no object.
  [[nodiscard]] const Json* find(std::string_view key) const;
  [[nodiscard]] bool contains(std::string_view key) const { return find(key) != nullptr; }
  /// The value of a key, or `otherwise`: there is none. A text is a std::string.
  template <typename T>
  [[nodiscard]] auto value(std::string_view key, T otherwise) const {
    using Out = std::conditional_t<std::same_as<T, const char*>, std::string, T>;
    const Json* const found = find(key);
    if constexpr (std::same_as<T, Json>)
      return found == nullptr ? otherwise : *found;
    else
      return found == nullptr ? Out(otherwise) : found->get<Out>();
  }
  /// Sets all keys of `object`.
  void update(const Json& object);

  /// Items of a list or keys of an object; 0 for null and 1 for others.
  [[nodiscard]] std::size_t size() const;

  /// In UTF-8, on one line, or each item on its own, indented by `indent`. Bytes that are no UTF-8 become
  /// U+FFFD, and numbers that are not finite null.
  [[nodiscard]] std::string dump(int indent = -1) const;

  /// Numbers are equal by value, objects if their keys stand in the same order.
  bool operator==(const Json& other) const;

 private:
  // A whole number is a std::int64_t only if it is negative. Mutable, because the items of a list in
  // braces are const and it is of no use to copy them.
  mutable std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string,
                       std::vector<Json>, std::vector<JsonMember>>
      value_;
};

/// A key and its value, where an object is written in braces.
struct JsonEntry {
  std::string_view key;
  Json value;
};

template <>
std::string_view Json::get() const;
template <>
std::string Json::get() const;
template <>
bool Json::get() const;
template <>
double Json::get() const;
template <>
int Json::get() const;
template <>
std::int64_t Json::get() const;
template <>
std::uint64_t Json::get() const;

/// A list with what `each` makes of every item.
template <typename Items, typename Each>
Json json_list(const Items& items, const Each& each) {
  Json out = Json::array();
  for (const auto& item : items) out.push_back(each(item));
  return out;
}

/// On one line, as tests show it.
std::ostream& operator<<(std::ostream& out, const Json& value);

// --- fields --------------------------------------------------------------------------------------
//
// Reading values that another program sent. One of another type is a BadArgument that names it.

/// "`name` is a JSON number, expected `wanted`".
Diag wrong_json_type(std::string_view name, const Json& value, std::string_view wanted);

Result<std::string> text_in(const Json& value, std::string_view name);
Result<std::int64_t> integer_in(const Json& value, std::string_view name);

}  // namespace ww
