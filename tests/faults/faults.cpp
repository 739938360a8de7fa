// SPDX-License-Identifier: Apache-2.0
#include "faults/faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ir/build.h"
#include "ir/print/print.h"
#include "ir/visit.h"

namespace ww::test {
namespace {

using ir::ExprId;
using ir::ExprOp;
using ir::PtxOperand;
using ir::PtxOperandKind;
using ir::StmtId;
using ir::StmtKind;

/// Where an expression stands: in the statement, among its arguments, or in its instruction.
struct Slot {
  enum class Kind : std::uint8_t { Expr, Arg, Operand, Offset, Predicate };
  StmtId stmt;
  Kind kind = Kind::Expr;
  std::size_t index = 0;

  [[nodiscard]] ExprId& of(ir::Function& f) const {
    ir::Stmt& s = f.at(stmt);
    switch (kind) {
      case Kind::Expr:
        return s.expr;
      case Kind::Arg:
        return s.args[index];
      case Kind::Operand:
        return f.ptx_calls[s.ptx.index].operands[index].expr;
      case Kind::Offset:
        return f.ptx_calls[s.ptx.index].operands[index].offset;
      case Kind::Predicate:
        return f.ptx_calls[s.ptx.index].predicate;
    }
    return s.expr;
  }
};

/// A copy of the expression with the node at the path replaced.
ExprId with_node(ir::Function& f, ExprId root, const std::vector<std::size_t>& path,
                 std::size_t depth, ExprId node) {
  if (depth == path.size()) return node;
  ir::Expr copy = f[root];
  copy.args[path[depth]] = with_node(f, copy.args[path[depth]], path, depth + 1, node);
  return f.add(std::move(copy));
}

bool is_leaf(StmtKind kind) {
  return kind == StmtKind::Ptx || kind == StmtKind::Evaluate || kind == StmtKind::Store;
}

bool remove(ir::Function& f, ir::Block& block, StmtId id) {
  if (const auto at = std::find(block.begin(), block.end(), id); at != block.end()) {
    block.erase(at);
    return true;
  }
  for (const StmtId each : block)
    if (remove(f, f.at(each).body, id) || remove(f, f.at(each).other, id)) return true;
  return false;
}

/// What the block has in place of a statement.
bool replace(ir::Function& f, ir::Block& block, StmtId id, const ir::Block& with) {
  if (const auto at = std::find(block.begin(), block.end(), id); at != block.end()) {
    block.insert(block.erase(at), with.begin(), with.end());
    return true;
  }
  for (const StmtId each : block) {
    if (replace(f, f.at(each).body, id, with) || replace(f, f.at(each).other, id, with))
      return true;
  }
  return false;
}

class Finder {
 public:
  /// Without descriptions it is much faster: printing an expression looks at the whole function.
  Finder(ir::Function& f, bool describes) : f_(f), describes_(describes) {}

  std::vector<Fault> in_primitive(const ir::Block& code) {
    ir::for_each_stmt(f_, code, [&](StmtId id) { stmts_.push_back(id); });
    for (const StmtId id : stmts_) statement(id);
    return std::move(out_);
  }

  std::vector<Fault> around(const ir::Block& body) {
    ir::for_each_stmt(f_, body, [&](StmtId id) { around(id); });
    return std::move(out_);
  }

 private:
  // --- statements ---

  void statement(StmtId id) {
    const ir::Stmt s = f_[id];
    if (is_leaf(s.kind))
      drop(is_barrier(s) ? FaultKind::Stages : FaultKind::Dropped, id, "without");
    if (s.kind == StmtKind::Evaluate && f_[s.expr].callee == ir::Intrinsic::ClusterSync)
      put(FaultKind::Stages, {id}, {}, "a barrier of the CTA for that of the cluster",
          [barrier = s.expr](ir::Function& f) {
            ir::Expr copy = f[barrier];
            copy.callee = ir::Intrinsic::CtaSync;
            return f.add(std::move(copy));
          });
    if (s.kind == StmtKind::For) loop(id, s);
    if (s.kind == StmtKind::If) guard(id, s);
    if (s.kind == StmtKind::Ptx) instruction(id, f_[s.ptx]);
    if (s.expr.valid() && s.kind != StmtKind::For) expression({id});
    if (s.kind == StmtKind::Store) {
      if (reads(s.expr, s.buffer)) repeat(id, text_of(id));
      for (std::size_t i = 0; i < s.args.size(); ++i) {
        if (is_register(s.buffer)) shift(FaultKind::Register, {id, Slot::Kind::Arg, i}, {}, 1);
        expression({id, Slot::Kind::Arg, i});
      }
    }
  }

