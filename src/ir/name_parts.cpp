// SPDX-License-Identifier: Apache-2.0
#include "ir/name_parts.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "ir/build.h"
#include "ir/visit.h"

namespace ww::ir {
namespace {

// An expression is left alone unless it is deeper than kDeep, or written out has more than kLong
// nodes; the parts of others are named at kDeep operations inside each other, and at kRepeated
// nodes where they are used more than once. Printed text of kDeep operations can be read back.
constexpr std::uint32_t kDeep = 100;
constexpr std::uint64_t kLong = std::uint64_t{1} << 14U;
constexpr std::uint64_t kRepeated = 64;
constexpr std::uint64_t kEndless = std::uint64_t{1} << 62U;

bool is_leaf(const Expr& e) { return e.args.empty(); }

// Evaluated only where an operand before it says so.
bool is_conditional(const Expr& e, std::size_t arg) {
  const bool is_logic = (e.op == ExprOp::And || e.op == ExprOp::Or) && e.type.lanes == 1;
  return arg > 0 && (is_logic || e.op == ExprOp::IfThenElse);
}

// What computing an expression ahead of its statement would touch.
struct Touches {
  bool effects = false;
  bool memory = false;
  bool divides = false;  // by a number that may be 0
};

Touches own_touches(const Function& f, const Expr& e) {
  Touches out;
  out.memory = e.op == ExprOp::Load;
  if (e.op == ExprOp::Call) {
    const Effect effect = facts_of(e.callee).effect;
    out.memory = effect == Effect::Reads;
    out.effects = effect != Effect::Pure && effect != Effect::Reads;
  }
  const bool divides = e.op == ExprOp::FloorDiv || e.op == ExprOp::FloorMod ||
                       e.op == ExprOp::TruncDiv || e.op == ExprOp::TruncMod;
  out.divides = divides && const_int(f, e.args[1]).value_or(0) == 0;
  return out;
}

// What may be named in the expressions of a statement.
struct Place {
  bool may_read = true;         // memory holds the same before the statement
  bool is_conditional = false;  // the statement may do without the value
};

Place place_of(const Function& f, const Stmt& s) {
  switch (s.kind) {
    case StmtKind::While:  // evaluated in each round
    case StmtKind::Alloc:  // evaluated where the buffer is used
    case StmtKind::Declare:
      return {.may_read = false, .is_conditional = true};
    case StmtKind::Ptx:
      // Destinations are written as elements that are read.
      return {.may_read = false, .is_conditional = f[s.ptx].predicate.valid()};
    default:
      return {};
  }
}

bool is_launch(const Stmt& s) {
  return s.kind == StmtKind::ScopeIds || s.kind == StmtKind::LaunchThread;
}

class Namer {
 public:
  explicit Namer(Function& f) : f_(f), measures_(f) {}

  void run() {
    block(f_.host);
    block(f_.body);
  }

 private:
  void block(Block& list) {
    const std::size_t known = visible_.size();
    Block out;
    for (const StmtId id : list) {
      if (is_too_large(id)) name_in(id, out);
      out.push_back(id);
      for (Block* part : {&f_.at(id).body, &f_.at(id).other})
        if (!part->empty()) block(*part);
    }
    list = std::move(out);
    for (; visible_.size() > known; visible_.pop_back()) names_.erase(visible_.back());
  }

  [[nodiscard]] bool is_too_large(StmtId id) const {
    bool out = false, is_hopeless = false;
    // The launch is computed before the body, with what the body's names stand for.
    if (is_launch(f_[id])) return false;
    for_each_root(f_, f_[id], [&](ExprId root) {
      out = out || measures_.depth(root) > kDeep || measures_.written(root) > kLong;
      is_hopeless = is_hopeless || measures_.depth(root) > kMaxNamedDepth;
    });
    return out && !is_hopeless;
  }

