// SPDX-License-Identifier: Apache-2.0
#include "property/kernels.h"
#include "ir/build.h"

namespace ww::test {
namespace {

using ir::Block;
using ir::ExprId;
using ir::ExprOp;
using ir::Function;
using ir::StmtId;
using ir::StmtKind;
using num::DType;

class Maker {
 public:
  /// `exact`: only what the analysis must know precisely.
  Maker(Program& p, Tape& tape, bool exact) : p_(p), f_(p.f), tape_(tape), exact_(exact) {}

  void program() {
    p_.threads = tape_.pick<std::int64_t>({64, 32, 128, 256});
    f_.has_device_entry = true;
    p_.param = f_.add(ir::Var{"n", ir::Type::of(DType::Int32), ir::VarKind::Param, {}});
    f_.params.push_back({p_.param, {}});
    p_.memory = global("A");
    p_.table = global("B");
    p_.cta = id(ir::ScopeIdKind::CtaId, "cta", kCtas);
    (void)id(ir::ScopeIdKind::CtaIdInCluster, "rank", std::int64_t{kClusterCtas});
    p_.cluster = id(ir::ScopeIdKind::ClusterId, "cluster", kCtas / kClusterCtas);
    p_.tid = id(ir::ScopeIdKind::ThreadId, "tid", p_.threads);
    p_.warp = id(ir::ScopeIdKind::WarpId, "warp", p_.threads / 32);
    p_.lane = id(ir::ScopeIdKind::LaneId, "lane", 32);
    known_ = {p_.tid, p_.lane, p_.warp};
    for (StmtId stmt : statements(3, 0)) f_.body.push_back(stmt);
    f_.body.push_back(marker());
    store(p_.memory, number(0), f_.body);
  }

 private:
  ir::BufferId global(const char* name) {
    const ir::VarId pointer = f_.add(ir::Var{name, ir::Type::handle(), ir::VarKind::Param, {}});
    f_.params.push_back({pointer, {}});
    ir::Buffer buffer;
    buffer.name = name;
    buffer.dtype = DType::Int32;
    buffer.shape = {number(1)};
    buffer.origin = ir::BufferOrigin::Param;
    buffer.param = pointer;
    return f_.add(std::move(buffer));
  }
  ExprId number(std::int64_t v) { return ir::int_imm(f_, DType::Int32, v); }
  ExprId two(ExprOp op, ExprId a, ExprId b) {
    const auto out = ir::binary(f_, op, {a, false}, {b, false});
    return out ? *out : a;
  }

  ir::VarId id(ir::ScopeIdKind kind, const char* name, std::int64_t extent) {
    const ir::VarId var =
        f_.add(ir::Var{name, ir::Type::of(DType::Int32), ir::VarKind::ScopeId, {}});
    ir::Stmt stmt{.kind = StmtKind::ScopeIds};
    stmt.scope_id = kind;
    stmt.vars = {var};
    stmt.args = {number(extent)};
    f_.body.push_back(f_.add(std::move(stmt)));
    return var;
  }

  StmtId marker() {
    ir::Stmt stmt{.kind = StmtKind::Evaluate};
    stmt.expr = number(0);
    return f_.add(std::move(stmt));
  }

  Block statements(int depth, int loops) {
    Block out{marker()};
    const std::size_t names = known_.size();
    const std::size_t others = unknown_.size();
    const std::size_t scalars = scalars_.size();
    const std::int64_t count = tape_.between(depth == 3 ? 1 : 0, 3);
    for (std::int64_t i = 0; i < count; ++i) {
      statement(depth, loops, out);
      out.push_back(marker());
    }
    known_.resize(names);
    unknown_.resize(others);
    scalars_.resize(scalars);
    return out;
  }

  void statement(int depth, int loops, Block& out) {
    const std::int64_t kind = depth == 0 ? tape_.below(3) : tape_.below(10);
    if (kind == 0) return;
    if (kind == 1) return let(out);
    if (kind == 2) return scalar(out);
    if (kind <= 6) return branch(depth, loops, out);
    if (kind == 7) return leave(loops, out);
    if (kind == 8 && !exact_) return repeat_while(depth, loops, out);
    counted(depth, loops, out);
  }

  void let(Block& out) {
    const ExprId value = integer(2);
    ir::Stmt stmt{.kind = StmtKind::Bind};
    stmt.var = f_.add(ir::Var{"x", ir::Type::of(DType::Int32), ir::VarKind::Let, {}});
    stmt.expr = value;
    (exact_ ? known_ : unknown_).push_back(stmt.var);
    out.push_back(f_.add(std::move(stmt)));
  }