  void drop(FaultKind kind, StmtId id, std::string_view how) {
    plant(kind, fmt::format("{} `{}`", how, text_of(id)),
          [id](ir::Function& f, ir::Block& block) { remove(f, block, id); });
  }

  void repeat(StmtId id, const std::string& what) {
    plant(FaultKind::Accumulate, fmt::format("a second `{}`", what),
          [id](ir::Function& f, ir::Block& block) {
            replace(f, block, id, {id, f.add(ir::Stmt(f[id]))});
          });
  }

  [[nodiscard]] bool is_barrier(const ir::Stmt& s) const {
    if (s.kind == StmtKind::Ptx) return f_[s.ptx].opcode.text().starts_with("bar");
    return s.kind == StmtKind::Evaluate && f_[s.expr].op == ExprOp::Call &&
           ir::facts_of(f_[s.expr].callee).effect == ir::Effect::Barrier;
  }

  [[nodiscard]] bool reads(ExprId id, ir::BufferId buffer) const {
    const ir::Expr& e = f_[id];
    return (e.op == ExprOp::Load && e.buffer == buffer) ||
           std::ranges::any_of(e.args, [&](ExprId arg) { return reads(arg, buffer); });
  }

  void loop(StmtId id, const ir::Stmt& s) {
    const auto trips = ir::const_int(f_, s.args[1]);
    if (!trips || *trips < 2) return;
    const auto name = f_[s.var].name;
    const auto with_trips = [&](std::int64_t n) {
      return [id, n, old = s.args[1]](ir::Function& f, ir::Block&) {
        f.at(id).args[1] = ir::int_imm(f, f[old].type.dtype, n);
      };
    };
    plant(FaultKind::Tail, fmt::format("`{}` ends one round early", name), with_trips(*trips - 1));
    plant(FaultKind::OffByOne, fmt::format("`{}` has one round more", name),
          with_trips(*trips + 1));
  }

  void guard(StmtId id, const ir::Stmt& s) {
    drop(FaultKind::Tail, id, "nothing under");
    plant(FaultKind::Predicate, fmt::format("always under `{}`", text_of(s.expr)),
          [id, body = s.body](ir::Function& f, ir::Block& block) { replace(f, block, id, body); });
  }

  // --- instructions ---

  void instruction(StmtId id, const ir::PtxCall& call) {
    const auto edit = [&](FaultKind kind, std::string what,
                          const std::function<void(ir::PtxCall&)>& change) {
      plant(kind, fmt::format("{} in `{}`", what, call.opcode.text()),
            [id, change](ir::Function& f, ir::Block&) { change(f.ptx_calls[f[id].ptx.index]); });
    };
    const isa::Mnemonic called = call.opcode.mnemonic();
    if (called == "mma") repeat(id, call.opcode.text());
    if (called == "mapa") shift(FaultKind::Rank, {id, Slot::Kind::Operand, 2}, {}, 1);
    // Registers of one list beside each other.
    for (std::size_t i = 0; i + 1 < call.operands.size(); ++i) {
      if (!is_register(call.operands[i]) || !is_register(call.operands[i + 1])) continue;
      if (i >= 4 && i % 7 != 0) continue;  // of 64 operands a few
      edit(FaultKind::Operands, fmt::format("operands {} and {} exchanged", i, i + 1),
           [i](ir::PtxCall& c) { std::swap(c.operands[i], c.operands[i + 1]); });
    }
    if (called.text().contains("matrix")) matrix(call, edit);
    if (called == "cp.async") {
      edit(FaultKind::Operands, "source and destination exchanged",
           [](ir::PtxCall& c) { std::swap(c.operands[0], c.operands[1]); });
      if (call.operands.size() > 3)
        edit(FaultKind::Fill, "no source size", [](ir::PtxCall& c) { c.operands.resize(3); });
    }
    operands(id, call);
  }