  // One statement: its nodes in the order in which they were made, which is operands first.
  void name_in(StmtId id, Block& out) {
    collect(id);
    look_at_uses(id);
    look_at_touches(place_of(f_, f_[id]));
    for (std::size_t i = 0; i < nodes_.size(); ++i) settle(i, f_[id].span, out);
    map_roots(f_, id, [&](ExprId root) { return rows_[place(root)].now; });
  }

  void collect(StmtId id) {
    nodes_.clear();
    places_.clear();
    std::vector<ExprId> stack;
    for_each_root(f_, f_[id], [&](ExprId root) { stack.push_back(root); });
    while (!stack.empty()) {
      const ExprId next = stack.back();
      stack.pop_back();
      if (!places_.emplace(next.index, 0).second) continue;
      nodes_.push_back(next);
      for (const ExprId arg : f_[next].args) stack.push_back(arg);
    }
    std::sort(nodes_.begin(), nodes_.end());
    for (std::size_t i = 0; i < nodes_.size(); ++i) places_[nodes_[i].index] = i;
    rows_.assign(nodes_.size(), {});
  }

  [[nodiscard]] std::size_t place(ExprId id) const { return places_.at(id.index); }

  // How often each node is used, and whether the statement always evaluates it.
  void look_at_uses(StmtId id) {
    for_each_root(f_, f_[id], [&](ExprId root) {
      Row& row = rows_[place(root)];
      row.is_root = true;
      row.is_always = true;
      ++row.uses;
    });
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      const Expr& e = f_[nodes_[i]];
      for (std::size_t a = 0; a < e.args.size(); ++a) {
        Row& row = rows_[place(e.args[a])];
        ++row.uses;
        row.is_always = row.is_always || (rows_[i].is_always && !is_conditional(e, a));
      }
    }
  }

  void look_at_touches(Place where) {
    bool has_effects = false;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Expr& e = f_[nodes_[i]];
      Touches& all = rows_[i].touches;
      all = own_touches(f_, e);
      for (const ExprId arg : e.args) {
        const Touches& part = rows_[place(arg)].touches;
        all.effects = all.effects || part.effects;
        all.memory = all.memory || part.memory;
        all.divides = all.divides || part.divides;
      }
      has_effects = has_effects || all.effects;
    }
    for (Row& row : rows_) {
      const bool is_sure = row.is_always && !where.is_conditional;
      row.is_movable = !row.touches.effects && (!row.touches.divides || is_sure) &&
                       (!row.touches.memory || (is_sure && where.may_read && !has_effects));
    }
  }

  // The node with its parts replaced by names, and a name for itself where it is time for one.
  void settle(std::size_t i, Span span, Block& out) {
    Row& row = rows_[i];
    const ExprId id = nodes_[i];
    row.now = id;
    if (is_leaf(f_[id])) return;
    Expr e = f_[id];
    bool is_same = true;
    std::uint32_t depth = 0;
    std::uint64_t written = 1;
    for (ExprId& arg : e.args) {
      const Row& part = rows_[place(arg)];
      is_same = is_same && part.now == arg;
      arg = part.now;
      depth = std::max(depth, part.depth);
      written = std::min(kEndless, written + part.written);
    }
    row.depth = depth + 1;
    row.written = written;
    if (const auto known = names_.find(id.index); known != names_.end()) {
      row = {.now = var_ref(f_, known->second, e.span)};
      return;
    }
    const Type type = e.type;
    const Span where = e.span.known ? e.span : span;
    if (!is_same) row.now = f_.add(std::move(e));
    const bool is_time = row.depth >= kDeep || (row.uses > 1 && row.written > kRepeated);
    if (!is_time || row.is_root || !row.is_movable || !type.is_scalar()) return;
    bind(i, type, where, out);
  }

  void bind(std::size_t i, Type type, Span where, Block& out) {
    Row& row = rows_[i];
    const VarId var =
        f_.add(Var{.name = "part", .type = type, .kind = VarKind::Let, .span = where});
    out.push_back(f_.add(Stmt{.kind = StmtKind::Bind, .span = where, .expr = row.now, .var = var}));
    // Variables never change, so that the name holds for what follows; memory may.
    if (!row.touches.memory) {
      names_.emplace(nodes_[i].index, var);
      visible_.push_back(nodes_[i].index);
    }
    row.now = var_ref(f_, var, where);
    row.depth = 1;
    row.written = 1;
  }

