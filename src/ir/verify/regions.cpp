// SPDX-License-Identifier: Apache-2.0
// Regions of tile calls that leave their buffer for some CTA, thread and round of the launch.
//
// What is computed from ids and constant loops is evaluated, exactly, for ids and rounds that bring
// the call about: every condition around it is evaluated as well. Where something is known at run
// time only (a parameter, memory), or a `return`, `break` or `while` decides whether the call is
// made, the evaluator finds it in a run. Of many ids the first and last are tried.

#include <algorithm>
#include <map>

#include "base/join.h"
#include "ir/launch/thread_values.h"
#include "ir/settings.h"
#include "ir/simplify/fold.h"
#include "ir/verify/verifier.h"
#include "ir/visit.h"

namespace ww::ir::verifying {
namespace {

constexpr int kDeepest = 100;                // expressions inside each other
constexpr std::int64_t kMaxSteps = 1 << 20;  // nodes that are evaluated for one function
constexpr std::int64_t kMaxCases = 4096;     // ids and rounds for one call
constexpr std::int64_t kAllOf = 8;           // so many ids are all tried

/// The ids or rounds to try, of 0 to before `count`.
std::vector<std::int64_t> tried(std::int64_t count) {
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < count; ++i)
    if (i < kAllOf / 2 || i >= count - kAllOf / 2) {
      out.push_back(i);
    } else {
      i = count - kAllOf / 2 - 1;
    }
  return out;
}

/// What the expressions of a function are in one question: by ExprId, with the question's number.
struct Answers {
  struct Row {
    std::uint64_t question = 0;
    std::optional<std::int64_t> value = {};
  };
  std::vector<Row> rows;
  std::uint64_t question = 0;
};

/// One thread of one CTA in one round of the loops around a call.
class Case {
 public:
  Case(const Function& f, const LaunchShape& shape, const Definitions& definitions,
       Answers& answers, std::int64_t& steps)
      : f_(f), shape_(shape), definitions_(definitions), answers_(answers), steps_(steps) {
    for (std::size_t d = 0; d < 3; ++d)
      grid_[d] = shape.grid[d].is_constant() ? shape.grid[d].value : 0;
  }

  ThreadPlace place;
  std::map<std::uint32_t, std::int64_t> loops = {};  // by VarId
  std::map<std::uint32_t, std::int64_t> used = {};   // ids and loop variables that were asked for

  /// Nothing: it is known at run time only.
  std::optional<std::int64_t> of(ExprId expr) {
    ++answers_.question;
    return value(expr, 0);
  }

 private:
  using KnownInt = std::optional<std::int64_t>;

  KnownInt value(ExprId id, int depth) {
    if (!id.valid() || depth > kDeepest || ++steps_ > kMaxSteps) return std::nullopt;
    Answers::Row& row = answers_.rows[id.index];
    if (row.question == answers_.question) return row.value;
    const Type type = f_[id].type;
    const bool is_whole = type.is_scalar() && (type.is_int() || type.is_bool());
    KnownInt out = is_whole ? computed(f_[id], id, depth) : std::nullopt;
    // What overflows is another mistake than a region that leaves its buffer.
    if (out && wrap(type.dtype, *out) != *out) out = std::nullopt;
    row = {answers_.question, out};
    return out;
  }

  KnownInt computed(const Expr& e, ExprId id, int depth) {
    const auto arg = [&](std::size_t i) { return value(e.args[i], depth + 1); };
    switch (e.op) {
      case ExprOp::IntImm:
        return e.integer;
      case ExprOp::Var:
        return variable(e.var, depth);
      case ExprOp::Load:
        return value(definition_of(f_, definitions_, id).value, depth + 1);
      case ExprOp::Cast:
        return arg(0);
      case ExprOp::Neg:
      case ExprOp::BitNot:
      case ExprOp::Not: {
        const KnownInt a = arg(0);
        if (!a) return a;
        return e.op == ExprOp::Neg ? -*a : e.op == ExprOp::Not ? (*a == 0 ? 1 : 0) : ~*a;
      }
      case ExprOp::And:
      case ExprOp::Or: {
        const KnownInt a = arg(0);
        if (!a || (*a != 0) == (e.op == ExprOp::Or)) return a;
        return arg(1);
      }
      case ExprOp::Select:
      case ExprOp::IfThenElse: {
        const KnownInt test = arg(0);
        return test ? arg(*test != 0 ? 1 : 2) : test;
      }
      default:
        break;
    }
    if (e.args.size() != 2 || e.op == ExprOp::Call) return std::nullopt;
    const KnownInt a = arg(0), b = arg(1);
    return a && b ? int_result(e.op, *a, *b, f_[e.args[0]].type) : std::nullopt;
  }