  static std::function<void(ir::PtxCall&)> with_opcode(const std::string& text) {
    return [text](ir::PtxCall& c) { c.opcode = isa::opcode_of(text); };
  }

  template <typename Edit>
  void matrix(const ir::PtxCall& call, const Edit& edit) {
    std::string text = call.opcode.text();
    if (const auto at = text.find(".trans"); at != std::string::npos)
      edit(FaultKind::Form, "no .trans", with_opcode(text.erase(at, 6)));
    else
      edit(FaultKind::Form, ".trans", with_opcode(text.insert(text.find(".shared"), ".trans")));
    text = call.opcode.text();
    const auto count = text.find(".x4");
    if (count == std::string::npos) return;
    text[count + 2] = '2';
    edit(FaultKind::Width, "half of the matrices", [text](ir::PtxCall& c) {
      c.opcode = isa::opcode_of(text);
      if (c.opcode.mnemonic() == "ldmatrix")
        c.operands.erase(c.operands.begin() + 2, c.operands.begin() + 4);
      else
        c.operands.resize(3);
    });
  }

  void operands(StmtId id, const ir::PtxCall& call) {
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
      const PtxOperand& operand = call.operands[i];
      const Slot slot{id, Slot::Kind::Operand, i};
      if (!operand.expr.valid()) continue;
      if (is_register(operand)) {
        if (i < 4 || i % 7 == 0) neighbour(slot);
        continue;
      }
      if (const auto n = ir::const_int(f_, operand.expr);
          n && call.opcode.mnemonic().text().starts_with("cp.async"))
        width(slot, {}, *n);
      expression(slot);
      if (operand.offset.valid()) expression({id, Slot::Kind::Offset, i});
    }
    if (!call.predicate.valid()) return;
    plant(FaultKind::Predicate, fmt::format("no predicate of `{}`", call.opcode.text()),
          [id](ir::Function& f, ir::Block&) { f.ptx_calls[f[id].ptx.index].predicate = {}; });
    expression({id, Slot::Kind::Predicate});
  }

  [[nodiscard]] bool is_register(ir::BufferId buffer) const {
    return buffer.valid() && f_[ir::storage_of(f_, buffer)].scope == ir::Scope::Local;
  }
  [[nodiscard]] bool is_register(const PtxOperand& operand) const {
    if (!operand.expr.valid()) return false;
    const ir::Expr& e = f_[operand.expr];
    return operand.kind == PtxOperandKind::At ||
           ((e.op == ExprOp::Load || e.op == ExprOp::AddressOf) && is_register(e.buffer));
  }

  // --- expressions ---

  using Path = std::vector<std::size_t>;

  void neighbour(const Slot& slot) {
    const ir::Expr& e = f_[slot.of(f_)];
    if (e.args.empty() || !e.buffer.valid()) return;
    const bool is_word = e.op == ExprOp::AddressOf;
    const int bits = num::bits_of(f_[e.buffer].dtype);
    shift(FaultKind::Register, slot, {e.args.size() - 1}, is_word ? std::max(1, 32 / bits) : 1);
  }

  void shift(FaultKind kind, const Slot& slot, const Path& path, std::int64_t by) {
    const ExprId node = node_at(slot, path);
    if (f_[node].type.lanes != 1) return;
    put(kind, slot, path, fmt::format("`{}` + {}", text_of(node), by), [node, by](ir::Function& f) {
      const ExprId step = ir::int_imm(f, f[node].type.dtype, by);
      ir::Expr sum{.op = ExprOp::Add, .type = f[node].type};
      sum.args = {node, step};
      return f.add(std::move(sum));
    });
  }

  void width(const Slot& slot, const Path& path, std::int64_t bytes) {
    for (const std::int64_t other : {bytes / 2, bytes * 2})
      constant(FaultKind::Width, slot, path, other, fmt::format("{} bytes for {}", other, bytes));
  }

  void constant(FaultKind kind, const Slot& slot, const Path& path, std::int64_t value,
                const std::string& what) {
    const ExprId node = node_at(slot, path);
    put(kind, slot, path, what,
        [node, value](ir::Function& f) { return ir::int_imm(f, f[node].type.dtype, value); });
  }

  void expression(const Slot& slot) { visit(slot, {}, false); }

