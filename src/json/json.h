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
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
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

struct JsonEntry;

/// Null, a truth value, a number, a text, a list, or an object whose keys keep their order.
class Json {
 public:
  using Member = std::pair<std::string, Json>;  // a key and its value

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

  static constexpr std::size_t kMaxDepth = 100;  // of lists and objects inside each other
  static constexpr std::size_t kMaxKeys =
      1000;  // of an object that is read, found one after the other
  /// The value of a text in UTF-8; the last of equal keys counts. Syntax ("no JSON in UTF-8: ...") or
  /// TooLarge ("JSON with more than ...") otherwise.
  static Result<Json> parse(std::string_view text);

  [[nodiscard]] bool is_null() const;
  [[nodiscard]] bool is_boolean() const;
  [[nodiscard]] bool is_number() const;
  /// Without a fraction; is_unsigned: and not negative, above INT64_MAX too.
  [[nodiscard]] bool is_number_integer() const;
  [[nodiscard]] bool is_unsigned() const;
  [[nodiscard]] bool is_string() const;
  [[nodiscard]] bool is_array() const;
  [[nodiscard]] bool is_object() const;
  /// "null", "boolean", "number", "string", "array" or "object".
  [[nodiscard]] const char* type_name() const;

  /// As std::string, std::string_view, bool, double, int, std::int64_t or std::uint64_t; JsonMismatch if it is of another
  /// type, or a number that does not fit.
  template <typename T>
  [[nodiscard]] T get() const;

  // Lists. Null becomes one when something is added.
  void push_back(Json item);
  [[nodiscard]] Json& back();
  [[nodiscard]] Json* begin();
  [[nodiscard]] Json* end();
  [[nodiscard]] const Json* begin() const;
  [[nodiscard]] const Json* end() const;
  Json& operator[](std::integral auto i) { return const_cast<Json&>(std::as_const(*this).at(i)); }
  const Json& operator[](std::integral auto i) const { return at(i); }
  [[nodiscard]] const Json& at(std::integral auto i) const {
    return item(static_cast<std::size_t>(i));
  }

  // Objects. Null becomes one when a key is set.
  Json& operator[](std::string_view key);
  const Json& operator[](std::string_view key) const { return at(key); }
  [[nodiscard]] const Json& at(std::string_view key) const;
  /// The value of a key, null: there is none, or this is no object.
  [[nodiscard]] const Json* find(std::string_view key) const;
  [[nodiscard]] bool contains(std::string_view key) const { return find(key) != nullptr; }
  /// The value of a key, or `otherwise`: there is none.
  template <typename T>
  [[nodiscard]] T value(std::string_view key, T otherwise) const {
    const Json* const found = find(key);
    if (found == nullptr) return otherwise;
    if constexpr (std::same_as<T, Json>)
      return *found;
    else
      return found->get<T>();
  }
  [[nodiscard]] std::string value(std::string_view key, const char* otherwise) const {
    return value(key, std::string(otherwise));
  }
  [[nodiscard]] std::span<const Member> items() const;
  /// Sets all keys of `object`.
  void update(const Json& object);
  void erase(std::string_view key);

  /// Items of a list or keys of an object; 0 for null and 1 for others.
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] bool empty() const { return size() == 0; }

  /// In UTF-8, on one line, or each item on its own, indented by `indent`. Bytes that are no UTF-8 become
  /// U+FFFD, and numbers that are not finite null.
  [[nodiscard]] std::string dump(int indent = -1) const;

  /// Numbers are equal by value, objects if their keys stand in the same order.
  bool operator==(const Json& other) const;

 private:
  using List = std::vector<Json>;
  using Members = std::vector<Member>;

  [[nodiscard]] const Json& item(std::size_t i) const;
  List& list();
  [[nodiscard]] const List& list() const;
  Members& members();
  [[nodiscard]] const Members& members() const;
  [[nodiscard]] JsonMismatch mismatch(std::string_view wanted) const;

  // A whole number is a std::int64_t only if it is negative. Mutable, because the items of a list in
  // braces are const and it is of no use to copy them.
  mutable std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, List,
                       Members>
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

/// On one line, as tests show it.
std::ostream& operator<<(std::ostream& out, const Json& value);

}  // namespace ww
