// SPDX-License-Identifier: Apache-2.0
// Tile calls: kinds of arguments, regions, shapes and element types that must agree.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/suggest.h"
#include "ir/elementwise.h"
#include "ir/equal.h"
#include "ir/gemm_factors.h"
#include "ir/print/printer.h"
#include "ir/settings.h"
#include "ir/verify/verifier.h"
#include "ir/visit.h"

namespace ww::ir::verifying {
namespace {

using Extents = std::vector<ExprId>;

/// Tile ops by what they ask of their operands.
bool is_copy(TileOp op) {
  return op == TileOp::Copy || op == TileOp::CopyAsync || op == TileOp::PermuteLayout;
}
bool is_reduction(TileOp op) { return op == TileOp::Sum || op == TileOp::Max || op == TileOp::Min; }
bool is_elementwise(TileOp op) {
  return !is_copy(op) && !is_reduction(op) && op != TileOp::Gemm && op != TileOp::GemmAsync;
}

class TileCheck {
 public:
  TileCheck(Context& c, const TileCall& call, Span span)
      : c_(c), f_(c.f), call_(call), params_(params_of(call.op)), span_(span) {}

  void run() {
    if (call_.scope == Unit::Pair || call_.scope == Unit::Kernel)
      bad("`{}` at {} scope, expected thread, warp, warpgroup, cta or cluster", name(),
          name_of(call_.scope));
    bool is_sound = true;
    for (std::size_t i = 0; i < params_.size(); ++i) is_sound = check_arg(i) && is_sound;
    if (is_sound) check_together();
  }

 private:
  [[nodiscard]] std::string_view name() const { return name_of(call_.op); }

  template <typename... Args>
  bool bad(fmt::format_string<Args...> format, Args&&... args) {
    c_.report(DiagKind::BadTileCall, span_, format, std::forward<Args>(args)...);
    return false;
  }

  // --- one argument ---

  bool check_arg(std::size_t i) {
    const TileArg& arg = call_.args[i];
    const TileParam& param = params_[i];
    if (std::holds_alternative<std::monostate>(arg))
      return !param.required || bad("`{}` lacks its argument `{}`", name(), param.name);
    if (const auto* region = std::get_if<Region>(&arg)) {
      return takes_region(param) ? check_region(*region, copy_settings(call_).fills)
                                 : wrong(param, "a region");
    }
    if (const auto* id = std::get_if<ExprId>(&arg)) return check_scalar(param, *id);
    const Setting& setting = std::get<Setting>(arg);
    if (const auto* id = std::get_if<ExprId>(&setting)) return check_scalar(param, *id);
    return takes_constant(param, setting) || wrong(param, "a constant of another kind");
  }

  bool wrong(const TileParam& param, std::string_view seen) {
    return bad("argument `{}` of `{}` is {}, expected {}", param.name, name(), seen, wanted(param));
  }

  static std::string_view wanted(const TileParam& param) {
    switch (param.kind) {
      case TileParamKind::Region:
        return "a region of a buffer";
      case TileParamKind::RegionOrScalar:
        return "a region of a buffer or a scalar";
      case TileParamKind::Scalar:
        return "a scalar";
      case TileParamKind::Bool:
        return "`True` or `False`";
      case TileParamKind::Float:
        return "a number";
      case TileParamKind::Int:
        return "an integer";
    }
    return "";
  }

  static bool takes_region(const TileParam& param) {
    return param.kind == TileParamKind::Region || param.kind == TileParamKind::RegionOrScalar;
  }

  static bool takes_constant(const TileParam& param, const Setting& setting) {
    const bool is_bool = std::holds_alternative<bool>(setting);
    const bool is_int = std::holds_alternative<std::int64_t>(setting);
    const bool is_number = is_int || std::holds_alternative<double>(setting);
    switch (param.kind) {
      case TileParamKind::Region:
        return false;
      case TileParamKind::RegionOrScalar:
      case TileParamKind::Scalar:
        return is_number || is_bool;
      case TileParamKind::Bool:
        return is_bool;
      case TileParamKind::Float:
        return is_number;
      case TileParamKind::Int:
        return is_int;
    }
    return false;
  }

