// SPDX-License-Identifier: Apache-2.0
// What host code of TVM's programs takes from modules that are not Python's own: NumPy's functions
// of numbers and shapes, and the architecture of a target. The rest of both modules is opaque, and
// so is the result of a call with arguments that a row does not have, such as an array.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/fail_at.h"
#include "script/api/builtins.h"
#include "script/interp/evaluator.h"

namespace ww::script::modules_api {
namespace {

// --- NumPy ---------------------------------------------------------------------------------------

Value unknown(Context& in, const Args& a) {
  const auto is_opaque = [](const Value& value) { return value.is(Kind::Opaque); };
  if (const auto found = std::ranges::find_if(a.rest, is_opaque); found != a.rest.end())
    return *found;
  return opaque_value(in, a.call,
                      fmt::format("`{}` of these arguments is not modelled", a.row->name));
}

// The numbers of a nested sequence in order, as an array has them; false for anything else.
bool gather(const Value& value, std::vector<Value>& out, int depth = 0) {
  constexpr int kMaxDimensions = 32;
  if (is_number(value) || value.is(Kind::Ir)) {
    out.push_back(value);
    return true;
  }
  if (depth == kMaxDimensions || !(value.is(Kind::Tuple) || value.is(Kind::List))) return false;
  return std::ranges::all_of(value.as<SeqObject>().items,
                             [&](const Value& each) { return gather(each, out, depth + 1); });
}

// What an integer of NumPy's holds; it wraps where Python's grows.
bool holds(const Value& value) {
  return !is_intlike(value) || (int_of(value) <= std::numeric_limits<std::int64_t>::max() &&
                                int_of(value) >= std::numeric_limits<std::int64_t>::min());
}

template <Op kOp>
Result<Value> fold(Context& in, Args& a) {
  std::vector<Value> items;
  if (a.rest.size() != 1 || !a.extra.empty() || !gather(a.rest[0], items)) return unknown(in, a);
  WW_TRY_VOID(spend(in, items.size(), a.call));
  if (items.empty()) return of_float(kOp == Op::Add ? 0 : 1);
  Value out = of_int(kOp == Op::Add ? 0 : 1);
  for (const Value& each : items) {
    out = WW_TRY(binary(in, kOp, out, each, a.call));
    if (!holds(out)) return unknown(in, a);
  }
  return out;
}

template <Op kBetter>
Result<Value> extremum(Context& in, Args& a) {
  std::vector<Value> items;
  const bool is_taken = a.rest.size() == 1 && a.extra.empty() && gather(a.rest[0], items) &&
                        std::ranges::all_of(items, is_number) && !items.empty();
  if (!is_taken) return unknown(in, a);
  WW_TRY_VOID(spend(in, items.size(), a.call));
  Value best = items[0];
  for (const Value& each : items)
    if (WW_TRY(truth(in, {WW_TRY(compare(in, kBetter, each, best, a.call)), a.call}))) best = each;
  return best;
}

template <auto kFunction>
Result<Value> real_function(Context& in, Args& a) {
  if (a.rest.size() != 1 || !a.extra.empty() || !is_number(a.rest[0])) return unknown(in, a);
  return of_float(kFunction(WW_TRY(as_number(in, a.rest[0], "the value"))));
}

template <auto kFunction>
Result<Value> of_two_integers(Context& in, Args& a) {
  constexpr Wide kMost = std::numeric_limits<std::int32_t>::max();  // no result beyond 64 bits
  const bool is_taken =
      a.rest.size() == 2 && a.extra.empty() && std::ranges::all_of(a.rest, [](const Value& each) {
        return is_intlike(each) && int_of(each) <= kMost && int_of(each) >= -kMost;
      });
  if (!is_taken) return unknown(in, a);
  return of_int(kFunction(static_cast<std::int64_t>(int_of(a.rest[0])),
                          static_cast<std::int64_t>(int_of(a.rest[1]))));
}

Result<Value> dtype(Context& in, Args& a) {
  if (a.rest.size() != 1 || !a.extra.empty()) return unknown(in, a);
  if (!a.rest[0].is(Kind::Str) && !a.rest[0].is(Kind::DType)) return unknown(in, a);
  const Result<ir::Type> type = as_type(in, a.rest[0], "the type");
  return type ? dtype_value(*type) : unknown(in, a);
}

// --- targets -------------------------------------------------------------------------------------
//
//   tvm.target.Target("cuda").arch, tvm.target.Target({"kind": "cuda", "arch": "sm_100a"}).arch
//
// Opaque but for `arch`: "cuda" is what the program is compiled for.

std::optional<std::string> text_under(const Value& dict, std::string_view key) {
  for (const auto& [name, value] : dict.as<DictObject>().items)
    if (name.is(Kind::Str) && text_of(name) == key && value.is(Kind::Str))
      return std::string(text_of(value));
  return std::nullopt;
}

Value with_arch(Context& in, Span call, std::string arch) {
  const Value out = opaque_value(
      in, call,
      arch.empty()
          ? "the architecture of `Target(\"cuda\")` is that of `--target`, which names none"
          : "of a target, only `arch` is modelled");
  out.as<OpaqueObject>().arch = std::move(arch);
  return out;
}

std::string own_arch(const Context& in) {
  return in.target ? std::string(target::info(in.target->arch).name) : "";
}

Result<Value> target_row(Context& in, Args& a) {
  if (a.rest.empty()) return unknown(in, a);
  std::optional<std::string> kind, arch;
  if (a.rest[0].is(Kind::Dict)) {
    kind = text_under(a.rest[0], "kind");
    arch = text_under(a.rest[0], "arch");
  } else if (a.rest[0].is(Kind::Str)) {
    const std::string text(text_of(a.rest[0]));  // "cuda", or "cuda -arch=sm_90a" of older versions
    constexpr std::string_view kArch = " -arch=";
    kind = text.substr(0, text.find(' '));
    if (const std::size_t at = text.find(kArch); at != std::string::npos) {
      const std::size_t begin = at + kArch.size();
      arch = text.substr(begin, text.find(' ', begin) - begin);
    }
  }
  if (kind != "cuda") return unknown(in, a);
  return with_arch(in, a.call, arch ? *arch : own_arch(in));
}
Result<Value> current_target(Context& in, Args& a) { return with_arch(in, a.call, own_arch(in)); }

constexpr std::string_view kAny = "*values, **options";
constexpr BuiltinRow kRows[] = {
    {"numpy.prod", kAny, fold<Op::Mul>},
    {"numpy.sum", kAny, fold<Op::Add>},
    {"numpy.max", kAny, extremum<Op::Gt>},
    {"numpy.min", kAny, extremum<Op::Lt>},
    {"numpy.ceil", kAny, real_function<[](double x) { return std::ceil(x); }>},
    {"numpy.floor", kAny, real_function<[](double x) { return std::floor(x); }>},
    {"numpy.sqrt", kAny, real_function<[](double x) { return std::sqrt(x); }>},
    {"numpy.log2", kAny, real_function<[](double x) { return std::log2(x); }>},
    {"numpy.log", kAny, real_function<[](double x) { return std::log(x); }>},
    {"numpy.exp", kAny, real_function<[](double x) { return std::exp(x); }>},
    {"numpy.gcd", kAny, of_two_integers<[](auto x, auto y) { return std::gcd(x, y); }>},
    {"numpy.lcm", kAny, of_two_integers<[](auto x, auto y) { return std::lcm(x, y); }>},
    {"numpy.dtype", kAny, dtype},
    {"tvm.target.Target", kAny, target_row},
    {"tvm.target.Target.current", kAny, current_target},
};

}  // namespace

constinit const std::span<const BuiltinRow> rows = kRows;

}  // namespace ww::script::modules_api
