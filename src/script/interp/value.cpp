// SPDX-License-Identifier: Apache-2.0
#include "script/interp/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "layout/text.h"

namespace ww::script {
namespace {

// By Kind.
// clang-format off
constexpr std::string_view kTypeNames[] = {
    "None", "bool", "int", "float", "str", "tuple", "list", "dict", "set", "slice", "range",
    "ellipsis", "generator", "function", "function", "method", "class", "object", "namespace",
    "dtype", "axis", "axis term", "layout maker", "layout spec", "iter", "swizzle", "layout",
    "annotation", "kernel", "jit kernel", "inline function", "expression", "buffer", "region",
    "loop", "meta_var", "accessor", "frame", "launch", "ptx instruction", "ptx operand", "pool",
    "opaque value", "value in error"};
// clang-format on
static_assert(std::size(kTypeNames) == static_cast<std::size_t>(Kind::Poison) + 1);

constexpr std::size_t kLongestRepr = 200;
constexpr int kDeepestRepr = 4;
constexpr int kDeepestFullRepr = 60;
constexpr int kDeepestComparison = 200;
constexpr std::size_t kMaxVisits = std::size_t{1} << 22U;
constexpr std::size_t kIndexFrom = 16;

template <typename T>
int order_of(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

std::string int_text(Wide value) {
  if (value < 0) return "-" + int_text(-value);
  std::string digits;
  do {
    digits.push_back(static_cast<char>('0' + static_cast<int>(value % 10)));
    value /= 10;
  } while (value != 0);
  std::ranges::reverse(digits);
  return digits;
}

// The shortest digits that read back as the number, with an exponent where Python writes one.
std::string float_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string quoted(std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const char mark = has_single && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string out(1, mark);
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == mark || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + mark;
}

// Writes values as Python's repr does, up to a length and a depth.
class Writer {
 public:
  Writer(std::size_t limit, int deepest) : limit_(limit), deepest_(deepest) {}

  void write(const Value& value) {
    if (depth_ > deepest_ || out.size() > limit_) {
      is_cut = true;
      out += "...";
      return;
    }
    ++depth_;
    write_kind(value);
    --depth_;
  }

  std::string out;
  bool is_cut = false;

 private:
  void write_kind(const Value& value) {
    switch (value.kind) {
      case Kind::Str:
        return write_text(text_of(value));
      case Kind::Tuple:
        out += '(';
        items(value);
        out += value.as<SeqObject>().items.size() == 1 ? ",)" : ")";
        return;
      case Kind::List:
        out += '[';
        items(value);
        out += ']';
        return;
      case Kind::Set:
        return write_set(value);
      case Kind::Dict:
        return pairs(value.as<DictObject>());
      case Kind::Slice: {
        const auto& s = value.as<SliceObject>();
        out += "slice(";
        list({s.begin, s.end, s.step});
        out += ')';
        return;
      }
      default:
        out += atom(value);
    }
  }

  void write_text(std::string_view text) {
    const std::size_t room = limit_ - out.size();
    is_cut = is_cut || text.size() > room;
    out += quoted(text.substr(0, room));
    if (text.size() > room) out += "...";
  }

  void write_set(const Value& value) {
    if (value.as<SeqObject>().items.empty()) {
      out += "set()";
      return;
    }
    out += '{';
    items(value);
    out += '}';
  }

  static std::string atom(const Value& value) {
    switch (value.kind) {
      case Kind::None:
        return "None";
      case Kind::Bool:
        return value.truth ? "True" : "False";
      case Kind::Int:
        return int_text(value.integer);
      case Kind::Float:
        return float_text(value.real);
      case Kind::Ellipsis:
        return "Ellipsis";
      case Kind::Range: {
        const auto& r = value.as<RangeObject>();
        if (r.step == 1) return fmt::format("range({}, {})", r.begin, r.end);
        return fmt::format("range({}, {}, {})", r.begin, r.end, r.step);
      }
      case Kind::DType:
        return std::string(num::name_of(static_cast<num::DType>(value.id)));
      case Kind::Axis:
        return std::string(value.as<AxisObject>().axis.name());
      case Kind::Layout:
        return layout::to_text(value.as<LayoutObject>().layout);
      case Kind::Function:
      case Kind::Jit:
      case Kind::Inline:
        return fmt::format("<function {}>", value.as<FunctionObject>().name);
      case Kind::Namespace:
        return value.as<NamespaceObject>().path;
      default:
        return fmt::format("<{}>", type_name(value));
    }
  }

  void items(const Value& value) { list(value.as<SeqObject>().items); }

  void list(const std::vector<Value>& values) {
    bool is_first = true;
    for (const Value& value : values) {
      if (!is_first) out += ", ";
      is_first = false;
      write(value);
      if (is_cut) return;
    }
  }

  void pairs(const DictObject& dict) {
    out += '{';
    bool is_first = true;
    for (const auto& [key, value] : dict.items) {
      if (!is_first) out += ", ";
      is_first = false;
      write(key);
      out += ": ";
      write(value);
      if (is_cut) break;
    }
    out += '}';
  }

  std::size_t limit_;
  int deepest_;
  int depth_ = 0;
};

}  // namespace

std::int64_t RangeObject::size() const {
  const Wide distance = step > 0 ? Wide{end} - begin : Wide{begin} - end;
  const Wide stride = step > 0 ? Wide{step} : -Wide{step};
  const Wide size = distance <= 0 ? 0 : (distance + stride - 1) / stride;
  return static_cast<std::int64_t>(std::min(size, Wide{std::numeric_limits<std::int64_t>::max()}));
}

Value Heap::str(std::string text) {
  count(text.size() / 8);
  auto* object = make<StrObject>();
  object->text = std::move(text);
  return {.kind = Kind::Str, .object = object};
}

Value Heap::seq(Kind kind, std::vector<Value> items) {
  count_values(items.size());
  auto* object = make<SeqObject>();
  object->items = std::move(items);
  return {.kind = kind, .object = object};
}

const Value* ClassObject::find(Symbol member) const {
  if (const Value* value = env->find_here(member)) return value;
  for (const ClassObject* base : bases)
    if (const Value* value = base->env->find_here(member)) return value;
  return nullptr;
}

Value* InstanceObject::find(Symbol field) {
  for (auto& [name, value] : fields)
    if (name == field) return &value;
  return nullptr;
}

bool ClassObject::is_or_inherits(const ClassObject& other) const {
  return this == &other || std::ranges::find(bases, &other) != bases.end();
}

Env* Env::redirected(Symbol name) const {
  for (const auto& [symbol, target] : redirects_)
    if (symbol == name) return target;
  return nullptr;
}

const Value* Env::find_here(Symbol name) const {
  if (const Env* target = redirected(name)) return target->find_here(name);
  if (!index_.empty()) {
    if (name.index >= index_.size() || index_[name.index] == 0) return nullptr;
    return &names_[index_[name.index] - 1].second;
  }
  for (const auto& [symbol, value] : names_)
    if (symbol == name) return &value;
  return nullptr;
}

const Value* Env::find(Symbol name) const {
  for (const Env* env = this; env != nullptr; env = env->parent_)
    if (const Value* value = env->find_here(name)) return value;
  return nullptr;
}

Env* Env::owner(Symbol name) {
  for (Env* env = this; env != nullptr; env = env->parent_)
    if (env->find_here(name) != nullptr) return env;
  return nullptr;
}

void Env::set(Symbol name, Value value) {
  if (Env* target = redirected(name)) return target->set(name, value);
  if (const Value* known = find_here(name)) {
    const_cast<Value&>(*known) = value;  // NOLINT: it is our own element
    return;
  }
  names_.emplace_back(name, value);
  if (names_.size() < kIndexFrom) return;
  if (index_.empty())
    for (std::uint32_t i = 0; i + 1 < names_.size(); ++i) {
      index_.resize(std::max<std::size_t>(index_.size(), names_[i].first.index + 1));
      index_[names_[i].first.index] = i + 1;
    }
  index_.resize(std::max<std::size_t>(index_.size(), name.index + 1));
  index_[name.index] = static_cast<std::uint32_t>(names_.size());
}

std::string_view type_name(const Value& value) {
  return kTypeNames[static_cast<std::size_t>(value.kind)];
}

std::string_view text_of(const Value& str) { return str.as<StrObject>().text; }

// --- comparing ----------------------------------------------------------------------------------

bool Comparison::enter() {
  if (++visits_ > kMaxVisits || depth_ > kDeepestComparison) gave_up_ = true;
  return !gave_up_;
}

bool Comparison::same_items(const std::vector<Value>& a, const std::vector<Value>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!same(a[i], b[i])) return false;
  return true;
}

// Dicts and sets: each element of one has its like in the other.
bool Comparison::same_pairs(const Value& a, const Value& b) {
  if (a.is(Kind::Set)) {
    const auto& x = a.as<SeqObject>().items;
    const auto& y = b.as<SeqObject>().items;
    return x.size() == y.size() && std::ranges::all_of(x, [&](const Value& v) {
             return std::ranges::any_of(y, [&](const Value& w) { return same(v, w); });
           });
  }
  const auto& x = a.as<DictObject>().items;
  const auto& y = b.as<DictObject>().items;
  return x.size() == y.size() && std::ranges::all_of(x, [&](const auto& v) {
           return std::ranges::any_of(y, [&](const auto& w) {
             return same(v.first, w.first) && same(v.second, w.second);
           });
         });
}

// Objects with annotated fields are equal by them, as dataclasses are.
bool Comparison::same_fields(const InstanceObject& a, const InstanceObject& b) {
  const bool has_fields = a.type == b.type && !a.type->fields.empty();
  if (!has_fields || a.fields.size() != b.fields.size()) return false;
  for (std::size_t i = 0; i < a.fields.size(); ++i)
    if (a.fields[i].first != b.fields[i].first || !same(a.fields[i].second, b.fields[i].second))
      return false;
  return true;
}

bool Comparison::same_content(const Value& a, const Value& b) {
  switch (a.kind) {
    case Kind::None:
    case Kind::Ellipsis:
      return true;
    case Kind::Str:
      return text_of(a) == text_of(b);
    case Kind::Tuple:
    case Kind::List:
      return same_items(a.as<SeqObject>().items, b.as<SeqObject>().items);
    case Kind::Set:
    case Kind::Dict:
      return same_pairs(a, b);
    case Kind::Slice: {
      const auto& x = a.as<SliceObject>();
      const auto& y = b.as<SliceObject>();
      return same(x.begin, y.begin) && same(x.end, y.end) && same(x.step, y.step);
    }
    case Kind::Range: {
      const auto& x = a.as<RangeObject>();
      const auto& y = b.as<RangeObject>();
      return x.begin == y.begin && x.end == y.end && x.step == y.step;
    }
    case Kind::DType:
      return a.id == b.id && a.integer == b.integer;
    case Kind::Ir:
    case Kind::Buffer:
    case Kind::SpecMaker:
      return a.id == b.id;
    case Kind::Axis:
      return a.as<AxisObject>().axis == b.as<AxisObject>().axis;
    case Kind::Layout:
      return a.as<LayoutObject>().layout == b.as<LayoutObject>().layout;
    case Kind::Swizzle:
      return a.as<SwizzleObject>().swizzle == b.as<SwizzleObject>().swizzle;
    case Kind::Iter:
      return a.as<IterObject>().iter == b.as<IterObject>().iter;
    case Kind::Namespace:
      return a.as<NamespaceObject>().path == b.as<NamespaceObject>().path;
    case Kind::Builtin:
      return a.as<BuiltinObject>().row == b.as<BuiltinObject>().row;
    case Kind::Instance:
      return same_fields(a.as<InstanceObject>(), b.as<InstanceObject>());
    default:
      return a.object == b.object;
  }
}

bool Comparison::same(const Value& a, const Value& b) {
  if (!enter()) return false;
  if (is_intlike(a) && is_intlike(b)) return int_of(a) == int_of(b);
  if (is_number(a) && is_number(b)) return float_of(a) == float_of(b);
  // An element type equals its name, as programs compare them.
  if (a.is(Kind::DType) && b.is(Kind::Str))
    return num::name_of(static_cast<num::DType>(a.id)) == text_of(b);
  if (a.is(Kind::Str) && b.is(Kind::DType)) return same(b, a);
  if (a.kind != b.kind) return false;
  if (a.object != nullptr && a.object == b.object) return true;
  ++depth_;
  const bool out = same_content(a, b);
  --depth_;
  return out;
}

std::optional<int> Comparison::order(const Value& a, const Value& b) {
  if (!enter()) return std::nullopt;
  if (is_intlike(a) && is_intlike(b)) return order_of(int_of(a), int_of(b));
  if (is_number(a) && is_number(b)) {
    if (std::isnan(float_of(a)) || std::isnan(float_of(b))) return std::nullopt;
    return order_of(float_of(a), float_of(b));
  }
  if (a.is(Kind::Str) && b.is(Kind::Str)) return order_of(text_of(a), text_of(b));
  if ((!a.is(Kind::Tuple) && !a.is(Kind::List)) || a.kind != b.kind) return std::nullopt;
  const auto& x = a.as<SeqObject>().items;
  const auto& y = b.as<SeqObject>().items;
  ++depth_;
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    if (same(x[i], y[i])) continue;
    const std::optional<int> out = order(x[i], y[i]);
    --depth_;
    return out;
  }
  --depth_;
  return order_of(x.size(), y.size());
}

