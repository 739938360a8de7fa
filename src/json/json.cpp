// SPDX-License-Identifier: Apache-2.0
#include "json/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

namespace ww {
namespace {

// Whether the text stands in quotes as it is.
bool is_plain(std::string_view text) {
  return std::ranges::all_of(text,
                             [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
}

class JsonWriter {
 public:
  explicit JsonWriter(int indent) : indent_(indent) {}

  void write(const Json& value) {
    if (value.is_object())
      write_object(value);
    else if (value.is_array())
      write_array(value);
    else if (value.is_string())
      write_text(value.get<std::string_view>());
    else
      out_ += scalar_text(value);
  }
  std::string take() { return std::move(out_); }

 private:
  void write_object(const Json& value) {
    out_ += '{';
    ++depth_;
    std::string_view separator;
    for (const auto& [key, item] : value.items()) {
      start_item(std::exchange(separator, ","));
      write_text(key);
      out_ += indent_ < 0 ? ":" : ": ";
      write(item);
    }
    --depth_;
    if (!value.empty()) start_item("");
    out_ += '}';
  }

  void write_array(const Json& value) {
    out_ += '[';
    ++depth_;
    std::string_view separator;
    for (const Json& item : value) {
      start_item(std::exchange(separator, ","));
      write(item);
    }
    --depth_;
    if (!value.empty()) start_item("");
    out_ += ']';
  }

  void start_item(std::string_view separator) {
    out_ += separator;
    if (indent_ >= 0) out_.append(1, '\n').append(static_cast<std::size_t>(indent_ * depth_), ' ');
  }

  void write_text(std::string_view text) {
    if (is_plain(text))
      out_.append(1, '"').append(text).append(1, '"');
    else
      out_ += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }

  static std::string scalar_text(const Json& value) {
    if (value.is_null()) return "null";
    if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
    if (value.is_unsigned()) return std::to_string(value.get<std::uint64_t>());
    if (value.is_number_integer()) return std::to_string(value.get<std::int64_t>());
    return nlohmann::json(value.get<double>()).dump();
  }

  int indent_;
  int depth_ = 0;
  std::string out_;
};

// Makes values of what the reader finds.
class JsonBuilder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(std::int64_t value) override { return add(value); }
  bool number_unsigned(std::uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string& /*text*/) override { return add(value); }
  bool string(std::string& text) override { return add(std::move(text)); }
  bool binary(nlohmann::json::binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return open(Json::object()); }
  bool start_array(std::size_t /*size*/) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& text) override {
    keys_.back() = std::move(text);
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::json::exception& /*why*/) override {
    position_ = position;
    return false;
  }

  [[nodiscard]] std::size_t position() const { return position_; }
  /// What there is too much of; empty: nothing.
  [[nodiscard]] const std::string& excess() const { return excess_; }
  Json take() { return std::move(root_); }

 private:
  bool add(Json value) {
    if (open_.empty())
      root_ = std::move(value);
    else if (open_.back().is_array())
      open_.back().push_back(std::move(value));
    else if (open_.back().size() == Json::kMaxKeys)
      excess_ = fmt::format("more than {} keys in an object", Json::kMaxKeys);
    else
      open_.back()[keys_.back()] = std::move(value);
    return excess_.empty();
  }
  bool open(Json value) {
    if (open_.size() == Json::kMaxDepth) {
      excess_ = fmt::format("more than {} brackets inside each other", Json::kMaxDepth);
      return false;
    }
    open_.push_back(std::move(value));
    keys_.emplace_back();
    return true;
  }
  bool close() {
    Json value = std::move(open_.back());
    open_.pop_back();
    keys_.pop_back();
    return add(std::move(value));
  }

  Json root_;
  std::vector<Json> open_;         // lists and objects whose ends are yet to come
  std::vector<std::string> keys_;  // of each of them, the last seen
  std::size_t position_ = 0;
  std::string excess_;
};

}  // namespace

Json::Json(double value) : value_(value) {}
Json::Json(const char* text) : value_(std::string(text)) {}
Json::Json(std::string text) : value_(std::move(text)) {}
Json::Json(std::string_view text) : value_(std::string(text)) {}

Json::Json(std::initializer_list<JsonEntry> entries) {
  value_.emplace<Members>().reserve(entries.size());
  for (const JsonEntry& entry : entries)
    (*this)[entry.key].value_ = std::exchange(entry.value.value_, nullptr);
}

Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
Json& Json::operator=(const Json& other) = default;
Json& Json::operator=(Json&& other) noexcept {
  if (this != &other) value_ = std::exchange(other.value_, nullptr);
  return *this;
}
Json::~Json() = default;

Json Json::array(std::initializer_list<Json> items) {
  Json out;
  List& list = out.value_.emplace<List>();
  list.reserve(items.size());
  for (const Json& item : items) list.emplace_back().value_ = std::exchange(item.value_, nullptr);
  return out;
}

Json Json::object() {
  Json out;
  out.value_ = Members();
  return out;
}

Result<Json> Json::parse(std::string_view text) {
  JsonBuilder builder;
  if (nlohmann::json::sax_parse(text, &builder)) return builder.take();
  if (!builder.excess().empty()) return fail(DiagKind::TooLarge, "JSON with {}", builder.excess());
  return fail(DiagKind::Syntax, "no JSON in UTF-8: problem at byte {}", builder.position());
}

bool Json::is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
bool Json::is_boolean() const { return std::holds_alternative<bool>(value_); }
bool Json::is_number() const {
  return is_number_integer() || std::holds_alternative<double>(value_);
}
bool Json::is_number_integer() const {
  return std::holds_alternative<std::int64_t>(value_) || is_unsigned();
}
bool Json::is_unsigned() const { return std::holds_alternative<std::uint64_t>(value_); }
bool Json::is_string() const { return std::holds_alternative<std::string>(value_); }
bool Json::is_array() const { return std::holds_alternative<List>(value_); }
bool Json::is_object() const { return std::holds_alternative<Members>(value_); }

const char* Json::type_name() const {
  constexpr const char* kNames[] = {"null",   "boolean", "number", "number",
                                    "number", "string",  "array",  "object"};
  return kNames[value_.index()];
}

JsonMismatch Json::mismatch(std::string_view wanted) const {
  return JsonMismatch(fmt::format("a JSON {}, expected {}", type_name(), wanted));
}

template <>
std::string_view Json::get() const {
  if (const auto* text = std::get_if<std::string>(&value_)) return *text;
  throw mismatch("a string");
}

template <>
std::string Json::get() const {
  return std::string(get<std::string_view>());
}

template <>
bool Json::get() const {
  if (const auto* value = std::get_if<bool>(&value_)) return *value;
  throw mismatch("a boolean");
}

template <>
double Json::get() const {
  if (const auto* value = std::get_if<double>(&value_)) return *value;
  if (const auto* value = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*value);
  if (const auto* value = std::get_if<std::uint64_t>(&value_)) return static_cast<double>(*value);
  throw mismatch("a number");
}

template <>
std::int64_t Json::get() const {
  if (const auto* negative = std::get_if<std::int64_t>(&value_)) return *negative;
  const auto* value = std::get_if<std::uint64_t>(&value_);
  if (value != nullptr && std::in_range<std::int64_t>(*value))
    return static_cast<std::int64_t>(*value);
  throw mismatch("a whole number of 64 bits");
}

template <>
std::uint64_t Json::get() const {
  if (const auto* value = std::get_if<std::uint64_t>(&value_)) return *value;
  throw mismatch("a whole number that is not negative");
}

template <>
int Json::get() const {
  const auto value = get<std::int64_t>();
  if (std::in_range<int>(value)) return static_cast<int>(value);
  throw mismatch("a whole number of 32 bits");
}

Json::List& Json::list() {
  if (is_null()) value_ = List();
  return const_cast<List&>(std::as_const(*this).list());
}

const Json::List& Json::list() const {
  if (const auto* found = std::get_if<List>(&value_)) return *found;
  throw mismatch("an array");
}

Json::Members& Json::members() {
  if (is_null()) value_ = Members();
  return const_cast<Members&>(std::as_const(*this).members());
}

const Json::Members& Json::members() const {
  if (const auto* found = std::get_if<Members>(&value_)) return *found;
  throw mismatch("an object");
}

void Json::push_back(Json item) { list().push_back(std::move(item)); }
Json* Json::begin() { return list().data(); }
Json* Json::end() { return list().data() + list().size(); }
const Json* Json::begin() const { return list().data(); }
const Json* Json::end() const { return list().data() + list().size(); }

Json& Json::back() {
  if (list().empty()) throw mismatch("one that is not empty");
  return list().back();
}

const Json& Json::item(std::size_t i) const {
  if (i >= list().size()) throw mismatch(fmt::format("one of more than {} items", i));
  return list()[i];
}

Json& Json::operator[](std::string_view key) {
  Members& all = members();
  const auto found = std::ranges::find(all, key, &Member::first);
  return found != all.end() ? found->second : all.emplace_back(std::string(key), Json()).second;
}

const Json& Json::at(std::string_view key) const {
  if (const Json* found = find(key)) return *found;
  throw mismatch(fmt::format("an object with `{}`", key));
}

const Json* Json::find(std::string_view key) const {
  const auto* all = std::get_if<Members>(&value_);
  if (all == nullptr) return nullptr;
  const auto found = std::ranges::find(*all, key, &Member::first);
  return found == all->end() ? nullptr : &found->second;
}

std::span<const Json::Member> Json::items() const { return members(); }

void Json::update(const Json& object) {
  for (const auto& [key, value] : object.items()) (*this)[key] = value;
}

void Json::erase(std::string_view key) {
  std::erase_if(members(), [&](const Member& each) { return each.first == key; });
}

std::size_t Json::size() const {
  if (const auto* items = std::get_if<List>(&value_)) return items->size();
  if (const auto* all = std::get_if<Members>(&value_)) return all->size();
  return is_null() ? 0 : 1;
}

std::string Json::dump(int indent) const {
  JsonWriter writer(indent);
  writer.write(*this);
  return writer.take();
}

bool Json::operator==(const Json& other) const {
  const bool has_fraction =
      std::holds_alternative<double>(value_) || std::holds_alternative<double>(other.value_);
  if (has_fraction && is_number() && other.is_number()) return get<double>() == other.get<double>();
  return value_ == other.value_;
}

std::ostream& operator<<(std::ostream& out, const Json& value) { return out << value.dump(); }

}  // namespace ww
