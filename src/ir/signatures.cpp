// SPDX-License-Identifier: Apache-2.0
#include "ir/signatures.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/split.h"
#include "ir/tensor_map.h"
#include "ir/visit.h"

namespace ww::ir {
namespace {

using num::DType;

struct KindRow {
  std::string_view word;  // in signatures.def
  ParamKind kind;
  std::string_view wanted;
};
constexpr KindRow kKinds[] = {
    {"float", ParamKind::Float, "a float"},
    {"number", ParamKind::Number, "a number"},
    {"scalar", ParamKind::Scalar, "one value"},
    {"value", ParamKind::Value, "a value"},
    {"integer", ParamKind::Integer, "an integer"},
    {"mask", ParamKind::Mask, "an integer with a bit for each lane"},
    {"condition", ParamKind::Condition, "a condition"},
    {"text", ParamKind::Text, "a text"},
    {"reduction", ParamKind::Reduction, R"("sum", "max" or "min")"},
    {"width", ParamKind::Width, "1, 2, 4, 8, 16 or 32"},
    {"warps", ParamKind::Warps, "a constant from 1 to 32"},
    {"barrier", ParamKind::Barrier, "the number of a barrier, 0 to 15"},
    {"bytes", ParamKind::Bytes, "1, 2, 4, 8, 16 or 32"},
    {"pointer", ParamKind::Pointer, "a pointer"},
    {"global", ParamKind::Global, "a pointer into global memory"},
    {"shared", ParamKind::Shared, "a pointer into shared memory"},
    {"memory", ParamKind::Memory, "a pointer into global or shared memory"},
    {"scratch", ParamKind::Scratch, "a pointer into shared memory"},
    {"pointee", ParamKind::Pointee, "a value of the type that is pointed to"},
    {"any", ParamKind::Any, "anything"},
};

const KindRow& row_of(ParamKind kind) {
  return *std::find_if(std::begin(kKinds), std::end(kKinds),
                       [&](const KindRow& row) { return row.kind == kind; });
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  return text;
}

std::vector<IntrinsicParam> read(std::string_view text) {
  std::vector<IntrinsicParam> out;
  for (std::string_view part : split(text, ',')) {
    part = trimmed(part);
    const std::size_t blank = part.find(' ');
    const bool is_rest = part.starts_with('*');
    const auto* row = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const KindRow& r) {
      return r.word == part.substr(blank + 1);
    });
    WW_CHECK(row != std::end(kKinds), "a parameter of no kind: {}", part);
    out.push_back({part.substr(is_rest ? 1 : 0, blank - (is_rest ? 1 : 0)), row->kind, is_rest});
  }
  return out;
}

std::vector<std::vector<IntrinsicParam>> read_all() {
  std::vector<std::vector<IntrinsicParam>> out(all_intrinsics().size());
#define WW_SIGNATURE(id, text) out[static_cast<std::size_t>(Intrinsic::id)] = read(text);
#include "ir/signatures.def"
#undef WW_SIGNATURE
  constexpr std::string_view kNames[] = {"x", "y", "z"};
  for (std::size_t i = 0; i <= static_cast<std::size_t>(Intrinsic::Isfinite); ++i)
    for (int k = 0; k < all_intrinsics()[i].min_args; ++k)
      out[i].push_back({kNames[k], ParamKind::Float});
  return out;
}

bool is_one_of(std::int64_t value, std::initializer_list<std::int64_t> all) {
  return std::find(all.begin(), all.end(), value) != all.end();
}

// --- printf --------------------------------------------------------------------------------------

std::string_view printed_as(char letter) {
  if (takes_float(letter)) return "a float";
  return letter == 's' ? "a text" : letter == 'p' ? "a pointer" : "an integer";
}

bool prints(char letter, Type type) {
  if (takes_float(letter)) return type.is_scalar() && type.is_float();
  if (letter == 's') return type.kind == Type::Kind::Text;
  const bool is_whole = type.is_scalar() && (type.is_int() || type.is_bool());
  return is_whole || (letter == 'p' && type.is_pointer());
}

// --- one call ------------------------------------------------------------------------------------

class CallCheck {
 public:
  CallCheck(const Function& f, const Expr& call, const std::vector<ExprId>& bound)
      : f_(f), call_(call), bound_(bound), name_(facts_of(call.callee).name) {}

