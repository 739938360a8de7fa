// SPDX-License-Identifier: Apache-2.0
// Arguments and the parameters they are bound to: of builtins by their signatures, of the source's
// functions by Python's rules.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "script/interp/value.h"

namespace ww::script {

struct Context;

/// The arguments of a call as they stand: positional ones, then by name.
struct CallArgs {
  struct Named : Given {
    std::string name;
    Span name_span = {};  // where it is written
  };
  std::vector<Given> plain;
  std::vector<Named> named;
  Span call;    // the whole call
  Span callee;  // the function's name

  /// Arguments that are written nowhere, of a call at that place.
  static CallArgs at(Span span, const std::vector<Value>& plain = {}) {
    CallArgs out;
    out.call = out.callee = span;
    for (const Value& each : plain) out.plain.push_back({each, span});
    return out;
  }
  /// Behind one more, the object of a method.
  [[nodiscard]] CallArgs with_first(const Value& first) const {
    CallArgs out = *this;
    out.plain.insert(out.plain.begin(), {first, call});
    return out;
  }
};

/// Arguments of a builtin, bound to the parameters of its signature.
struct Args {
  const BuiltinRow* row = nullptr;
  std::vector<std::optional<Given>> values;  // one per named parameter
  std::vector<Given> rest;                   // `*name`
  std::vector<CallArgs::Named> extra;        // `**name`
  Span call;
  Value self;  // of a method

  [[nodiscard]] bool has(std::size_t i) const { return values[i].has_value(); }
  /// And it is not None.
  [[nodiscard]] bool given(std::size_t i) const { return has(i) && !values[i]->is(Kind::None); }
  [[nodiscard]] const Given& operator[](std::size_t i) const { return *values[i]; }
  /// What it is where it is left out.
  [[nodiscard]] Given get(std::size_t i, const Value& otherwise = none()) const {
    return has(i) ? *values[i] : Given{otherwise, call};
  }
  [[nodiscard]] Span span(std::size_t i) const { return has(i) ? values[i]->span : call; }
};

/// A function of the language or of Python: `signature` lists its parameters, `name` (needed),
/// `name?` (may be left out), `*name` (any number), `**name` (any keywords).
struct BuiltinRow {
  std::string_view name;  // "T.alloc_buffer", "len", "buffer.view"
  std::string_view signature;
  Result<Value> (*run)(Context&, Args&);
  bool only_in_kernel = false;
};

/// A row's signature, taken apart.
struct Signature {
  std::vector<std::string_view> names;
  std::vector<bool> required;
  bool has_rest = false;
  bool has_extra = false;
};
Signature read_signature(std::string_view text);

/// Fails on too many arguments, missing ones and unknown names, at the argument.
Result<Args> bind_args(const BuiltinRow& row, CallArgs& args, const Value& self);

/// Binds the parameters of a function of the source in `env`; fails in the same way.
Result<void> bind_params(Context& in, const FunctionObject& function, CallArgs& args, Env& env);

}  // namespace ww::script
