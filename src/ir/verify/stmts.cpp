// SPDX-License-Identifier: Apache-2.0
// Statements: the types of what they hold, where jumps stand, and which level they belong to.
#include "ir/verify/verifier.h"

namespace ww::ir::verifying {
namespace {

class StmtCheck {
 public:
  explicit StmtCheck(Context& c) : c_(c), f_(c.f) {}

  void block(const Block& block) {
    for (const StmtId id : block) stmt(f_[id]);
  }

 private:
  void stmt(const Stmt& s) {
    check_level(s);
    check_parts(s);
    const bool is_loop = s.kind == StmtKind::For || s.kind == StmtKind::While;
    if (is_loop) ++loops_;
    block(s.body);
    block(s.other);
    if (is_loop) --loops_;
  }

  void check_parts(const Stmt& s) {
    switch (s.kind) {
      case StmtKind::Bind:
        if (f_[s.var].type != f_[s.expr].type)
          bad_type(s, "`{}` has type `{}`, its value `{}`", f_[s.var].name, to_text(f_[s.var].type),
                   to_text(f_[s.expr].type));
        break;
      case StmtKind::Store:
        return check_store(s);
      case StmtKind::For:
        return check_loop(s);
      case StmtKind::While:
      case StmtKind::If:
      case StmtKind::Assert:
        if (f_[s.expr].type != Type::of(num::DType::Bool))
          bad_type(s, "the condition has type `{}`, expected `bool`", to_text(f_[s.expr].type));
        break;
      case StmtKind::Break:
      case StmtKind::Continue:
        if (loops_ == 0)
          c_.report(DiagKind::BrokenIr, s.span, "`{}` stands in no loop",
                    s.kind == StmtKind::Break ? "break" : "continue");
        break;
      case StmtKind::ScopeIds:
      case StmtKind::LaunchThread:
        for (const ExprId extent : s.args) {
          if (extent.valid() && !is_index(f_[extent].type))
            bad_type(s, "an extent has type `{}`, expected an integer", to_text(f_[extent].type));
        }
        break;
      default:
        break;
    }
  }

  static bool is_index(Type type) { return type.is_int() && type.is_scalar(); }

  template <typename... Args>
  void bad_type(const Stmt& s, fmt::format_string<Args...> format, Args&&... args) {
    c_.report(DiagKind::BadType, s.span, format, std::forward<Args>(args)...);
  }

  void check_store(const Stmt& s) {
    const Type value = f_[s.expr].type;
    const Buffer& buffer = f_[s.buffer];
    const std::uint16_t by_vector = s.args.empty() ? 1 : f_[s.args.back()].type.lanes;
    check_access(c_, s.buffer, s.args, by_vector > 1 ? 1 : value.lanes, s.span);
    const Type wanted = Type::of(buffer.dtype, by_vector > 1 ? by_vector : value.lanes);
    if (value != wanted)
      c_.report(DiagKind::BadType, s.span, buffer, "`{}` is stored into `{}`, which has `{}`",
                to_text(value), buffer.name, to_text(wanted));
  }

  void check_loop(const Stmt& s) {
    const Type type = f_[s.var].type;
    if (!is_index(type))
      bad_type(s, "loop variable `{}` has type `{}`, expected an integer", f_[s.var].name,
               to_text(type));
    for (const ExprId arg : s.args) {
      if (f_[arg].type != type)
        bad_type(s, "a bound of `{}` has type `{}`, the variable `{}`", f_[s.var].name,
                 to_text(f_[arg].type), to_text(type));
    }
    if (s.args.size() > 2) {
      const std::optional<std::int64_t> step = const_int(f_, s.args[2]);
      if (!step || *step < 1)
        c_.report(DiagKind::BadArgument, s.span,
                  "the step of `{}` is {}, expected a constant from 1", f_[s.var].name,
                  step ? std::to_string(*step) : "not constant");
    }
    const bool is_expanded = s.loop == LoopKind::Unroll || s.loop == LoopKind::Vectorized;
    if (is_expanded && !const_int(f_, s.args[1]))
      c_.report(DiagKind::NeedsConstant, s.span,
                "the extent of the `{}` loop over `{}` is not constant", name_of(s.loop),
                f_[s.var].name);
  }

  // What belongs to the other level.
  void check_level(const Stmt& s) {
    if (f_.level == Level::Tile) {
      if (s.kind == StmtKind::LaunchThread)
        c_.report(DiagKind::BrokenIr, s.span, "launch variable `{}` in a tile program",
                  f_[s.var].name);
      return;
    }
    if (s.kind == StmtKind::Tile)
      c_.report(DiagKind::BrokenIr, s.span, "tile call `{}` in a lowered program",
                name_of(f_[s.tile].op));
    if (s.kind == StmtKind::ScopeIds) {
      c_.report(DiagKind::BrokenIr, s.span, "scope id `{}` in a lowered program",
                facts_of(s.scope_id).name);
      c_.findings.back().notes.push_back(
          {"`T.launch_thread` makes it a lowered one, without tile calls and layouts; a tile "
           "program has `T.cta_id` and `T.thread_id` only",
           {}});
    }
    const bool has_buffer = s.kind == StmtKind::Alloc || s.kind == StmtKind::Declare;
    if (has_buffer && f_[s.buffer].layout_kind == LayoutKind::Explicit)
      c_.report(DiagKind::BrokenIr, s.span, "buffer `{}` has a layout in a lowered program",
                f_[s.buffer].name);
  }

  Context& c_;
  const Function& f_;
  int loops_ = 0;
};

}  // namespace

void check_stmts(Context& c) {
  for (const Param& param : c.f.params) {
    if (c.f.level == Level::Lowered && param.buffer.valid() &&
        c.f[param.buffer].layout_kind == LayoutKind::Explicit)
      c.report(DiagKind::BrokenIr, c.f[param.buffer].span,
               "buffer `{}` has a layout in a lowered program", c.f[param.buffer].name);
  }
  StmtCheck check(c);
  check.block(c.f.host);
  check.block(c.f.body);
}

}  // namespace ww::ir::verifying
