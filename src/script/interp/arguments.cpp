// SPDX-License-Identifier: Apache-2.0
// Arguments to parameters: of builtins by their signatures, of the source's functions by Python's
// rules.
#include "script/interp/arguments.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/fail_at.h"
#include "base/suggest.h"
#include "script/api/builtins.h"

namespace ww::script {
namespace {

std::string counted(std::size_t n, std::string_view word) {
  return fmt::format("{} {}{}", n, word, n == 1 ? "" : "s");
}

Diag too_many(const BuiltinRow& row, const Signature& signature, const CallArgs& args) {
  return diag_at(args.plain[signature.names.size()].span, DiagKind::BadArgument,
                 "`{}` with {}, expected at most {}", row.name,
                 counted(args.plain.size(), "argument"), signature.names.size())
      .with_note(fmt::format("it takes ({})", row.signature));
}

Span name_of_arg(const CallArgs::Named& arg) {
  return arg.name_span.known ? arg.name_span : arg.span;
}

Diag given_twice(std::string_view function, const CallArgs::Named& arg) {
  return diag_at(name_of_arg(arg), DiagKind::BadArgument, "`{}` of `{}` is given twice", arg.name,
                 function);
}

Diag unknown_keyword(const BuiltinRow& row, const Signature& signature,
                     const CallArgs::Named& arg) {
  return diag_at(name_of_arg(arg), DiagKind::BadArgument, "`{}` has no parameter `{}`{}", row.name,
                 arg.name, did_you_mean(arg.name, signature.names))
      .with_note(fmt::format("it takes ({})", row.signature));
}

Result<void> bind_named(const BuiltinRow& row, const Signature& signature, CallArgs& args,
                        Args& out) {
  for (CallArgs::Named& arg : args.named) {
    const auto found = std::ranges::find(signature.names, arg.name);
    if (found == signature.names.end()) {
      if (!signature.has_extra) return fail(unknown_keyword(row, signature, arg));
      out.extra.push_back(std::move(arg));
      continue;
    }
    const auto i = static_cast<std::size_t>(found - signature.names.begin());
    if (out.values[i]) return fail(given_twice(row.name, arg));
    out.values[i] = arg;
  }
  return {};
}

// Hands the arguments of one call out to the parameters of a function of the source.
class Binder {
 public:
  Binder(const FunctionObject& function, CallArgs& args, Heap& heap, const SymbolTable& symbols)
      : function_(function), args_(args), heap_(heap), symbols_(symbols) {
    const Ast& ast = function.unit->ast;
    params_ =
        ast.list(function.def.valid() ? ast[function.def].params : ast[function.lambda].params);
    used_.resize(args.named.size());
  }

  Result<void> bind(Env& env) {
    for (std::size_t p = 0; p < params_.size(); ++p) WW_TRY_VOID(bind_one(p, env));
    if (next_ < args_.plain.size()) return fail(too_many_plain());
    for (std::size_t i = 0; i < used_.size(); ++i)
      if (!used_[i]) return fail(left_over(args_.named[i]));
    return {};
  }

 private:
  Result<void> bind_one(std::size_t p, Env& env) {
    const Param& param = params_[p];
    if (param.kind == Param::Kind::Star) {
      if (param.name.valid()) env.set(param.name, rest());
    } else if (param.kind == Param::Kind::DoubleStar) {
      env.set(param.name, keywords());
    } else if (param.kind != Param::Kind::KeywordOnly && next_ < args_.plain.size()) {
      env.set(param.name, args_.plain[next_++]);
    } else if (const Value* value = named(param)) {
      env.set(param.name, *value);
    } else if (param.default_value.valid()) {
      env.set(param.name, function_.defaults[p]);
    } else {
      return fail(missing(param));
    }
    return {};
  }

  const Value* named(const Param& param) {
    if (param.kind == Param::Kind::PositionalOnly) return nullptr;
    for (std::size_t i = 0; i < args_.named.size(); ++i)
      if (!used_[i] && args_.named[i].name == symbols_.text(param.name)) {
        used_[i] = true;
        return &args_.named[i];
      }
    return nullptr;
  }