  bool check_scalar(const TileParam& param, ExprId id) {
    const Type type = f_[id].type;
    if (param.kind == TileParamKind::Region) return wrong(param, "a scalar");
    const bool fits = param.kind == TileParamKind::Bool  ? type.is_bool()
                      : param.kind == TileParamKind::Int ? type.is_int()
                                                         : type.is_scalar();
    return fits || wrong(param, fmt::format("`{}`", to_text(type)));
  }

  // `may_leave`: the buffer.
  bool check_region(const Region& region, bool may_leave) {
    const Buffer& buffer = f_[region.buffer];
    const Span span = region.span.known ? region.span : span_;
    if (region.ranges.size() != buffer.shape.size()) {
      c_.report(DiagKind::RankMismatch, span, buffer, "a region with {} of `{}`, which has {}",
                counted(region.ranges.size(), "range", "ranges"), buffer.name,
                counted(buffer.shape.size(), "dimension", "dimensions"));
      return false;
    }
    bool good = true;
    for (std::size_t dim = 0; dim < region.ranges.size(); ++dim)
      good = check_range(region.ranges[dim], buffer, dim, span, may_leave) && good;
    return good;
  }

  bool check_range(const RangeExpr& range, const Buffer& buffer, std::size_t dim, Span span,
                   bool may_leave) {
    for (const ExprId id : {range.min, range.extent}) {
      const Type type = f_[id].type;
      if (type.is_int() && type.is_scalar()) continue;
      c_.report(DiagKind::BadType, span, buffer,
                "dimension {} of a region of `{}` has type `{}`, expected an integer", dim,
                buffer.name, to_text(type));
      return false;
    }
    const auto min = const_int(f_, range.min);
    const auto count = const_int(f_, range.extent);
    const auto extent = const_int(f_, buffer.shape[dim]);
    const bool is_empty = count && *count < 1;
    const bool leaves = !may_leave && ((min && *min < 0) ||
                                       (extent && count && min.value_or(0) + *count > *extent));
    if (!is_empty && !leaves) return true;
    c_.report(DiagKind::OutOfBounds, span, buffer,
              "a region takes {} in dimension {} of `{}`, which has extent {}",
              count ? fmt::format("{} from {}", *count, print(f_, range.min))
                    : fmt::format("elements from {}", *min),
              dim, buffer.name, extent ? std::to_string(*extent) : "?");
    return false;
  }

  // --- arguments together ---

  void check_together() {
    check_settings();
    if (is_copy(call_.op)) check_copy();
    if (call_.op == TileOp::Gemm) check_gemm();
    if (is_reduction(call_.op)) check_reduction();
    if (is_elementwise(call_.op)) check_elementwise();
  }

  [[nodiscard]] const Region* region(std::string_view param) const {
    for (std::size_t i = 0; i < params_.size(); ++i) {
      if (params_[i].name == param) return std::get_if<Region>(&call_.args[i]);
    }
    return nullptr;
  }
  [[nodiscard]] bool flag(std::string_view param) const {
    for (std::size_t i = 0; i < params_.size(); ++i) {
      if (params_[i].name == param) return is_true(call_.args[i]);
    }
    return false;
  }

  // Extents other than 1, which are those that matter.
  [[nodiscard]] Extents extents_of(const Region& region) const {
    Extents out;
    for (const RangeExpr& range : region.ranges) {
      if (const_int(f_, range.extent) != 1) out.push_back(range.extent);
    }
    return out;
  }
  // Are two extents known to differ? Those of run time get the benefit of the doubt.
  [[nodiscard]] bool differ(ExprId a, ExprId b) const {
    const auto left = const_int(f_, a);
    const auto right = const_int(f_, b);
    return left && right && *left != *right;
  }
  [[nodiscard]] bool differ(const Extents& a, const Extents& b) const {
    if (a.size() != b.size()) return true;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (differ(a[i], b[i])) return true;
    }
    return false;
  }
  [[nodiscard]] std::string text(const Region& region) const {
    Extents all;
    for (const RangeExpr& range : region.ranges) all.push_back(range.extent);
    return fmt::format("{} of `{}`", shape_text(f_, all), f_[region.buffer].name);
  }