  std::optional<Diag> run() {
    const std::vector<IntrinsicParam>& params = params_of(call_.callee);
    for (std::size_t i = 0; i < call_.args.size() && !params.empty() && !fault_; ++i) {
      const IntrinsicParam& param = params[std::min(i, params.size() - 1)];
      check(param, call_.args[i]);
    }
    if (!fault_ && call_.callee == Intrinsic::Printf) check_format();
    if (!fault_ && call_.callee == Intrinsic::TensorMap) fault_ = fault_of_tensor_map(f_, call_);
    if (!fault_) return std::nullopt;
    return std::move(*fault_).with_note(fmt::format("it takes `{}`", signature_text(call_.callee)));
  }

 private:
  [[nodiscard]] Type type(ExprId arg) const { return f_[arg].type; }

  template <typename... Args>
  void bad(DiagKind kind, ExprId arg, fmt::format_string<Args...> format, Args&&... args) {
    const Span span = f_[arg].span;
    fault_ =
        diag(kind, format, std::forward<Args>(args)...).with_span(span.known ? span : call_.span);
  }
  void wrong_type(const IntrinsicParam& param, ExprId arg) {
    bad(DiagKind::BadType, arg, "`{}` of `T.{}` is `{}`, expected {}", param.name, name_,
        to_text(type(arg)), row_of(param.kind).wanted);
  }
  void wrong_value(const IntrinsicParam& param, ExprId arg, std::string_view seen) {
    bad(DiagKind::BadArgument, arg, "`{}` of `T.{}` is {}, expected {}", param.name, name_, seen,
        row_of(param.kind).wanted);
  }

  void check(const IntrinsicParam& param, ExprId arg) {
    const Type t = type(arg);
    const bool is_number = t.is_int() || t.is_float();
    switch (param.kind) {
      case ParamKind::Float:
        if (!t.is_float()) return wrong_type(param, arg);
        if (t != type(call_.args[0]))
          bad(DiagKind::BadType, arg, "`T.{}` of `{}` and `{}`", name_,
              to_text(type(call_.args[0])), to_text(t));
        return;
      case ParamKind::Number:
        if (!t.is_scalar() || !is_number) wrong_type(param, arg);
        return;
      case ParamKind::Scalar:
        if (!t.is_scalar()) wrong_type(param, arg);
        return;
      case ParamKind::Value:
        if (!t.is_value()) wrong_type(param, arg);
        return;
      case ParamKind::Integer:
      case ParamKind::Mask:
        if (!t.is_int()) wrong_type(param, arg);
        return;
      case ParamKind::Condition:
        if (!t.is_scalar() || !t.is_bool()) wrong_type(param, arg);
        return;
      case ParamKind::Text:
        if (t.kind != Type::Kind::Text) wrong_type(param, arg);
        return;
      case ParamKind::Reduction:
        return check_reduction(param, arg);
      case ParamKind::Width:
      case ParamKind::Warps:
      case ParamKind::Barrier:
      case ParamKind::Bytes:
        return check_constant(param, arg);
      case ParamKind::Pointee:
        if (t != Type::of(type(call_.args[0]).dtype)) wrong_type(param, arg);
        return;
      case ParamKind::Any:
        return;
      default:
        return check_pointer(param, arg);
    }
  }

  void check_reduction(const IntrinsicParam& param, ExprId arg) {
    if (type(arg).kind != Type::Kind::Text) return wrong_type(param, arg);
    const std::string& word = f_.texts[f_[arg].text];
    if (word != "sum" && word != "max" && word != "min")
      wrong_value(param, arg, fmt::format("\"{}\"", word));
  }

  void check_constant(const IntrinsicParam& param, ExprId arg) {
    if (!type(arg).is_int() || !type(arg).is_scalar()) return wrong_type(param, arg);
    const std::optional<std::int64_t> value = const_int(f_, arg);
    // A barrier may be chosen at run time, and so may the lanes of a shuffle.
    const bool is_open = param.kind == ParamKind::Barrier ||
                         (param.kind == ParamKind::Width && call_.callee != Intrinsic::WarpReduce);
    if (!value && is_open) return;
    const bool is_good =
        value && (param.kind == ParamKind::Warps     ? *value >= 1 && *value <= 32
                  : param.kind == ParamKind::Barrier ? *value >= 0 && *value <= 15
                                                     : is_one_of(*value, {1, 2, 4, 8, 16, 32}));
    if (!is_good)
      wrong_value(param, arg, value ? std::to_string(*value) : "known at run time only");
  }

