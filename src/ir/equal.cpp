// SPDX-License-Identifier: Apache-2.0
#include "ir/equal.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>
#include <unordered_map>

#include "ir/print/print.h"

namespace ww::ir {
namespace {

using Difference = std::optional<std::string>;
using Settings = std::vector<std::pair<std::string, Setting>>;

/// Pairs of ids, each id in one pair.
template <typename IdType>
class Pairing {
 public:
  enum class Answer { New, Known, Contradiction };
  Answer pair(IdType a, IdType b) {
    const auto [to, is_new_a] = forth_.emplace(a.index, b.index);
    const auto [from, is_new_b] = back_.emplace(b.index, a.index);
    if (to->second != b.index || from->second != a.index) return Answer::Contradiction;
    return is_new_a && is_new_b ? Answer::New : Answer::Known;
  }

 private:
  std::unordered_map<std::uint32_t, std::uint32_t> forth_;
  std::unordered_map<std::uint32_t, std::uint32_t> back_;
};

/// The value of an optional argument that is left out, if it has one.
std::optional<Setting> default_of(const TileParam& param) {
  switch (param.kind) {
    case TileParamKind::Bool:
    case TileParamKind::Flag:
      return Setting(param.default_text == "True");
    case TileParamKind::Float:
      return Setting(std::stod(std::string(param.default_text)));
    case TileParamKind::Int:
      return Setting(static_cast<std::int64_t>(std::stoll(std::string(param.default_text))));
    default:
      return std::nullopt;
  }
}
TileArg given_or_default(const TileArg& arg, const TileParam& param) {
  if (!std::holds_alternative<std::monostate>(arg) || param.required) return arg;
  const std::optional<Setting> value = default_of(param);
  return value ? TileArg(*value) : arg;
}

std::string flag(bool value) { return value ? "yes" : "no"; }

Difference differ(std::string_view what, std::string_view a, std::string_view b) {
  return fmt::format("{}: `{}` and `{}`", what, a, b);
}
Difference count_differ(std::string_view what, std::size_t a, std::size_t b) {
  if (a == b) return std::nullopt;
  return differ(what, std::to_string(a), std::to_string(b));
}

// The first of several comparisons that finds something; later ones are not made.
#define WW_DIFFER(comparison) \
  if (Difference found = (comparison)) return found

/// Walks two functions together and stops at the first difference.
class Comparison {
 public:
  Comparison(const Function& a, const Function& b) : a_(a), b_(b) {}

  Difference functions() {
    if (a_.name != b_.name) return differ("names of the functions", a_.name, b_.name);
    if (a_.level != b_.level)
      return differ("levels", a_.level == Level::Tile ? "tile" : "lowered",
                    b_.level == Level::Tile ? "tile" : "lowered");
    if (a_.has_device_entry != b_.has_device_entry)
      return differ("device entry", flag(a_.has_device_entry), flag(b_.has_device_entry));
    WW_DIFFER(params());
    WW_DIFFER(settings("attributes", a_.attrs, b_.attrs));
    WW_DIFFER(blocks("host", a_.host, b_.host));
    return blocks("body", a_.body, b_.body);
  }

  /// The same nodes?
  bool exprs(ExprId a, ExprId b) {
    std::set<std::pair<ExprId, ExprId>> met;  // equal, unless a difference follows
    std::vector<std::pair<ExprId, ExprId>> left = {{a, b}};
    while (!left.empty()) {
      const auto pair = left.back();
      left.pop_back();
      if (is_identity && pair.first == pair.second) continue;
      if (equal_.contains(pair) || !met.insert(pair).second) continue;
      const Expr& x = a_[pair.first];
      const Expr& y = b_[pair.second];
      if (x.op != y.op || x.type != y.type || x.args.size() != y.args.size()) return false;
      if (!leaves(x, y)) return false;
      for (std::size_t i = x.args.size(); i-- > 0;) left.emplace_back(x.args[i], y.args[i]);
    }
    equal_.merge(met);
    return true;
  }

  /// For `same`: every variable and buffer corresponds to itself.
  bool is_identity = false;