  Value rest() {
    const auto from = args_.plain.begin() + static_cast<std::ptrdiff_t>(next_);
    next_ = args_.plain.size();
    return heap_.tuple({from, args_.plain.end()});
  }

  Value keywords() {
    DictObject out;
    for (std::size_t i = 0; i < args_.named.size(); ++i) {
      if (used_[i] || is_parameter(args_.named[i].name)) continue;
      out.items.emplace_back(heap_.str(args_.named[i].name), args_.named[i]);
      used_[i] = true;
    }
    heap_.count_values(out.items.size() * 2);
    return heap_.wrap(Kind::Dict, std::move(out));
  }

  // Does a keyword name a parameter?
  [[nodiscard]] bool is_parameter(std::string_view name) const {
    return std::ranges::any_of(params_, [&](const Param& param) {
      using PK = Param::Kind;
      const bool by_name = param.kind == PK::Plain || param.kind == PK::KeywordOnly;
      return by_name && symbols_.text(param.name) == name;
    });
  }

  [[nodiscard]] Diag missing(const Param& param) const {
    const std::string_view name = symbols_.text(param.name);
    const bool by_name =
        std::ranges::any_of(args_.named, [&](const auto& arg) { return arg.name == name; });
    return diag_at(args_.call, DiagKind::BadArgument, "`{}` without `{}`{}", function_.name, name,
                   by_name ? ", which cannot be given by name" : "")
        .with_note("the parameter", function_.unit->span(param.place));
  }

  [[nodiscard]] Diag too_many_plain() const {
    return diag_at(args_.plain[next_].span, DiagKind::BadArgument, "`{}` with {}, expected {}",
                   function_.name, counted(args_.plain.size(), "positional argument"), next_);
  }

  [[nodiscard]] Diag left_over(const CallArgs::Named& arg) const {
    if (is_parameter(arg.name)) return given_twice(function_.name, arg);
    std::vector<std::string_view> names;
    for (const Param& param : params_)
      if (param.name.valid() && param.kind != Param::Kind::PositionalOnly)
        names.push_back(symbols_.text(param.name));
    return diag_at(name_of_arg(arg), DiagKind::BadArgument, "`{}` has no parameter `{}`{}",
                   function_.name, arg.name, did_you_mean(arg.name, names));
  }

  const FunctionObject& function_;
  CallArgs& args_;
  Heap& heap_;
  const SymbolTable& symbols_;
  std::span<const Param> params_;
  std::vector<bool> used_;
  std::size_t next_ = 0;
};

}  // namespace

Result<Args> bind_args(const BuiltinRow& row, CallArgs& args, const Value& self) {
  const Signature* kept = signature_of(row);
  const Signature made = kept == nullptr ? read_signature(row.signature) : Signature();
  const Signature& signature = kept == nullptr ? made : *kept;
  Args out;
  out.row = &row;
  out.call = args.call;
  out.self = self;
  out.values.resize(signature.names.size());
  for (std::size_t i = 0; i < args.plain.size(); ++i) {
    if (i < signature.names.size()) {
      out.values[i] = args.plain[i];
    } else if (signature.has_rest) {
      out.rest.push_back(args.plain[i]);
    } else {
      return fail(too_many(row, signature, args));
    }
  }
  WW_TRY_VOID(bind_named(row, signature, args, out));
  for (std::size_t i = 0; i < signature.names.size(); ++i)
    if (signature.required[i] && !out.values[i])
      return fail(diag_at(args.call, DiagKind::BadArgument, "`{}` without `{}`", row.name,
                          signature.names[i])
                      .with_note(fmt::format("it takes ({})", row.signature)));
  return out;
}

Result<void> bind_params(Context& in, const FunctionObject& function, CallArgs& args, Env& env) {
  return Binder(function, args, in.heap, in.symbols).bind(env);
}

}  // namespace ww::script