  // --- pointers ---

  void check_pointer(const IntrinsicParam& param, ExprId arg) {
    if (!type(arg).is_pointer()) return wrong_type(param, arg);
    const bool has_elements = param.kind == ParamKind::Memory || param.kind == ParamKind::Scratch;
    if (has_elements && type(arg).opaque) return wrong_type(param, arg);
    const BufferId id = pointed_to(f_, bound_, arg);
    if (!id.valid()) return;
    const Buffer& buffer = f_[id];
    const bool is_global = buffer.scope == Scope::Global;
    const bool fits = param.kind == ParamKind::Pointer  ? true
                      : param.kind == ParamKind::Global ? is_global
                      : param.kind == ParamKind::Memory ? is_global || is_shared(buffer.scope)
                                                        : is_shared(buffer.scope);
    if (!fits) {
      bad(DiagKind::BadArgument, arg, "`{}` of `T.{}` leads to `{}` in {}, expected {}", param.name,
          name_, buffer.name,
          buffer.scope == Scope::Local ? "registers"
                                       : fmt::format("{} memory", name_of(buffer.scope)),
          row_of(param.kind).wanted);
      fault_->notes.push_back({"declared here", buffer.span});
      return;
    }
    if (param.kind == ParamKind::Scratch) check_scratch(param, arg, buffer);
  }

  void check_scratch(const IntrinsicParam& param, ExprId arg, const Buffer& buffer) {
    const Type value = type(call_.args[0]);
    if (type(arg) != Type::pointer(value.dtype)) {
      bad(DiagKind::BadType, arg, "`{}` of `T.{}` is `{}`, expected a pointer to `{}`", param.name,
          name_, to_text(type(arg)), num::name_of(value.dtype));
      return;
    }
    const std::optional<std::int64_t> warps = const_int(f_, call_.args[2]);
    const std::optional<layout::Shape> shape = const_shape(f_, buffer);
    if (!warps || !shape || buffer.layout_kind == LayoutKind::Explicit) return;
    std::int64_t elements = 1;
    for (const std::int64_t extent : *shape) elements *= extent;
    const std::int64_t room = elements - first_element(arg);
    if (room >= *warps) return;
    bad(DiagKind::BadArgument, arg,
        "`{}` of `T.{}` has room for {} of `{}`, expected {}: one for each warp", param.name, name_,
        std::max<std::int64_t>(room, 0), num::name_of(value.dtype), *warps);
    fault_->notes.push_back({"declared here", buffer.span});
  }

  // Of the address of an element, its number; 0 where it is not known.
  [[nodiscard]] std::int64_t first_element(ExprId pointer) const {
    const Expr& e = f_[pointer];
    if (e.op != ExprOp::AddressOf) return 0;
    const auto shape = const_shape(f_, f_[e.buffer]);
    std::int64_t out = 0;
    for (std::size_t d = 0; shape && d < e.args.size(); ++d)
      out = out * (*shape)[d] + const_int(f_, e.args[d]).value_or(0);
    return out;
  }

  void check_format() {
    std::string letters;
    for (const PrintPart& part : print_parts(f_.texts[f_[call_.args[0]].text]))
      if (part.letter != 0) letters += part.letter;
    if (letters.contains('*'))
      return bad(DiagKind::BadArgument, call_.args[0],
                 "an unknown conversion in the format of `T.{}`, expected %d %i %o %u %x %c %f %e "
                 "%g %a %s %p",
                 name_);
    if (letters.size() + 1 != call_.args.size())
      return bad(DiagKind::BadArgument, call_.args[0],
                 "`T.{}` has {} conversion{} in its format, but {} value{}", name_, letters.size(),
                 letters.size() == 1 ? "" : "s", call_.args.size() - 1,
                 call_.args.size() == 2 ? "" : "s");
    for (std::size_t i = 0; i < letters.size() && !fault_; ++i)
      if (!prints(letters[i], type(call_.args[i + 1])))
        bad(DiagKind::BadType, call_.args[i + 1], "`%{}` of `T.{}` with `{}`, expected {}",
            letters[i], name_, to_text(type(call_.args[i + 1])), printed_as(letters[i]));
  }