  void visit(const Slot& slot, const Path& path, bool is_xor) {
    const ExprId id = node_at(slot, path);
    const ir::Expr e = f_[id];
    node(slot, path, id, e, is_xor);
    for (std::size_t i = 0; i < e.args.size(); ++i)
      visit(slot, below(path, i), is_xor || (e.op == ExprOp::BitXor && i == 1));
  }

  void node(const Slot& slot, const Path& path, ExprId id, const ir::Expr& e, bool is_xor) {
    const std::string text = text_of(id);
    const auto found =
        e.args.size() == 2 ? ir::const_int(f_, e.args[1]) : std::optional<std::int64_t>{};
    const bool has_number = found.has_value();
    const std::int64_t number = found.value_or(0);
    switch (e.op) {
      case ExprOp::Mul:
        if (has_number)
          constant(is_xor ? FaultKind::Swizzle : FaultKind::Stride, slot, below(path, 1),
                   number * 2, fmt::format("`{}` twice as far", text));
        break;
      case ExprOp::FloorDiv:
      case ExprOp::FloorMod: {
        const ExprOp other = e.op == ExprOp::FloorDiv ? ExprOp::FloorMod : ExprOp::FloorDiv;
        put(FaultKind::Lanes, slot, path,
            fmt::format("`{}` with `{}`", text, ir::spelling_of(other)), with_op(id, other));
        break;
      }
      case ExprOp::Add:
      case ExprOp::Sub:
        if (has_number && e.type.lanes == 1)
          constant(FaultKind::OffByOne, slot, below(path, 1), number + 1,
                   fmt::format("`{}` one further", text));
        break;
      case ExprOp::BitXor:
        put(FaultKind::Swizzle, slot, path, fmt::format("no XOR in `{}`", text),
            [left = e.args[0]](ir::Function&) { return left; });
        break;
      case ExprOp::Lt:
        put(FaultKind::Predicate, slot, path, fmt::format("`{}` with its bound", text),
            with_op(id, ExprOp::Le));
        put(FaultKind::Predicate, slot, path, fmt::format("`{}` turned round", text),
            with_op(id, ExprOp::Ge));
        break;
      case ExprOp::IfThenElse:
        put(FaultKind::Fill, slot, path, fmt::format("always the first of `{}`", text),
            [yes = e.args[1]](ir::Function&) { return yes; });
        put(FaultKind::Predicate, slot, path, fmt::format("`{}` the other way", text),
            exchanged(id, 1, 2));
        break;
      case ExprOp::Load:
        if (is_register(e.buffer) && !e.args.empty())
          shift(FaultKind::Register, slot, below(path, e.args.size() - 1), 1);
        break;
      case ExprOp::Call:
        called(slot, path, id, e);
        break;
      default:
        break;
    }
  }

  void called(const Slot& slot, const Path& path, ExprId id, const ir::Expr& e) {
    if (e.callee == ir::Intrinsic::CopyBytes) {
      put(FaultKind::Operands, slot, path, "source and destination exchanged", exchanged(id, 0, 1));
      if (const auto bytes = ir::const_int(f_, e.args[2])) width(slot, below(path, 2), *bytes);
    }
    if (ir::facts_of(e.callee).effect == ir::Effect::Exchange) {
      if (const auto lane = ir::const_int(f_, e.args[2]))
        constant(FaultKind::Partner, slot, below(path, 2), *lane ^ 3,
                 fmt::format("lane {} for {} of a shuffle", *lane ^ 3, *lane));
    }
    if (e.callee == ir::Intrinsic::Fma)
      put(FaultKind::Operands, slot, path, "factor and summand exchanged", exchanged(id, 1, 2));
  }

  static std::function<ExprId(ir::Function&)> with_op(ExprId id, ExprOp op) {
    return [id, op](ir::Function& f) {
      ir::Expr copy = f[id];
      copy.op = op;
      return f.add(std::move(copy));
    };
  }
  static std::function<ExprId(ir::Function&)> exchanged(ExprId id, std::size_t a, std::size_t b) {
    return [id, a, b](ir::Function& f) {
      ir::Expr copy = f[id];
      std::swap(copy.args[a], copy.args[b]);
      return f.add(std::move(copy));
    };
  }