  KnownInt variable(VarId var, int depth) {
    if (const auto loop = loops.find(var.index); loop != loops.end()) return use(var, loop->second);
    if (f_[var].kind == VarKind::Let) return value(definitions_.lets[var.index].value, depth + 1);
    if (f_[var].kind != VarKind::ScopeId) return std::nullopt;
    const IdBinding& binding = definitions_.ids[var.index];
    const bool has_grid = std::find(grid_.begin(), grid_.end(), 0) == grid_.end();
    if (!binding.stmt.valid() || !has_grid) return std::nullopt;
    const Stmt& s = f_[binding.stmt];
    return use(var, scope_id_value(shape_, s.scope_id, binding.dim, s.vars.size(), grid_, place));
  }

  std::int64_t use(VarId var, std::int64_t value) {
    used.emplace(var.index, value);
    return value;
  }

  const Function& f_;
  const LaunchShape& shape_;
  const Definitions& definitions_;
  Answers& answers_;
  std::int64_t& steps_;
  std::array<std::int64_t, 3> grid_{};
};

/// What a statement stands in, from outside: an arm of a condition, or a loop.
struct Around {
  ExprId condition = {};  // of an `if`
  bool holds = true;      // in that arm
  StmtId loop = {};
};

class RegionCheck {
 public:
  RegionCheck(Context& c, const LaunchShape& shape)
      : c_(c), f_(c.f), shape_(shape), definitions_(definitions_of(c.f)) {
    answers_.rows.resize(c.f.expr_count());
  }

  void block(const Block& block) {
    for (const StmtId id : block) {
      const Stmt& s = f_[id];
      if (leaves(s)) is_left_ = true;
      if (is_left_ || steps_ > kMaxSteps) return;
      if (s.kind == StmtKind::Tile) call(f_[s.tile], s.span);
      const auto leaves_it = [&](const Stmt& each) { return leaves(each); };
      if (s.kind == StmtKind::While ||
          (s.kind == StmtKind::For && any_stmt(f_, s.body, leaves_it))) {
        is_left_ = any_stmt(f_, s.body, [&](const Stmt& each) { return ends(each); });
        continue;
      }
      const bool is_if = s.kind == StmtKind::If;
      inside(
          {.condition = is_if ? s.expr : ExprId{}, .loop = s.kind == StmtKind::For ? id : StmtId{}},
          s.body);
      inside({.condition = s.expr, .holds = false}, s.other);
    }
  }

 private:
  // The thread, or the loop.
  bool ends(const Stmt& s) const {
    if (s.kind != StmtKind::Ptx) return s.kind == StmtKind::Return;
    const isa::Mnemonic called = f_[s.ptx].opcode.mnemonic();
    return called == "exit" || called == "trap";
  }
  bool leaves(const Stmt& s) const { return ends(s) || s.is_jump(); }
  void inside(Around around, const Block& body) {
    if (body.empty()) return;
    around_.push_back(around);
    block(body);
    around_.pop_back();
  }

  // --- one call ---

  void call(const TileCall& call, Span span) {
    const CopySettings settings = copy_settings(call);
    predicate_ = {};
    if (settings.predicate != nullptr) {
      const bool* flag = std::get_if<bool>(settings.predicate);
      if (flag != nullptr && !*flag) return;
      if (const auto* expr = std::get_if<ExprId>(settings.predicate)) predicate_ = *expr;
    }
    call_ = &call;
    span_ = span;
    bool is_constant = true;
    for (const Region* region : staying_regions())
      for (const RangeExpr& range : region->ranges)
        is_constant = is_constant && const_int(f_, range.min);
    if (!is_constant) try_all();
  }

  // The regions that may not leave their buffers.
  std::vector<const Region*> staying_regions() const {
    const CopySettings settings = copy_settings(*call_);
    std::vector<const Region*> out;
    for (std::size_t i = 0; i < call_->args.size(); ++i)
      if (const auto* region = std::get_if<Region>(&call_->args[i]);
          region != nullptr && !settings.may_leave(i))
        out.push_back(region);
    return out;
  }

  std::size_t unit_threads() const {
    switch (call_->scope) {
      case Unit::Thread:
        return 1;
      case Unit::Warp:
        return 32;
      case Unit::Warpgroup:
        return 128;
      default:
        return static_cast<std::size_t>(shape_.threads());
    }
  }