const Value* opaque_in(const Value& value) {
  constexpr std::size_t kMost = 4096;
  if (is_number(value) || value.is(Kind::Str)) return nullptr;
  std::vector<const Value*> open{&value};
  for (std::size_t at = 0; at < open.size() && at < kMost; ++at) {
    const Value& v = *open[at];
    if (v.is(Kind::Opaque)) return &v;
    const auto add = [&](const Value& inner) { open.push_back(&inner); };
    if (v.is(Kind::Tuple) || v.is(Kind::List) || v.is(Kind::Set))
      for (const Value& item : v.as<SeqObject>().items) add(item);
    if (v.is(Kind::Dict))
      for (const auto& [key, item] : v.as<DictObject>().items) add(key), add(item);
    if (v.is(Kind::Instance))
      for (const auto& [name, item] : v.as<InstanceObject>().fields) add(item);
  }
  return nullptr;
}

std::string repr(const Value& value) {
  Writer writer(kLongestRepr, kDeepestRepr);
  writer.write(value);
  return std::move(writer.out);
}

std::optional<std::string> full_repr(const Value& value, std::size_t limit) {
  Writer writer(limit, kDeepestFullRepr);
  writer.write(value);
  if (writer.is_cut) return std::nullopt;
  return std::move(writer.out);
}

}  // namespace ww::script