  static Path below(Path path, std::size_t i) {
    path.push_back(i);
    return path;
  }
  [[nodiscard]] ExprId node_at(const Slot& slot, const Path& path) {
    ExprId id = slot.of(f_);
    for (const std::size_t i : path) id = f_[id].args[i];
    return id;
  }

  void put(FaultKind kind, const Slot& slot, const Path& path, std::string what,
           std::function<ExprId(ir::Function&)> make) {
    plant(kind, std::move(what), [slot, path, make = std::move(make)](ir::Function& f, ir::Block&) {
      const ExprId node = make(f);
      const ExprId root = with_node(f, slot.of(f), path, 0, node);
      slot.of(f) = root;
    });
  }

  void plant(FaultKind kind, std::string what, std::function<void(ir::Function&, ir::Block&)> how) {
    out_.push_back({kind, std::move(what), std::move(how)});
  }

  // --- around primitives ---

  void around(StmtId id) {
    const ir::Stmt s = f_[id];
    if (s.kind == StmtKind::Evaluate && is_barrier(s)) drop(FaultKind::Barrier, id, "without");
    if (s.kind != StmtKind::Ptx) return;
    const std::string& opcode = f_[s.ptx].opcode.text();
    if (opcode.contains(".commit") || opcode.contains("fence"))
      drop(FaultKind::Fence, id, "without");
    if (!opcode.contains("wait")) return;
    drop(FaultKind::Wait, id, "without");
    if (f_[s.ptx].operands.empty()) return;
    const Slot slot{id, Slot::Kind::Operand, 0};
    if (const auto n = ir::const_int(f_, slot.of(f_)))
      constant(FaultKind::Wait, slot, {}, *n + 1,
               fmt::format("`{}` for {} groups", opcode, *n + 1));
  }

  [[nodiscard]] std::string text_of(ExprId id) const {
    return describes_ ? ir::print(f_, id) : std::string();
  }
  [[nodiscard]] std::string text_of(StmtId id) const {
    const ir::Stmt& s = f_[id];
    if (s.kind == StmtKind::Ptx) return f_[s.ptx].opcode.text();
    if (s.kind == StmtKind::Store) return f_[s.buffer].name + "[…] = " + text_of(s.expr);
    return s.expr.valid() ? text_of(s.expr) : std::string(ir::name_of(s.kind));
  }

  ir::Function& f_;
  bool describes_;
  std::vector<StmtId> stmts_;
  std::vector<Fault> out_;
};

}  // namespace

std::string_view name_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::Stride:
      return "wrong stride";
    case FaultKind::Lanes:
      return "swapped digits of a lane";
    case FaultKind::OffByOne:
      return "off by one";
    case FaultKind::Tail:
      return "dropped tail";
    case FaultKind::Dropped:
      return "missing instruction";
    case FaultKind::Width:
      return "wrong vector width";
    case FaultKind::Operands:
      return "exchanged operands";
    case FaultKind::Form:
      return "wrong form";
    case FaultKind::Predicate:
      return "wrong predicate";
    case FaultKind::Fill:
      return "dropped fill";
    case FaultKind::Accumulate:
      return "element or product twice";
    case FaultKind::Swizzle:
      return "wrong swizzle";
    case FaultKind::Register:
      return "wrong register";
    case FaultKind::Partner:
      return "wrong partner lane";
    case FaultKind::Rank:
      return "wrong CTA";
    case FaultKind::Stages:
      return "missing barrier between stages";
    case FaultKind::Barrier:
      return "missing barrier";
    case FaultKind::Wait:
      return "missing or weaker wait";
    case FaultKind::Fence:
      return "missing commit or fence";
  }
  return "";
}

bool is_around(FaultKind kind) { return kind >= FaultKind::Barrier; }

std::vector<Fault> faults_in_primitive(ir::Function& f, const ir::Block& code) {
  return Finder(f, true).in_primitive(code);
}
std::vector<Fault> faults_around(ir::Function& f, const ir::Block& body) {
  return Finder(f, true).around(body);
}

void plant_in_primitive(ir::Function& f, ir::Block& code, std::size_t which) {
  Finder(f, false).in_primitive(code)[which].plant(f, code);
}
void plant_around(ir::Function& f, ir::Block& body, std::size_t which) {
  Finder(f, false).around(body)[which].plant(f, body);
}

}  // namespace ww::test