 private:
  Difference params() {
    WW_DIFFER(count_differ("numbers of parameters", a_.params.size(), b_.params.size()));
    for (std::size_t i = 0; i < a_.params.size(); ++i) {
      const Param& a = a_.params[i];
      const Param& b = b_.params[i];
      if (a.buffer.valid() != b.buffer.valid())
        return fmt::format("parameter {}: annotated as a buffer: {} and {}", i,
                           flag(a.buffer.valid()), flag(b.buffer.valid()));
      const std::string& left = a.buffer.valid() ? a_[a.buffer].name : a_[a.var].name;
      const std::string& right = b.buffer.valid() ? b_[b.buffer].name : b_[b.var].name;
      if (left != right) return differ(fmt::format("names of parameter {}", i), left, right);
      WW_DIFFER(vars(a.var, b.var));
      if (a.buffer.valid()) WW_DIFFER(buffers(a.buffer, b.buffer));
    }
    return std::nullopt;
  }

  Difference blocks(std::string_view where, const Block& a, const Block& b) {
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      const Stmt& left = a_[a[i]];
      const Stmt& right = b_[b[i]];
      if (Difference found = stmts(left, right))
        return fmt::format("{}[{}] {}, {}", where, i, name_of(left.kind), *found);
    }
    if (a.size() == b.size()) return std::nullopt;
    return fmt::format("{}: {} and {} statements", where, a.size(), b.size());
  }

  Difference stmts(const Stmt& a, const Stmt& b) {
    if (a.kind != b.kind) return differ("statement", name_of(a.kind), name_of(b.kind));
    if (a.hardware != b.hardware) return differ("text", name_of(a.hardware), name_of(b.hardware));
    if (a.message != b.message) return differ("text", a.message, b.message);
    if (a.attr != b.attr) return differ("text", a.attr, b.attr);
    if (a.is_open != b.is_open) return differ("open", flag(a.is_open), flag(b.is_open));
    WW_DIFFER(buffers(a.buffer, b.buffer));
    if (a.kind == StmtKind::For) {
      WW_DIFFER(loops(a, b));
    } else {
      WW_DIFFER(expr_lists("arguments", a.args, b.args));
    }
    WW_DIFFER(expr("value", a.expr, b.expr));
    WW_DIFFER(vars(a.var, b.var));
    if (a.kind == StmtKind::ScopeIds) {
      if (a.scope_id != b.scope_id)
        return differ("scope id", facts_of(a.scope_id).name, facts_of(b.scope_id).name);
      WW_DIFFER(count_differ("number of ids", a.vars.size(), b.vars.size()));
      for (std::size_t i = 0; i < a.vars.size(); ++i) WW_DIFFER(vars(a.vars[i], b.vars[i]));
    }
    if (!equal_settings(a.setting, b.setting)) return "values of the attribute";
    WW_DIFFER(settings("annotations", a.settings, b.settings));
    if (a.kind == StmtKind::Tile) WW_DIFFER(tile_calls(a_[a.tile], b_[b.tile]));
    if (a.kind == StmtKind::Ptx) WW_DIFFER(ptx_calls(a_[a.ptx], b_[b.ptx]));
    WW_DIFFER(blocks("body", a.body, b.body));
    return blocks("else", a.other, b.other);
  }

  Difference loops(const Stmt& a, const Stmt& b) {
    if (a.loop != b.loop) return differ("kind of loop", name_of(a.loop), name_of(b.loop));
    WW_DIFFER(expr("start", a.first(), b.first()));
    WW_DIFFER(expr("extent", a.trips(), b.trips()));
    return expr_or("step", a.step(), b.step(), 1);
  }

  Difference vars(VarId a, VarId b) {
    if (a.valid() != b.valid()) return "a variable in one only";
    if (!a.valid()) return std::nullopt;
    if (is_identity) return a == b ? std::nullopt : differ("variables", a_[a].name, b_[b].name);
    const auto answer = vars_.pair(a, b);
    if (answer == Pairing<VarId>::Answer::Contradiction)
      return fmt::format("variables `{}` and `{}` do not correspond", a_[a].name, b_[b].name);
    if (answer == Pairing<VarId>::Answer::Known) return std::nullopt;
    if (a_[a].type != b_[b].type)
      return differ(fmt::format("types of `{}`", a_[a].name), to_text(a_[a].type),
                    to_text(b_[b].type));
    if (a_[a].kind != b_[b].kind) return fmt::format("`{}`: of different kinds", a_[a].name);
    return std::nullopt;
  }