  // The descriptor variants match bytes, not elements.
  [[nodiscard]] bool counts_bytes() const {
    return call_.op == TileOp::CopyAsync && call_.dispatch.starts_with("tma");
  }

  // --- settings ---

  void check_settings() {
    for (const auto& [key, setting] : call_.config) {
      const SettingFacts* facts = find_setting_facts(call_.op, key);
      if (facts == nullptr)
        report_unknown(key);
      else if (!takes(*facts, setting))
        bad("`{}` of `{}` is {}, expected {}", key, name(), text_of(setting), facts->wanted());
      else
        check_memories(*facts, setting);
    }
  }
  // What is given and means nothing here was meant for another call.
  void check_memories(const SettingFacts& facts, const Setting& setting) {
    const bool is_given = facts.words().empty() ? !is_false(setting) : !word_of(&setting).empty();
    const Region* dst = region("dst");
    const Region* src = region("src");
    const std::vector<std::string_view> wanted = facts.memory_pairs();
    if (wanted.empty() || !is_given || dst == nullptr || src == nullptr) return;
    const auto memory = [&](const Region& r) {
      const Scope scope = f_[r.buffer].scope;
      return name_of(is_shared(scope) ? Scope::Shared : scope);
    };
    const std::string seen = fmt::format("{} to {}", memory(*src), memory(*dst));
    if (std::ranges::find(wanted, seen) != wanted.end()) return;
    bad("`{}` of `{}` is for {} memory, this is {}", facts.name, name(), fmt::join(wanted, " or "),
        seen);
  }
  static bool is_false(const Setting& setting) {
    const bool* flag = std::get_if<bool>(&setting);
    return flag != nullptr && !*flag;
  }
  void report_unknown(const std::string& key) {
    const std::vector<std::string_view> known = settings_of(call_.op);
    c_.report(DiagKind::UnknownName, span_, "`{}` has no setting `{}`{}", name(), key,
              did_you_mean(key, known));
    c_.findings.back().notes.push_back(
        {known.empty() ? fmt::format("`{}` has no settings", name())
                       : fmt::format("its settings: {}", fmt::join(known, ", ")),
         {}});
  }
  [[nodiscard]] bool takes(const SettingFacts& facts, const Setting& setting) const {
    if (facts.values == "condition") return is_condition(setting);
    if (facts.values == "flag") return std::holds_alternative<bool>(setting);
    const std::vector<std::string_view> words = facts.words();
    if (words.empty()) return true;
    const bool is_word = std::holds_alternative<std::string>(setting) ||
                         std::holds_alternative<std::int64_t>(setting);
    const std::string word = word_of(&setting);
    return is_word && (word.empty() || std::find(words.begin(), words.end(), word) != words.end());
  }
  [[nodiscard]] bool is_condition(const Setting& setting) const {
    if (const auto* id = std::get_if<ExprId>(&setting)) {
      const Type type = f_[*id].type;
      return type.is_scalar() && (type.is_bool() || type.is_int());
    }
    return std::holds_alternative<bool>(setting);
  }
  [[nodiscard]] std::string text_of(const Setting& setting) const {
    return fmt::format("`{}`", printing::setting(printing::Context(f_), setting));
  }