  void try_all() {
    cases_ = 0;
    is_reported_ = false;
    const auto units = (shape_.threads() + static_cast<std::int64_t>(unit_threads()) - 1) /
                       static_cast<std::int64_t>(unit_threads());
    std::array<std::vector<std::int64_t>, 3> grid;
    for (std::size_t d = 0; d < 3; ++d)
      grid[d] = tried(shape_.grid[d].is_constant() ? shape_.grid[d].value : 1);
    for (const std::int64_t z : grid[2])
      for (const std::int64_t y : grid[1])
        for (const std::int64_t x : grid[0])
          for (const std::int64_t unit : tried(units)) {
            Case at(f_, shape_, definitions_, answers_, steps_);
            at.place = {unit * static_cast<std::int64_t>(unit_threads()), {x, y, z}};
            if (!descend(at, 0)) return;
          }
  }

  // Through what the call stands in, from `level` on; false when there is no more to be found.
  bool descend(Case& at, std::size_t level) {
    if (level == around_.size()) return look(at);
    const Around& around = around_[level];
    if (around.condition.valid()) {
      const auto holds = at.of(around.condition);
      if (!holds) return false;
      return (*holds != 0) == around.holds ? descend(at, level + 1) : true;
    }
    if (!around.loop.valid()) return descend(at, level + 1);
    const Stmt& loop = f_[around.loop];
    if (loop.loop == LoopKind::ThreadBinding) return false;
    const auto begin = at.of(loop.first());
    const auto count = at.of(loop.trips());
    if (!begin || !count) return false;
    for (const std::int64_t round : tried(*count)) {
      at.loops[loop.var.index] = *begin + round * step_of(f_, loop);
      if (!descend(at, level + 1)) return false;
    }
    at.loops.erase(loop.var.index);
    return true;
  }

  bool look(Case& at) {
    if (predicate_.valid()) {
      const auto holds = at.of(predicate_);
      if (!holds) return false;
      if (*holds == 0) return true;
    }
    bool is_known = false;
    for (const Region* region : staying_regions())
      for (std::size_t d = 0; d < region->ranges.size() && !is_reported_; ++d)
        is_known = look(at, *region, d) || is_known;
    return is_known && !is_reported_ && ++cases_ < kMaxCases && steps_ <= kMaxSteps;
  }

  // Is the range known? It is reported where it leaves its buffer.
  bool look(Case& at, const Region& region, std::size_t d) {
    at.used.clear();
    const auto min = at.of(region.ranges[d].min);
    const auto count = const_int(f_, region.ranges[d].extent);
    const auto whole = const_int(f_, f_[region.buffer].shape[d]);
    if (!min || !count || !whole) return false;
    if (*min < 0 || *min + *count > *whole) report(at, region, d, *min, *count, *whole);
    return true;
  }

  void report(const Case& at, const Region& region, std::size_t d, std::int64_t min,
              std::int64_t count, std::int64_t whole) {
    is_reported_ = true;
    std::vector<std::string> where;
    for (const auto& [var, value] : at.used)
      where.push_back(fmt::format("{} = {}", f_[VarId{var}].name, value));
    const Buffer& buffer = f_[region.buffer];
    c_.report(DiagKind::OutOfBounds, region.span.known ? region.span : span_, buffer,
              "a region takes {} from {} in dimension {} of `{}`, which has extent {}{}{}", count,
              min, d, buffer.name, whole, where.empty() ? "" : ", where ", join(where, ", "));
    const bool is_side = &region != copy_settings(*call_).predicate_tile;
    if (is_side && (call_->op == TileOp::Copy || call_->op == TileOp::CopyAsync))
      c_.findings.back().notes.push_back(
          {&region == std::get_if<Region>(&call_->args[0])
               ? "with `clip=True` a copy writes nothing outside its destination"
               : "with `fill_value=0` zeros arrive for what lies outside the source",
           {}});
  }

  Context& c_;
  const Function& f_;
  const LaunchShape& shape_;
  Definitions definitions_;
  Answers answers_;
  std::vector<Around> around_;
  bool is_left_ = false;  // what follows may not be reached
  std::int64_t steps_ = 0;

  const TileCall* call_ = nullptr;
  Span span_;
  ExprId predicate_;
  std::int64_t cases_ = 0;
  bool is_reported_ = false;
};

}  // namespace

void check_regions(Context& c, const LaunchShape& shape) { RegionCheck(c, shape).block(c.f.body); }

}  // namespace ww::ir::verifying