  struct Row {
    ExprId now = {};  // what stands for the node
    std::uint32_t depth = 1;
    std::uint64_t written = 1;
    std::uint32_t uses = 0;
    bool is_root = false;
    bool is_always = false;
    bool is_movable = false;
    Touches touches = {};
  };

  Function& f_;
  Measures measures_;
  std::vector<ExprId> nodes_;  // of the statement at hand
  std::vector<Row> rows_;
  std::unordered_map<std::uint32_t, std::size_t> places_;  // of nodes in nodes_
  std::unordered_map<std::uint32_t, VarId> names_;         // by node: those of enclosing blocks
  std::vector<std::uint32_t> visible_;
};

Diag too_large(const Function& f, const Measures& measures, ExprId id, Span span) {
  const std::uint32_t depth = measures.depth(id);
  const std::uint64_t written = measures.written(id);
  const std::string_view way = "give a part of it a name: `x: T.let = …`";
  Diag out = depth > kMaxDepth
                 ? diag(DiagKind::Budget, "{} operations inside each other, expected at most {}",
                        depth, depth > kMaxNamedDepth ? kMaxNamedDepth : kMaxDepth)
                 : diag(DiagKind::Budget,
                        "an expression of {}{} operations when its shared parts are written out, "
                        "expected at most {}",
                        written == kEndless ? "more than " : "", written, kMaxWritten);
  return std::move(out).with_note(std::string(way)).with_span(f[id].span.known ? f[id].span : span);
}

}  // namespace

Measures::Measures(const Function& function, const std::vector<ExprId>& names) {
  depths_.reserve(function.expr_count());
  written_.reserve(function.expr_count());
  for (std::uint32_t i = 0; i < function.expr_count(); ++i) {
    std::uint32_t depth = 0;
    std::uint64_t written = 1;
    const auto add = [&](ExprId part) {
      depth = std::max(depth, depths_[part.index]);
      written = std::min(kEndless, written + written_[part.index]);
    };
    const Expr& e = function[ExprId{i}];
    for (const ExprId arg : e.args) add(arg);
    // A value is made before the name that stands for it.
    if (e.op == ExprOp::Var && e.var.index < names.size() && names[e.var.index].index < i)
      add(names[e.var.index]);
    depths_.push_back(depth + 1);
    written_.push_back(written);
  }
}

Result<void> check_measures(const Function& function) {
  std::optional<Diag> found;
  const auto check_in = [&](const Measures& measures, ExprId id, Span span) {
    if (!found && (measures.depth(id) > kMaxDepth || measures.written(id) > kMaxWritten))
      found = too_large(function, measures, id, span);
  };
  const Measures measures(function);
  const auto check = [&](ExprId id, Span span) { check_in(measures, id, span); };
  for (const Param& param : function.params)
    if (param.buffer.valid())
      for_each_root(function[param.buffer],
                    [&](ExprId id) { check(id, function[param.buffer].span); });
  for (const auto& [key, setting] : function.attrs)
    for_each_root(setting, [&](ExprId id) { check(id, {}); });
  std::vector<ExprId> names(function.var_count());
  std::vector<StmtId> launches;
  for_each_stmt(function, [&](StmtId id) {
    const Stmt& s = function[id];
    for_each_root(function, s, [&](ExprId root) { check(root, s.span); });
    if (s.kind == StmtKind::Bind) names[s.var.index] = s.expr;
    if (is_launch(s)) launches.push_back(id);
  });
  const Measures whole(function, names);
  for (const StmtId id : launches)
    for_each_root(function, function[id],
                  [&](ExprId root) { check_in(whole, root, function[id].span); });
  if (found) return fail(*std::move(found));
  return {};
}

Result<void> name_parts(Function& function) {
  Namer(function).run();
  return check_measures(function);
}

}  // namespace ww::ir