  void check_copy() {
    const Region& dst = *region("dst");
    const Region& src = *region("src");
    if (counts_bytes()) return;
    if (differ(extents_of(dst), extents_of(src)))
      bad("`{}` into {} from {}; the extents other than 1 differ", name(), text(dst), text(src));
    const bool by_width = call_.op == TileOp::CopyAsync && f_[dst.buffer].scope == Scope::Tmem;
    const num::DType to = f_[dst.buffer].dtype;
    const num::DType from = f_[src.buffer].dtype;
    if (!by_width || num::bits_of(to) != num::bits_of(from)) check_types(&dst, &src);
  }

  void check_types(const Region* a, const Region* b) {
    if (a == nullptr || b == nullptr) return;
    const Buffer& left = f_[a->buffer];
    const Buffer& right = f_[b->buffer];
    if (left.dtype != right.dtype)
      bad("`{}` with `{}` of `{}` and `{}` of `{}`, expected one element type", name(),
          num::name_of(left.dtype), left.name, num::name_of(right.dtype), right.name);
    if (left.dtype != right.dtype && is_copy(call_.op))
      c_.findings.back().notes.push_back({"`cast` changes the element type, in registers", {}});
  }

  [[nodiscard]] std::optional<std::int64_t> number(std::string_view param) const {
    for (std::size_t i = 0; i < params_.size(); ++i) {
      const auto* setting = std::get_if<Setting>(&call_.args[i]);
      const auto* value = setting == nullptr ? nullptr : std::get_if<std::int64_t>(setting);
      if (params_[i].name == param && value != nullptr) return *value;
    }
    return std::nullopt;
  }

  // The destination has the extents of the source but for the axis that is summed up.
  void check_reduction() {
    const Region& dst = *region("dst");
    const Region& src = *region("src");
    check_types(&dst, &src);
    const auto rank = static_cast<std::int64_t>(src.ranges.size());
    const std::int64_t axis = number("axes").value_or(-1);
    if (axis < -rank || axis >= rank) {
      bad("`{}` over axis {} of {}, which has {}", name(), axis, text(src),
          counted(src.ranges.size(), "axis", "axes"));
      return;
    }
    Region kept = src;
    kept.ranges.erase(kept.ranges.begin() + (axis < 0 ? axis + rank : axis));
    if (differ(extents_of(dst), extents_of(kept))) {
      bad("`{}` over axis {} of {} into {}; the other extents differ", name(), axis, text(src),
          text(dst));
      if (has_thread_axes(f_[src.buffer]))
        c_.findings.back().notes.push_back(
            {"`axes` names what is reduced, lanes included: it is not read off the layouts", {}});
    }
  }