  Difference buffers(BufferId a, BufferId b) {
    if (a.valid() != b.valid()) return "a buffer in one only";
    if (!a.valid()) return std::nullopt;
    if (is_identity) return a == b ? std::nullopt : differ("buffers", a_[a].name, b_[b].name);
    const auto answer = buffers_.pair(a, b);
    if (answer == Pairing<BufferId>::Answer::Contradiction)
      return fmt::format("buffers `{}` and `{}` do not correspond", a_[a].name, b_[b].name);
    if (answer == Pairing<BufferId>::Answer::Known) return std::nullopt;
    const Difference found = storage(a_[a], b_[b]);
    return found ? fmt::format("buffer `{}`, {}", a_[a].name, *found) : found;
  }

  Difference storage(const Buffer& a, const Buffer& b) {
    if (a.dtype != b.dtype)
      return differ("element types", num::name_of(a.dtype), num::name_of(b.dtype));
    if (a.scope != b.scope) return differ("scopes", name_of(a.scope), name_of(b.scope));
    WW_DIFFER(expr_lists("shape", a.shape, b.shape));
    // Flat and row-major are one thing in one dimension, and print alike.
    const bool both_plain =
        a.layout_kind != LayoutKind::Explicit && b.layout_kind != LayoutKind::Explicit;
    if (a.layout_kind != b.layout_kind && !(both_plain && a.shape.size() <= 1))
      return "kinds of layout";
    if (a.layout_kind == LayoutKind::Explicit && a.layout != b.layout) return "layouts";
    if (a.origin != b.origin) return "origins";
    if (a.align != b.align)
      return differ("alignment", std::to_string(a.align), std::to_string(b.align));
    if (a.is_scalar != b.is_scalar) return differ("a scalar", flag(a.is_scalar), flag(b.is_scalar));
    if (a.is_annotation != b.is_annotation)
      return differ("annotated", flag(a.is_annotation), flag(b.is_annotation));
    WW_DIFFER(vars(a.param, b.param));
    WW_DIFFER(buffers(a.base, b.base));
    WW_DIFFER(expr("pointer", a.pointer, b.pointer));
    WW_DIFFER(expr_or("elem_offset", a.elem_offset, b.elem_offset, 0));
    WW_DIFFER(expr_or("byte_offset", a.byte_offset, b.byte_offset, 0));
    return expr("allocated_addr", a.allocated_addr, b.allocated_addr);
  }

  // In any order: printing moves some of them.
  Difference settings(std::string_view what, const Settings& a, const Settings& b) {
    const auto sorted = [](const Settings& list) {
      std::vector<const std::pair<std::string, Setting>*> out;
      for (const auto& item : list) out.push_back(&item);
      std::ranges::stable_sort(out, {}, [](const auto* item) { return item->first; });
      return out;
    };
    const auto left = sorted(a);
    const auto right = sorted(b);
    for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
      if (left[i]->first != right[i]->first) return differ(what, left[i]->first, right[i]->first);
      if (!equal_settings(left[i]->second, right[i]->second))
        return fmt::format("{}: values of `{}`", what, left[i]->first);
    }
    return count_differ(fmt::format("number of {}", what), left.size(), right.size());
  }

  Difference tile_calls(const TileCall& a, const TileCall& b) {
    if (a.op != b.op) return differ("operation", name_of(a.op), name_of(b.op));
    if (a.scope != b.scope) return differ("scope", name_of(a.scope), name_of(b.scope));
    if (a.dispatch != b.dispatch) return differ("dispatch", a.dispatch, b.dispatch);
    const std::vector<TileParam>& params = params_of(a.op);
    for (std::size_t i = 0; i < params.size(); ++i) {
      Difference found =
          tile_args(given_or_default(a.args[i], params[i]), given_or_default(b.args[i], params[i]));
      if (found) return fmt::format("argument `{}`, {}", params[i].name, *found);
    }
    WW_DIFFER(settings("configuration", a.config, b.config));
    if (a.workspace.size() != b.workspace.size()) return "workspaces";
    for (std::size_t i = 0; i < a.workspace.size(); ++i) {
      if (a.workspace[i].first != b.workspace[i].first)
        return differ("workspace", a.workspace[i].first, b.workspace[i].first);
      WW_DIFFER(buffers(a.workspace[i].second, b.workspace[i].second));
    }
    return std::nullopt;
  }

  Difference tile_args(const TileArg& a, const TileArg& b) {
    if (a.index() != b.index()) return "of different kinds";
    if (const auto* region = std::get_if<Region>(&a)) return regions(*region, std::get<Region>(b));
    if (const auto* id = std::get_if<ExprId>(&a)) return expr("value", *id, std::get<ExprId>(b));
    const auto* setting = std::get_if<Setting>(&a);
    if (setting != nullptr && !equal_settings(*setting, std::get<Setting>(b))) return "values";
    return std::nullopt;
  }