  ir::BufferId one_element(Block& out) {
    ir::Buffer buffer;
    buffer.name = "s";
    buffer.dtype = DType::Int32;
    buffer.shape = {number(1)};
    buffer.scope = ir::Scope::Local;
    const ir::BufferId made = f_.add(std::move(buffer));
    ir::Stmt stmt{.kind = StmtKind::Alloc};
    stmt.buffer = made;
    out.push_back(f_.add(std::move(stmt)));
    return made;
  }
  void store(ir::BufferId buffer, ExprId value, Block& out) {
    ir::Stmt stmt{.kind = StmtKind::Store};
    stmt.buffer = buffer;
    stmt.expr = value;
    stmt.args = {number(0)};
    out.push_back(f_.add(std::move(stmt)));
  }
  ExprId load(ir::BufferId buffer) {
    const ExprId zero = number(0);
    return *ir::load(f_, buffer, std::span(&zero, 1));
  }

  // A scalar that is written once, or sometimes again later.
  void scalar(Block& out) {
    const ExprId value = integer(2);
    if (!exact_ && !scalars_.empty() && tape_.below(4) == 3)
      return store(tape_.pick(scalars_), value, out);
    const ir::BufferId buffer = one_element(out);
    store(buffer, value, out);
    scalars_.push_back(buffer);
  }

  void branch(int depth, int loops, Block& out) {
    ir::Stmt stmt{.kind = StmtKind::If};
    stmt.expr = condition(2);
    stmt.body = statements(depth - 1, loops);
    if (tape_.below(2) == 1) stmt.other = statements(depth - 1, loops);
    out.push_back(f_.add(std::move(stmt)));
  }

  void leave(int loops, Block& out) {
    const StmtKind kind = loops == 0 ? StmtKind::Return
                                     : tape_.pick<StmtKind>({StmtKind::Break, StmtKind::Continue,
                                                             StmtKind::Break, StmtKind::Return});
    if (exact_ && loops != 0) return;
    ir::Stmt arm{.kind = StmtKind::If};
    arm.expr = condition(2);
    arm.body = {marker(), f_.add(ir::Stmt{.kind = kind})};
    if (tape_.below(4) == 3) arm.body.push_back(marker());
    out.push_back(f_.add(std::move(arm)));
  }

  void counted(int depth, int loops, Block& out) {
    ir::Stmt stmt{.kind = StmtKind::For};
    stmt.args = {number(tape_.below(2)), exact_ ? number(tape_.between(1, 2)) : trips()};
    stmt.var = f_.add(ir::Var{"i", ir::Type::of(DType::Int32), ir::VarKind::Loop, {}});
    if (!exact_) unknown_.push_back(stmt.var);
    stmt.body = statements(depth - 1, loops + 1);
    if (!exact_) unknown_.pop_back();
    out.push_back(f_.add(std::move(stmt)));
  }
  ExprId trips() {
    if (tape_.below(2) == 0) return number(tape_.below(4));
    return two(ExprOp::FloorMod, integer(1), number(3));
  }

  // A loop over a counter of its own, so that it ends; `continue` may still make it endless.
  void repeat_while(int depth, int loops, Block& out) {
    const ir::BufferId counter = one_element(out);
    store(counter, number(0), out);
    ir::Stmt stmt{.kind = StmtKind::While};
    stmt.expr = two(ExprOp::Lt, load(counter), number(tape_.between(1, 3)));
    if (tape_.below(2) == 1) {
      const ExprId more = condition(1);
      stmt.expr = two(ExprOp::And, stmt.expr, more);
    }
    stmt.body = statements(depth - 1, loops + 1);
    store(counter, two(ExprOp::Add, load(counter), number(1)), stmt.body);
    out.push_back(f_.add(std::move(stmt)));
  }