  // Sources are stretched to the destination: aligned at the last dimension, 1 or equal.
  void check_elementwise() {
    const Region& dst = *region("dst");
    for (std::size_t i = 1; i < params_.size(); ++i) {
      const auto* src = std::get_if<Region>(&call_.args[i]);
      if (src != nullptr && !stretches(*src, dst))
        bad("`{}` of {} into {}, to which it does not stretch", name(), text(*src), text(dst));
    }
    check_conversions(dst);
  }
  // Only `cast` makes integers of floats; constants must be ones that their type holds.
  void check_conversions(const Region& dst) {
    const Buffer& buffer = f_[dst.buffer];
    const bool is_computed = computes(call_.op);
    const num::DType in = is_computed ? compute_type(f_, call_) : buffer.dtype;
    const bool is_cast = call_.op == TileOp::Cast;
    if (is_computed && num::is_float(in) && !num::is_float(buffer.dtype))
      return only_casts(buffer, fmt::format("computes in `{}`, and", num::name_of(in)));
    const std::vector<const TileArg*> all = operands_of(call_);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool is_condition = call_.op == TileOp::Select && i == 2;
      if (all[i] == nullptr || is_condition || is_cast) continue;
      if (const auto constant = constant_operand(f_, *all[i])) {
        // Integers wrap, so that what they are computed with may be written with or without a sign.
        const bool is_held = is_computed ? holds_bits(in, *constant) : holds(in, *constant);
        if (!is_held) not_held(in, *constant);
      } else if (const num::DType from = type_of(*all[i]);
                 num::is_float(from) && !num::is_float(in)) {
        only_casts(buffer, fmt::format("is given `{}`, and", num::name_of(from)));
      }
    }
  }
  void only_casts(const Buffer& dst, std::string_view what) {
    bad("`{}` {} `{}` holds `{}`", name(), what, dst.name, num::name_of(dst.dtype));
    c_.findings.back().notes.push_back(
        {"`cast` alone makes integers of floats: put the result into a tile of floats first", {}});
  }
  void not_held(num::DType type, const Constant& constant) {
    bad("`{}` with the constant {}, which `{}` does not hold", name(),
        num::is_float(constant.dtype) ? fmt::format("{}", constant.real)
                                      : int_text(constant.dtype, constant.integer),
        num::name_of(type));
  }
  [[nodiscard]] num::DType type_of(const TileArg& arg) const {
    if (const auto* region = std::get_if<Region>(&arg)) return f_[region->buffer].dtype;
    const auto* expr = std::get_if<ExprId>(&arg);
    const auto* setting = std::get_if<Setting>(&arg);
    if (expr == nullptr && setting != nullptr) expr = std::get_if<ExprId>(setting);
    return expr == nullptr ? num::DType::Bool : f_[*expr].type.dtype;
  }
  [[nodiscard]] bool stretches(const Region& src, const Region& dst) const {
    if (!differ(extents_of(src), extents_of(dst))) return true;
    const std::size_t n = src.ranges.size();
    for (std::size_t back = 1; back <= n; ++back) {
      const ExprId extent = src.ranges[n - back].extent;
      if (const_int(f_, extent) == 1) continue;
      if (back > dst.ranges.size()) return false;
      if (differ(extent, dst.ranges[dst.ranges.size() - back].extent)) return false;
    }
    return true;
  }

  // D[M,N] = A[M,K]·B[K,N] + C[M,N]
  void check_gemm() {
    const Region& d = *region("D");
    const Region& a = *region("A");
    const Region& b = *region("B");
    const Region& c = *region("C");
    if (!can_multiply(f_[a.buffer].dtype, f_[b.buffer].dtype)) check_types(&a, &b);
    check_types(&d, &c);
    check_factor("alpha", kGemmAlpha, f_[d.buffer].dtype);
    check_factor("beta", kGemmBeta, f_[d.buffer].dtype);
    Extents ed = extents_of(d);
    Extents ea = extents_of(a);
    Extents eb = extents_of(b);
    const Extents ec = extents_of(c);
    for (const Region* operand : {&d, &a, &b, &c}) {
      if (extents_of(*operand).size() == 2) continue;
      bad("`gemm` of {}, expected two extents other than 1", text(*operand));
      return;
    }
    if (flag("transpose_A")) std::swap(ea[0], ea[1]);
    if (flag("transpose_B")) std::swap(eb[0], eb[1]);
    if (differ(ea[1], eb[0]) || differ(ed[0], ea[0]) || differ(ed[1], eb[1]) || differ(ed, ec))
      bad("`gemm` of A {}, B {}, C {} into D {}, expected A (M, K), B (K, N), C and D (M, N){}",
          text(a), text(b), text(c), text(d),
          flag("transpose_A") || flag("transpose_B") ? " after transposing" : "");
  }
  void check_factor(std::string_view which, std::size_t argument, num::DType d) {
    const GemmFactor factor = gemm_factor(f_, call_.args[argument], 1);
    if (const auto fault = fault_of(f_, factor, which, d)) bad("{}", *fault);
  }

  Context& c_;
  const Function& f_;
  const TileCall& call_;
  const std::vector<TileParam>& params_;
  Span span_;
};

}  // namespace

void check_tile_calls(Context& c) {
  for_each_stmt(c.f, c.f.body, [&](StmtId id) {
    const Stmt& s = c.f[id];
    if (s.kind == StmtKind::Tile) TileCheck(c, c.f[s.tile], s.span).run();
  });
}

}  // namespace ww::ir::verifying
