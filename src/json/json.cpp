// SPDX-License-Identifier: Apache-2.0
#include "json/json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
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
    switch (value.type()) {
      case JsonType::Null:
        out_ += "null";
        break;
      case JsonType::Boolean:
        out_ += value.get<bool>() ? "true" : "false";
        break;
      case JsonType::Number:
        out_ += number_text(value);
        break;
      case JsonType::String:
        write_text(value.get<std::string_view>());
        break;
      case JsonType::Array:
        write_array(value);
        break;
      case JsonType::Object:
        write_object(value);
        break;
    }
  }
  std::string take() { return std::move(out_); }

 private:
  void write_object(const Json& value) {
    out_ += '{';
    ++depth_;
    std::string_view separator;
    for (const auto& [key, item] : value.members()) {
      start_item(std::exchange(separator, ","));
      write_text(key);
      out_ += indent_ < 0 ? ":" : ": ";
      write(item);
    }
    --depth_;
    if (value.size() > 0) start_item("");
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
    if (value.size() > 0) start_item("");
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

  static std::string number_text(const Json& value) {
    const auto number = value.get<double>();
    if (!value.is_integer()) return nlohmann::json(number).dump();
    return number < 0 ? std::to_string(value.get<std::int64_t>())
                      : std::to_string(value.get<std::uint64_t>());
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
    else if (open_.back().type() == JsonType::Array)
      open_.back().push_back(std::move(value));
    else if (open_.back().size() == kMaxJsonKeys)
      excess_ = fmt::format("more than {} keys in an object", kMaxJsonKeys);
    else
      open_.back()[keys_.back()] = std::move(value);
    return excess_.empty();
  }
  bool open(Json value) {
    if (open_.size() == kMaxJsonDepth) {
      excess_ = fmt::format("more than {} brackets inside each other", kMaxJsonDepth);
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

JsonMismatch mismatch(const Json& value, std::string_view wanted) {
  return JsonMismatch(fmt::format("a JSON {}, expected {}", name_of(value.type()), wanted));
}

}  // namespace

const char* name_of(JsonType type) {
  constexpr const char* kNames[] = {"null", "boolean", "number", "string", "array", "object"};
  return kNames[static_cast<std::size_t>(type)];
}

Json::Json(double value) : value_(value) {}
Json::Json(const char* text) : value_(std::string(text)) {}
Json::Json(std::string text) : value_(std::move(text)) {}
Json::Json(std::string_view text) : value_(std::string(text)) {}

Json::Json(std::initializer_list<JsonEntry> entries) {
  value_.emplace<std::vector<JsonMember>>().reserve(entries.size());
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
  auto& list = out.value_.emplace<std::vector<Json>>();
  list.reserve(items.size());
  for (const Json& item : items) list.emplace_back().value_ = std::exchange(item.value_, nullptr);
  return out;
}

Json Json::object() {
  Json out;
  out.value_ = std::vector<JsonMember>();
  return out;
}

Result<Json> Json::parse(std::string_view text) {
  JsonBuilder builder;
  if (nlohmann::json::sax_parse(text, &builder)) return builder.take();
  if (!builder.excess().empty()) return fail(DiagKind::TooLarge, "JSON with {}", builder.excess());
  return fail(DiagKind::Syntax, "no JSON in UTF-8: problem at byte {}", builder.position());
}

JsonType Json::type() const {
  using enum JsonType;
  constexpr JsonType kTypes[] = {Null, Boolean, Number, Number, Number, String, Array, Object};
  return kTypes[value_.index()];
}

bool Json::is_integer() const {
  return std::holds_alternative<std::int64_t>(value_) ||
         std::holds_alternative<std::uint64_t>(value_);
}

template <>
std::string_view Json::get() const {
  if (const auto* text = std::get_if<std::string>(&value_)) return *text;
  throw mismatch(*this, "a string");
}

template <>
std::string Json::get() const {
  return std::string(get<std::string_view>());
}

template <>
bool Json::get() const {
  if (const auto* value = std::get_if<bool>(&value_)) return *value;
  throw mismatch(*this, "a boolean");
}

template <>
double Json::get() const {
  if (const auto* value = std::get_if<double>(&value_)) return *value;
  if (const auto* value = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*value);
  if (const auto* value = std::get_if<std::uint64_t>(&value_)) return static_cast<double>(*value);
  throw mismatch(*this, "a number");
}

template <>
std::int64_t Json::get() const {
  if (const auto* negative = std::get_if<std::int64_t>(&value_)) return *negative;
  const auto* value = std::get_if<std::uint64_t>(&value_);
  if (value != nullptr && std::in_range<std::int64_t>(*value))
    return static_cast<std::int64_t>(*value);
  throw mismatch(*this, "a whole number of 64 bits");
}

template <>
std::uint64_t Json::get() const {
  if (const auto* value = std::get_if<std::uint64_t>(&value_)) return *value;
  throw mismatch(*this, "a whole number that is not negative");
}

template <>
int Json::get() const {
  const auto value = get<std::int64_t>();
  if (std::in_range<int>(value)) return static_cast<int>(value);
  throw mismatch(*this, "a whole number of 32 bits");
}

std::vector<Json>& Json::list() {
  if (is_null()) value_ = std::vector<Json>();
  return const_cast<std::vector<Json>&>(std::as_const(*this).list());
}

const std::vector<Json>& Json::list() const {
  if (const auto* found = std::get_if<std::vector<Json>>(&value_)) return *found;
  throw mismatch(*this, "an array");
}

void Json::push_back(Json item) { list().push_back(std::move(item)); }
const Json* Json::begin() const { return list().data(); }
const Json* Json::end() const { return list().data() + list().size(); }

Json& Json::operator[](std::size_t i) { return const_cast<Json&>(std::as_const(*this)[i]); }

const Json& Json::operator[](std::size_t i) const {
  if (i >= list().size()) throw mismatch(*this, fmt::format("one of more than {} items", i));
  return list()[i];
}

std::vector<JsonMember>& Json::members() {
  if (is_null()) value_ = std::vector<JsonMember>();
  return const_cast<std::vector<JsonMember>&>(std::as_const(*this).members());
}

const std::vector<JsonMember>& Json::members() const {
  if (const auto* found = std::get_if<std::vector<JsonMember>>(&value_)) return *found;
  throw mismatch(*this, "an object");
}

Json& Json::operator[](std::string_view key) {
  std::vector<JsonMember>& all = members();
  const auto found = std::ranges::find(all, key, &JsonMember::first);
  return found != all.end() ? found->second : all.emplace_back(std::string(key), Json()).second;
}

const Json& Json::operator[](std::string_view key) const {
  if (const Json* found = find(key)) return *found;
  throw mismatch(*this, fmt::format("an object with `{}`", key));
}

const Json* Json::find(std::string_view key) const {
  const auto* all = std::get_if<std::vector<JsonMember>>(&value_);
  if (all == nullptr) return nullptr;
  const auto found = std::ranges::find(*all, key, &JsonMember::first);
  return found == all->end() ? nullptr : &found->second;
}

void Json::update(const Json& object) {
  for (const auto& [key, value] : object.members()) (*this)[key] = value;
}

std::size_t Json::size() const {
  if (const auto* items = std::get_if<std::vector<Json>>(&value_)) return items->size();
  if (const auto* all = std::get_if<std::vector<JsonMember>>(&value_)) return all->size();
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
  if (has_fraction && type() == JsonType::Number && other.type() == JsonType::Number)
    return get<double>() == other.get<double>();
  return value_ == other.value_;
}

std::ostream& operator<<(std::ostream& out, const Json& value) { return out << value.dump(); }

// --- fields --------------------------------------------------------------------------------------

Diag wrong_json_type(std::string_view name, const Json& value, std::string_view wanted) {
  return diag(DiagKind::BadArgument, "`{}` is a JSON {}, expected {}", name, name_of(value.type()),
              wanted);
}

Result<std::string> text_in(const Json& value, std::string_view name) {
  if (value.type() != JsonType::String) return fail(wrong_json_type(name, value, "a text"));
  return value.get<std::string>();
}

Result<std::int64_t> integer_in(const Json& value, std::string_view name) {
  if (value.type() != JsonType::Number) return fail(wrong_json_type(name, value, "a whole number"));
  if (!value.is_integer())
    return fail(DiagKind::BadArgument, "`{}` is {}, expected a whole number", name, value.dump());
  if (value.get<double>() > 0 && value.get<std::uint64_t>() > INT64_MAX)
    return fail(DiagKind::BadArgument, "`{}` is {}, expected at most {}", name, value.dump(),
                INT64_MAX);
  return value.get<std::int64_t>();
}

}  // namespace ww