  const Function& f_;
  const Expr& call_;
  const std::vector<ExprId>& bound_;
  std::string_view name_;
  std::optional<Diag> fault_;
};

}  // namespace

const std::vector<IntrinsicParam>& params_of(Intrinsic intrinsic) {
  static const std::vector<std::vector<IntrinsicParam>> all = read_all();
  return all[static_cast<std::size_t>(intrinsic)];
}

std::string signature_text(Intrinsic intrinsic) {
  std::string out = fmt::format("T.{}(", facts_of(intrinsic).name);
  bool is_first = true;
  for (const IntrinsicParam& param : params_of(intrinsic)) {
    out += fmt::format("{}{}{}", is_first ? "" : ", ", param.is_rest ? "*" : "", param.name);
    is_first = false;
  }
  return out + ")";
}

std::string_view literal_text(const Function& function, ExprId id) {
  const Expr& e = function[id];
  return e.op == ExprOp::TextImm ? std::string_view(function.texts[e.text]) : "";
}

bool takes_float(char letter) { return std::string_view("fFeEgGaA").contains(letter); }

std::string doubled_percents(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '%' ? std::string("%%") : std::string(1, c);
  return out;
}

std::vector<PrintPart> print_parts(std::string_view format) {
  std::vector<PrintPart> out;
  const auto add = [&](char c) {
    if (out.empty() || out.back().letter != 0) out.emplace_back();
    out.back().text += c;
  };
  for (std::size_t at = 0; at < format.size(); ++at) {
    if (format[at] == '\\' && at + 1 < format.size()) {
      const char next = format[++at];
      add(next == 'n' ? '\n' : next == 't' ? '\t' : next);
      continue;
    }
    if (format[at] != '%') {
      add(format[at]);
      continue;
    }
    const std::size_t end =
        std::min(format.find_first_not_of("-+ #.0123456789lhzjtL", at + 1), format.size());
    const bool is_known =
        end < format.size() && std::string_view("diouxXfFeEgGaAcsp").contains(format[end]);
    PrintPart part{std::string(format.substr(at, end - at)), is_known ? format[end] : '*'};
    std::erase_if(part.text, [](char c) { return std::string_view("lhzjtL").contains(c); });
    if (format.substr(at, 2) == "%%")
      add('%');
    else
      out.push_back(std::move(part));
    at = end;
  }
  return out;
}

std::vector<PrintPart> print_parts(const Function& function, const Expr& call) {
  std::vector<PrintPart> out;
  std::size_t next = 1;
  for (PrintPart& part : print_parts(literal_text(function, call.args[0]))) {
    if (part.letter != 0) {
      if (next == call.args.size()) continue;
      part.arg = call.args[next++];
    }
    if (part.letter == 's') part = {.text = std::string(literal_text(function, part.arg))};
    out.push_back(std::move(part));
  }
  return out;
}

std::vector<ExprId> bound_values(const Function& function) {
  std::vector<ExprId> out(function.var_count());
  for_each_stmt(function, [&](StmtId id) {
    const Stmt& s = function[id];
    if (s.kind == StmtKind::Bind && s.var.index < out.size()) out[s.var.index] = s.expr;
  });
  return out;
}

BufferId pointed_to(const Function& function, const std::vector<ExprId>& bound, ExprId pointer) {
  std::size_t names = 0;  // that were looked up: a broken function may have circles
  while (pointer.valid() && names <= bound.size()) {
    const Expr& e = function[pointer];
    if (e.op == ExprOp::Var) ++names;
    if (takes_address(e)) return e.buffer;
    if (moves_pointer(e) || e.op == ExprOp::Reinterpret)
      pointer = e.args[0];
    else
      pointer = e.op == ExprOp::Var && e.var.index < bound.size() ? bound[e.var.index] : ExprId{};
  }
  return {};
}

std::optional<Diag> fault_of_call(const Function& function, const Expr& call,
                                  const std::vector<ExprId>& bound) {
  return CallCheck(function, call, bound).run();
}

}  // namespace ww::ir