  ExprId integer(int depth) {
    const std::int64_t kind = tape_.below(depth == 0 ? 4 : 9);
    if (kind == 0) return number(tape_.between(0, 5) * tape_.pick<std::int64_t>({1, 8, 32}));
    if (kind <= 2) return ir::var_ref(f_, tape_.pick(known_));
    if (kind == 3 && !exact_) return opaque();
    if (kind == 3) return scalars_.empty() ? number(1) : load(tape_.pick(scalars_));
    const ExprId a = integer(depth - 1);
    if (kind <= 6) {
      const ExprOp op = tape_.pick<ExprOp>(
          {ExprOp::FloorDiv, ExprOp::FloorMod, ExprOp::BitAnd, ExprOp::BitXor, ExprOp::Mul});
      return two(op, a, number(tape_.pick<std::int64_t>({2, 32, 4, 64, 3, 31, 1})));
    }
    const ExprId b = integer(depth - 1);
    const ExprOp op =
        tape_.pick<ExprOp>({ExprOp::Add, ExprOp::Sub, ExprOp::Min, ExprOp::Max, ExprOp::TruncMod});
    return two(exact_ && op == ExprOp::TruncMod ? ExprOp::Sub : op, a, b);
  }

  // Something that the analysis cannot evaluate.
  ExprId opaque() {
    switch (tape_.below(7)) {
      case 0:
        return ir::var_ref(f_, p_.param);
      case 1:
        return ir::var_ref(f_, p_.cta);
      case 2:
        return ir::var_ref(f_, p_.cluster);
      case 3:
        return load(p_.memory);
      case 5:
        return load(p_.table);
      case 4:
        return scalars_.empty() ? ir::var_ref(f_, p_.param) : load(tape_.pick(scalars_));
      default:
        return unknown_.empty() ? ir::var_ref(f_, p_.param) : ir::var_ref(f_, tape_.pick(unknown_));
    }
  }

  ExprId condition(int depth) {
    const std::int64_t kind = tape_.below(depth == 0 ? 4 : 8);
    if (kind == 7 && !exact_) {
      const ExprId elect = *ir::call(f_, ir::Intrinsic::ElectSync, {});
      return *ir::condition(f_, elect);
    }
    if (kind <= 3 || kind == 7) {
      const ExprOp op = tape_.pick<ExprOp>({ExprOp::Eq, ExprOp::Lt, ExprOp::Ne, ExprOp::Ge});
      const ExprId a = integer(depth == 0 ? 1 : 2);
      const ExprId b = integer(0);
      return two(op, a, b);
    }
    if (kind == 6) return *ir::unary(f_, ExprOp::Not, {condition(depth - 1), false});
    const ExprId a = condition(depth - 1);
    const ExprId b = condition(depth - 1);
    return two(kind == 4 ? ExprOp::And : ExprOp::Or, a, b);
  }

  Program& p_;
  Function& f_;
  Tape& tape_;
  bool exact_;
  std::vector<ir::VarId> known_;
  std::vector<ir::VarId> unknown_;
  std::vector<ir::BufferId> scalars_;
};

std::string shown(const Function& f, ExprId id) {
  const ir::Expr& e = f[id];
  if (e.op == ExprOp::IntImm) return fmt::format("{}", e.integer);
  if (e.op == ExprOp::Var) return fmt::format("{}{}", f[e.var].name, e.var.index);
  if (e.op == ExprOp::Load) return fmt::format("{}{}", f[e.buffer].name, e.buffer.index);
  if (e.op == ExprOp::Call) return "elect()";
  std::string out = fmt::format("{}(", ir::name_of(e.op));
  for (std::size_t i = 0; i < e.args.size(); ++i) out += (i == 0 ? "" : ", ") + shown(f, e.args[i]);
  return out + ")";
}

void show(const Function& f, const Block& block, const std::string& indent, StmtId marked,
          std::string& out) {
  for (const StmtId id : block) {
    const ir::Stmt& stmt = f[id];
    if (stmt.kind == StmtKind::ScopeIds || stmt.kind == StmtKind::Alloc) continue;
    out += indent + std::string(ir::name_of(stmt.kind));
    if (stmt.var.valid()) out += fmt::format(" {}{}", f[stmt.var].name, stmt.var.index);
    if (stmt.buffer.valid()) out += fmt::format(" s{}", stmt.buffer.index);
    for (const ExprId arg : stmt.args) out += " " + shown(f, arg);
    if (stmt.expr.valid()) out += " " + shown(f, stmt.expr);
    out += id == marked ? "    <-- here\n" : "\n";
    show(f, stmt.body, indent + "  ", marked, out);
    if (!stmt.other.empty()) {
      out += indent + "else\n";
      show(f, stmt.other, indent + "  ", marked, out);
    }
  }
}

}  // namespace

Program random_program(Tape& tape, bool exact) {
  Program p;
  Maker(p, tape, exact).program();
  return p;
}

std::string text(const Program& program, StmtId marked) {
  std::string out;
  show(program.f, program.f.body, "  ", marked, out);
  return out;
}

}  // namespace ww::test
