// SPDX-License-Identifier: Apache-2.0
// Written by hand rather than through a JSON library: a map of a million places stays one string,
// and the order of keys and the line breaks are ours.
#include "view/json.h"

#include <fmt/format.h>

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/append.h"
#include "base/join.h"
#include "layout/apply.h"

namespace ww::view {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string number_list(std::span<const std::int64_t> numbers) {
  return fmt::format("[{}]", join(numbers, ","));
}

std::string axis_list(const LayoutView& view) {
  std::vector<std::string> names;
  for (const layout::Axis axis : view.axes()) names.push_back(quoted(axis.name()));
  return fmt::format("[{}]", join(names, ","));
}

std::string collision_object(const LayoutView& view) {
  const auto& collision = view.facts().collision;
  if (!collision) return "null";
  std::vector<std::string> values;
  for (const auto& [axis, value] : collision->place) {
    values.push_back(fmt::format("{}:{}", quoted(axis.name()), value));
  }
  return fmt::format(R"({{"first":{},"second":{},"place":{{{}}}}})",
                     number_list(layout::unflatten(collision->first, view.shape())),
                     number_list(layout::unflatten(collision->second, view.shape())),
                     join(values, ","));
}

std::string extents_object(const LayoutView& view) {
  std::vector<std::string> entries;
  for (const layout::AxisExtent& extent : view.facts().extents) {
    entries.push_back(fmt::format(R"({}:{{"min":{},"max":{},"distinct":{}}})",
                                  quoted(extent.axis.name()), extent.min, extent.max,
                                  extent.distinct));
  }
  return fmt::format("{{{}}}", join(entries, ","));
}

double coverage(const layout::ImageFacts& facts) {
  return static_cast<double>(facts.places) / static_cast<double>(facts.box);
}

using PlaceWriter = std::function<void(std::string& out, const PlaceValues& place)>;

/// The keys of a place, quoted once for all of them.
PlaceWriter place_writer(const LayoutView& view) {
  std::vector<std::string> keys;
  for (const layout::Axis axis : view.axes()) keys.push_back(quoted(axis.name()));
  return [keys](std::string& out, const PlaceValues& place) {
    for (std::size_t i = 0; i < place.size(); ++i) {
      append(out, "{}{}:{}", i == 0 ? "" : ",", keys[i], place[i]);
    }
  };
}

PlaceWriter bank_writer(const LayoutView& view) {
  return [&view](std::string& out, const PlaceValues& place) {
    const layout::BankPlace bank = view.bank(place);
    append(out, R"("byte":{},"line":{},"bank":{})", bank.byte, bank.line, bank.bank);
  };
}

/// [[{…},{…}],\n …]: a list of objects per element.
std::string per_element(const LayoutView& view, const PlaceWriter& write) {
  std::string out = "[\n";
  for (std::int64_t flat = 0; flat < view.size(); ++flat) {
    out += flat == 0 ? "    [" : ",\n    [";
    bool is_first = true;
    for (const PlaceValues& place : view.places(flat)) {
      out += is_first ? "{" : ",{";
      is_first = false;
      write(out, place);
      out += '}';
    }
    out += ']';
  }
  return out + "\n  ]";
}

/// Writes `"key": value` lines.
class Object {
 public:
  void add(std::string_view key, std::string_view value) {
    out_ += fmt::format("{}  \"{}\": {}", out_.empty() ? "{\n" : ",\n", key, value);
  }
  void add(std::string_view key, std::int64_t value) { add(key, fmt::format("{}", value)); }
  void add_claim(std::string_view key, bool value) { add(key, value ? "true" : "false"); }
  [[nodiscard]] std::string finish() && { return std::move(out_) + "\n}\n"; }

 private:
  std::string out_;
};

void add_layout(Object& object, const LayoutView& view) {
  object.add("layout", quoted(view.text()));
  object.add("shape", number_list(view.shape()));
  object.add("size", view.size());
  object.add("kind", quoted(name_of(view.kind())));
  object.add("axes", axis_list(view));
  object.add("copies", view.copies());
}

void add_facts(Object& object, const LayoutView& view) {
  object.add_claim("injective", view.facts().is_injective);
  object.add("collision", collision_object(view));
  object.add("places", view.facts().places);
  object.add("box", view.facts().box);
  object.add("coverage", fmt::format("{}", coverage(view.facts())));
  object.add_claim("onto", view.facts().is_onto_box);
  object.add("extents", extents_object(view));
}

}  // namespace

Result<std::string> to_json(const LayoutView& view) {
  if (view.size() > kMaxJsonPlaces / view.copies()) {
    return fail(DiagKind::TooLarge, "{} elements at {} places each; JSON holds at most {} places",
                view.size(), view.copies(), kMaxJsonPlaces);
  }
  Object object;
  add_layout(object, view);
  add_facts(object, view);
  if (view.is_element_bits_given()) object.add("element_bits", view.element_bits());
  object.add("map", per_element(view, place_writer(view)));
  if (view.is_element_bits_given() && view.has_banks()) {
    object.add("banks", per_element(view, bank_writer(view)));
  }
  return std::move(object).finish();
}

}  // namespace ww::view