  Difference regions(const Region& a, const Region& b) {
    WW_DIFFER(buffers(a.buffer, b.buffer));
    WW_DIFFER(count_differ("rank", a.ranges.size(), b.ranges.size()));
    for (std::size_t i = 0; i < a.ranges.size(); ++i) {
      WW_DIFFER(expr("start", a.ranges[i].min, b.ranges[i].min));
      WW_DIFFER(expr("extent", a.ranges[i].extent, b.ranges[i].extent));
    }
    return std::nullopt;
  }

  Difference ptx_calls(const PtxCall& a, const PtxCall& b) {
    if (a.opcode != b.opcode) return differ("opcode", a.opcode.text(), b.opcode.text());
    if (a.keep != b.keep) return differ("keep", flag(a.keep), flag(b.keep));
    WW_DIFFER(expr("predicate", a.predicate, b.predicate));
    WW_DIFFER(count_differ("number of operands", a.operands.size(), b.operands.size()));
    for (std::size_t i = 0; i < a.operands.size(); ++i) {
      const std::string what = fmt::format("operand {}", i);
      if (a.operands[i].kind != b.operands[i].kind) return what + ": of different kinds";
      WW_DIFFER(expr(what, a.operands[i].expr, b.operands[i].expr));
      WW_DIFFER(expr_or(what + ", offset", a.operands[i].offset, b.operands[i].offset, 0));
    }
    return std::nullopt;
  }

  Difference expr(std::string_view what, ExprId a, ExprId b) {
    if (!a.valid() && !b.valid()) return std::nullopt;
    if (a.valid() && b.valid() && exprs(a, b)) return std::nullopt;
    const std::string left = text(a_, a);
    const std::string right = text(b_, b);
    if (left != right) return differ(what, left, right);
    return fmt::format("{}: two `{}` that differ in a type or a name's meaning", what, left);
  }

  // A missing expression stands for the constant `without`.
  Difference expr_or(std::string_view what, ExprId a, ExprId b, std::int64_t without) {
    if (!a.valid() && b.valid() && const_int(b_, b) == without) return std::nullopt;
    if (a.valid() && !b.valid() && const_int(a_, a) == without) return std::nullopt;
    return expr(what, a, b);
  }

  template <typename List>
  Difference expr_lists(std::string_view what, const List& a, const List& b) {
    WW_DIFFER(count_differ(fmt::format("length of {}", what), a.size(), b.size()));
    for (std::size_t i = 0; i < a.size(); ++i)
      WW_DIFFER(expr(fmt::format("{}[{}]", what, i), a[i], b[i]));
    return std::nullopt;
  }

  bool equal_settings(const Setting& a, const Setting& b) {
    if (a.index() != b.index()) return false;
    if (const ExprId* id = std::get_if<ExprId>(&a)) return exprs(*id, std::get<ExprId>(b));
    return a == b;
  }

  bool leaves(const Expr& a, const Expr& b) {
    switch (a.op) {
      case ExprOp::IntImm:
        return a.integer == b.integer;
      case ExprOp::FloatImm:
        return std::bit_cast<std::uint64_t>(a.real) == std::bit_cast<std::uint64_t>(b.real);
      case ExprOp::TextImm:
        return a_.texts[a.text] == b_.texts[b.text];
      case ExprOp::Var:
        return !vars(a.var, b.var);
      case ExprOp::Load:
      case ExprOp::AddressOf:
      case ExprOp::BufferData:
        return !buffers(a.buffer, b.buffer);
      case ExprOp::Call:
        return a.callee == b.callee;
      default:
        return true;
    }
  }

  std::string text(const Function& f, ExprId id) const {
    return id.valid() ? print(f, id) : "nothing";
  }

  const Function& a_;
  const Function& b_;
  Pairing<VarId> vars_;
  Pairing<BufferId> buffers_;
  std::set<std::pair<ExprId, ExprId>> equal_;
};

#undef WW_DIFFER

}  // namespace

std::optional<std::string> difference(const Function& a, const Function& b) {
  return Comparison(a, b).functions();
}

bool same(const Function& f, ExprId a, ExprId b) {
  Comparison comparison(f, f);
  comparison.is_identity = true;
  return comparison.exprs(a, b);
}

}  // namespace ww::ir
