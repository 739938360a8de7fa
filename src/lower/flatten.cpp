// SPDX-License-Identifier: Apache-2.0
// One walk in program order. Expressions are rebuilt from the leaves up, each once; statements
// change in place; buffers become flat at the very end, because until then their layouts are asked.
//
// Two things happen on the way because later passes want them:
//   - pointer arithmetic on a flat buffer becomes its index: `pointer_offset(address_of(A[i]), k)`
//     is `address_of(A[i + k])`;
//   - a branch whose condition is decided by the launch (`if wg_id == 0` with one warpgroup) goes.
#include "lower/flatten.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ir/build.h"
#include "ir/function.h"
#include "ir/simplify/simplify.h"
#include "ir/visit.h"
#include "lower/index_expr.h"

namespace ww::lower {
namespace {

using ir::Block;
using ir::Buffer;
using ir::BufferId;
using ir::Expr;
using ir::ExprId;
using ir::ExprOp;
using ir::Stmt;
using ir::StmtId;
using ir::StmtKind;
using num::DType;

using Indices = SmallVec<ExprId, 3>;

// --- buffers -------------------------------------------------------------------------------------
//
// What accesses to a buffer become, and how large it is.

std::string bytes_text(const ir::Function& f, ExprId bytes) {
  const auto value = ir::const_int(f, bytes);
  return value ? std::to_string(*value) : "a runtime number of";
}

ExprId extent_of(ir::Function& f, std::int64_t value) {
  const bool is_small = value <= std::numeric_limits<std::int32_t>::max();
  return ir::int_imm(f, is_small ? DType::Int32 : DType::Int64, value);
}

ExprId to_int64(ir::Function& f, ExprId value) {
  return ir::cast(f, value, ir::Type::of(DType::Int64)).value();
}

// In 64 bits unless it is one extent: a product of two may need them.
ExprId product_of(ir::Function& f, const std::vector<ExprId>& extents) {
  if (extents.size() == 1) return extents[0];
  ExprId out = ir::int_imm(f, DType::Int64, 1);
  for (const ExprId extent : extents)
    out = ir::index_binary(f, ExprOp::Mul, out, to_int64(f, extent));
  return out;
}

/// A buffer as accesses see it.
struct FlatAccess {
  FlatPlan plan;
  BufferId buffer;  // the flat one: its own, or the base of a view
};

class FlatBuffers {
 public:
  /// `facts` may learn more while buffers are planned.
  FlatBuffers(ir::Function& function, const ir::Facts& facts)
      : f_(function), facts_(facts), planned_(function.buffer_count()) {}

  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(planned_.size()); }
  [[nodiscard]] bool is_planned(BufferId id) const { return planned_[id.index].has_value(); }

  /// Accesses to a buffer whose offsets are those of the flat program already.
  Result<const FlatAccess*> plan(BufferId id) {
    std::optional<FlatAccess>& known = planned_[id.index];
    if (known) return &*known;
    const FlatPlan plan = WW_TRY(flat_plan(f_, id, facts_));
    if (plan.rest_bytes.valid() && f_[id].origin != ir::BufferOrigin::View)
      return fail(diag(DiagKind::NotLowered,
                       "`{}` begins {} bytes behind its storage, expected a "
                       "multiple of the {} bytes of an element",
                       f_[id].name, bytes_text(f_, plan.rest_bytes), storage_bits(f_[id].dtype) / 8)
                      .with_span(f_[id].span));
    // Views of the same elements are not there in the lowered program.
    const Buffer& b = f_[id];
    const bool stays = b.origin != ir::BufferOrigin::View || b.dtype != f_[b.base].dtype ||
                       plan.rest_bytes.valid();
    known = FlatAccess{plan, stays ? id : b.base};
    return &*known;
  }

  /// At the very end: takes the layouts away, whose places are in the indices by now.
  Result<void> make_flat() {
    std::vector<ExprId> sizes;
    for (std::uint32_t i = 0; i < count(); ++i) sizes.push_back(WW_TRY(flat_size(BufferId{i})));
    for (std::uint32_t i = 0; i < count(); ++i) {
      if (!sizes[i].valid()) continue;
      Buffer& b = f_.at(BufferId{i});
      b.shape = {sizes[i]};
      b.layout_kind = ir::LayoutKind::None;
      b.layout.reset();
      b.elem_offset = {};
      if (!keeps_bytes(BufferId{i})) b.byte_offset = {};
    }
    return {};
  }

 private:
  // How many elements the flat buffer has.
  Result<ExprId> flat_size(BufferId id) {
    const Buffer b = f_[id];
    if (b.scope == ir::Scope::Tmem) return ExprId{};
    if (b.origin == ir::BufferOrigin::View) return view_size(b, keeps_bytes(id));
    if (const auto size = WW_TRY(storage_size(f_, b))) return extent_of(f_, *size);
    ExprId size = product_of(f_, b.shape);
    if (b.elem_offset.valid())
      size = ir::index_binary(f_, ExprOp::Add, to_int64(f_, size), to_int64(f_, b.elem_offset));
    return ir::simplify(f_, size, facts_);
  }

  // What fits into the storage.
  Result<ExprId> view_size(const Buffer& b, bool is_moved) {
    const Buffer& base = f_[b.base];
    const int bits = storage_bits(b.dtype);
    const int base_bits = storage_bits(base.dtype);
    const std::int64_t skipped = is_moved ? ir::const_int(f_, b.byte_offset).value_or(0) * 8 : 0;
    if (const auto size = WW_TRY(storage_size(f_, base)))
      return extent_of(f_, std::max<std::int64_t>(1, (*size * base_bits - skipped) / bits));
    const auto op = [&](ExprOp kind, ExprId a, std::int64_t by) {
      return ir::index_binary(f_, kind, a, ir::int_imm(f_, DType::Int64, by));
    };
    const ExprId size = to_int64(f_, WW_TRY(flat_size(b.base)));
    return ir::simplify(f_, op(ExprOp::FloorDiv, op(ExprOp::Mul, size, base_bits), bits), facts_);
  }

  // Does a view still begin at its byte offset? Otherwise that is part of every index.
  [[nodiscard]] bool keeps_bytes(BufferId id) const {
    return planned_[id.index] && planned_[id.index]->plan.rest_bytes.valid();
  }

  ir::Function& f_;
  const ir::Facts& facts_;
  std::vector<std::optional<FlatAccess>> planned_;  // by BufferId
};

// --- vectors -------------------------------------------------------------------------------------
//
// They are taken apart and put together, for accesses whose elements do not follow each other.

ExprId shuffled(ir::Function& f, ExprId vector, int lane) {
  Expr e{.op = ExprOp::Shuffle, .type = ir::Type::of(f[vector].type.dtype), .span = f[vector].span};
  e.args = {vector, ir::int_imm(f, DType::Int32, lane)};
  e.integer = 1;
  return f.add(std::move(e));
}

// base + lane · stride, in the type of both.
ExprId ramp_lane(ir::Function& f, const Expr& e, int lane) {
  const ExprId number = ir::int_imm(f, e.type.dtype, lane);
  Expr step{.op = ExprOp::Mul, .span = e.span, .no_wrap = e.no_wrap};
  const ExprId moved = ir::binary_like(f, step, e.args[1], number).value();
  step.op = ExprOp::Add;
  return ir::binary_like(f, step, e.args[0], moved).value();
}

bool is_by_lane(ExprOp op) {
  const ir::ExprGroup group = ir::group_of(op);
  return group == ir::ExprGroup::Infix || group == ir::ExprGroup::Compare || op == ExprOp::Cast ||
         op == ExprOp::Min || op == ExprOp::Max || op == ExprOp::Neg;
}

ExprId lane_of(ir::Function& f, ExprId vector, int lane) {
  Expr e = f[vector];
  if (e.type.lanes == 1) return vector;
  if (e.op == ExprOp::Broadcast) return e.args[0];
  if (e.op == ExprOp::Ramp) return ramp_lane(f, e, lane);
  if (!is_by_lane(e.op)) return shuffled(f, vector, lane);
  e.type.lanes = 1;
  for (ExprId& arg : e.args) arg = lane_of(f, arg, lane);
  return f.add(std::move(e));
}

ExprId vector_of(ir::Function& f, std::span<const ExprId> scalars) {
  Expr e{.op = ExprOp::Shuffle, .span = f[scalars.front()].span};
  e.type = ir::Type::of(f[scalars.front()].type.dtype, static_cast<std::uint16_t>(scalars.size()));
  e.integer = std::ssize(scalars);
  for (const ExprId scalar : scalars) e.args.push_back(scalar);
  for (std::size_t i = 0; i < scalars.size(); ++i)
    e.args.push_back(ir::int_imm(f, DType::Int32, static_cast<std::int64_t>(i)));
  return f.add(std::move(e));
}

// --- names ---------------------------------------------------------------------------------------

// Drops bindings of the body that nothing mentions but other such names. Values that read
// memory stay. Only what is kept, or stands for a name that is, counts as a mention.
void drop_unused_names(ir::Function& f) {
  std::vector<ExprId> values(f.var_count());  // of names that may go
  std::vector<ExprId> left;
  const auto add = [&](ExprId id) { left.push_back(id); };
  for (const ir::Param& param : f.params)
    if (param.buffer.valid()) ir::for_each_root(f[param.buffer], add);
  for (const auto& [key, setting] : f.attrs) ir::for_each_root(setting, add);
  ir::for_each_stmt(f, f.host, [&](StmtId id) { ir::for_each_root(f, f[id], add); });
  ir::for_each_stmt(f, f.body, [&](StmtId id) {
    const Stmt& s = f[id];
    if (s.kind == StmtKind::Bind && !f[s.expr].reads_memory)
      values[s.var.index] = s.expr;
    else
      ir::for_each_root(f, s, add);
  });
  std::vector<bool> seen(f.expr_count());
  while (!left.empty()) {
    const ExprId id = left.back();
    left.pop_back();
    if (seen[id.index]) continue;
    seen[id.index] = true;
    const Expr& e = f[id];
    for (const ExprId arg : e.args) left.push_back(arg);
    if (e.op == ir::ExprOp::Var && values[e.var.index].valid())
      left.push_back(std::exchange(values[e.var.index], ExprId{}));
  }
  ir::erase_stmts(f, f.body, [&](const Stmt& s) {
    return s.kind == StmtKind::Bind && values[s.var.index].valid();
  });
}

// --- the program ---------------------------------------------------------------------------------

class Flattener {
 public:
  explicit Flattener(ir::Function& f)
      : f_(f), facts_(ir::facts_of(f)), done_(f.expr_count()), buffers_(f, facts_) {}

  Result<void> run() {
    for (auto& [key, setting] : f_.attrs) WW_TRY_VOID(rewrite(setting));
    f_.host = WW_TRY(block(f_.host));
    f_.body = WW_TRY(block(f_.body));
    // Buffers that no access needed have offsets, too.
    for (std::uint32_t i = 0; i < buffers_.count(); ++i)
      if (!buffers_.is_planned(BufferId{i})) WW_TRY_VOID(rewrite_offsets(BufferId{i}));
    WW_TRY_VOID(buffers_.make_flat());
    for (ir::Param& param : f_.params) match(param);
    drop_unused_names(f_);
    f_.level = ir::Level::Lowered;
    return {};
  }

 private:
  // --- names -------------------------------------------------------------------------------------

  // What is known of a name: the expression it stands for, unless that reads memory.
  void learn(ir::VarId var, ExprId value) {
    const ir::Type type = f_[var].type;
    if (!type.is_scalar() || !(type.is_int() || type.is_bool())) return;
    facts_.set_range(var, ranges_.range(value));
    if (!f_[value].reads_memory) facts_.set_value(var, value);
  }
  // --- buffers -----------------------------------------------------------------------------------

  // Its offsets are rewritten before it is planned.
  Result<const FlatAccess*> access(BufferId id) {
    if (!buffers_.is_planned(id)) WW_TRY_VOID(rewrite_offsets(id));
    return buffers_.plan(id);
  }

  Result<void> rewrite_offsets(BufferId id) {
    for (ExprId ir::Buffer::*part : {&ir::Buffer::elem_offset, &ir::Buffer::byte_offset}) {
      const ExprId offset = f_[id].*part;
      if (offset.valid()) f_.at(id).*part = WW_TRY(rewrite(offset));
    }
    return {};
  }

  // In an annotation an extent of run time is a name; one that is computed needs a declaration.
  void match(ir::Param& param) {
    const BufferId id = param.buffer;
    if (!id.valid() || ir::const_int(f_, f_[id].shape[0])) return;
    param.buffer = {};
    f_.at(id).is_annotation = false;
    Stmt s{.kind = StmtKind::Declare, .span = f_[id].span, .buffer = id};
    f_.host.insert(f_.host.begin(), f_.add(std::move(s)));
  }

  // --- expressions -------------------------------------------------------------------------------

  Result<ExprId> rewrite(ExprId id) {
    if (!id.valid() || id.index >= done_.size()) return id;
    if (done_[id.index].valid()) return done_[id.index];
    const ExprId out = WW_TRY(rewritten(id));
    done_[id.index] = out;
    return out;
  }

  Result<void> rewrite(ir::Setting& setting) {
    if (ExprId* expr = std::get_if<ExprId>(&setting)) *expr = WW_TRY(rewrite(*expr));
    return {};
  }

  Result<ExprId> rewritten(ExprId id) {
    Expr e = f_[id];
    bool is_same = true;
    for (ExprId& arg : e.args) {
      const ExprId next = WW_TRY(rewrite(arg));
      is_same = is_same && next == arg;
      arg = next;
    }
    switch (e.op) {
      case ExprOp::Load:
        return load(e);
      case ExprOp::AddressOf:
        return address(e);
      case ExprOp::BufferData:
        return data(e);
      case ExprOp::Call:
        if (e.callee == ir::Intrinsic::PointerOffset) return moved_pointer(e);
        break;
      default:
        break;
    }
    return is_same ? id : f_.add(std::move(e));
  }

  Result<ExprId> load(Expr e) {
    const FlatAccess& to = *WW_TRY(access(e.buffer));
    const int lanes = e.type.lanes;
    if (lanes > 1 && !has_run(to, e.args, lanes)) return gathered(to, e, lanes);
    if (lanes > 1) start_of_run(e.args);
    return element(to, e);
  }

  // One element, or a run of them.
  ExprId element(const FlatAccess& to, Expr e) {
    e.args = {place_of(f_, to.plan, e.args, simplifier_, facts_)};
    e.buffer = to.buffer;
    return f_.add(std::move(e));
  }

  ExprId gathered(const FlatAccess& to, const Expr& e, int lanes) {
    std::vector<ExprId> parts;
    for (int k = 0; k < lanes; ++k) {
      Expr one = e;
      one.type.lanes = 1;
      one.args = lane_indices(e.args, k);
      parts.push_back(element(to, std::move(one)));
    }
    return vector_of(f_, parts);
  }

  // An index that is a vector of neighbours counts as its first.
  void start_of_run(Indices& indices) {
    if (f_[indices.back()].type.lanes > 1) indices.back() = lane_of(f_, indices.back(), 0);
  }
  bool has_run(const FlatAccess& to, const Indices& indices, int lanes) {
    if (indices.empty()) return false;
    Indices first = indices;
    const Expr& last = f_[indices.back()];
    if (last.type.lanes > 1) {
      if (last.op != ExprOp::Ramp || ir::const_int(f_, last.args[1]) != 1) return false;
      start_of_run(first);
    }
    return is_contiguous(f_, to.plan, first, lanes, facts_);
  }
  // The indices of one lane: of the vector index, or that many elements further.
  Indices lane_indices(const Indices& indices, int lane) {
    Indices out = indices;
    ExprId& last = out.back();
    if (f_[last].type.lanes > 1)
      last = lane_of(f_, last, lane);
    else
      last = ir::index_binary(f_, ExprOp::Add, last, ir::int_imm(f_, f_[last].type.dtype, lane));
    return out;
  }

  Result<ExprId> address(Expr e) {
    const FlatAccess& to = *WW_TRY(access(e.buffer));
    return element(to, std::move(e));
  }

  // The start of the storage, whatever the offset.
  Result<ExprId> data(Expr e) {
    const Buffer& b = f_[e.buffer];
    if (b.scope == ir::Scope::Tmem)
      return fail(
          diag(DiagKind::NotLowered, "`{}` is in tensor memory, which no pointer leads to", b.name)
              .with_span(e.span));
    const bool is_flat = b.origin != ir::BufferOrigin::View ||
                         (b.dtype != f_[b.base].dtype && !ir::has_thread_axes(b));
    if (is_flat) return f_.add(std::move(e));
    const ir::Type type = e.type;
    e.buffer = b.base;
    e.type = ir::Type::pointer(f_[b.base].dtype);
    return ir::reinterpret(f_, f_.add(std::move(e)), type);
  }

  // pointer_offset(address_of(A[i]), k) is address_of(A[i + k]) while that is inside.
  Result<ExprId> moved_pointer(Expr e) {
    e.args[1] = simplifier_.simplify(e.args[1]);
    Expr from = f_[e.args[0]];
    // The data of a buffer of its own is its first element.
    if (from.op == ExprOp::BufferData && f_[from.buffer].origin != ir::BufferOrigin::View) {
      from.op = ExprOp::AddressOf;
      from.args = {ir::int_imm(f_, DType::Int32, 0)};
    }
    if (from.op != ExprOp::AddressOf || from.type != e.type) return f_.add(std::move(e));
    // `pointer_offset(address_of(A[0]), offset)` says all there is to say.
    if (f_[e.args[0]].op == ExprOp::AddressOf && ir::const_int(f_, from.args[0]) == 0)
      return f_.add(std::move(e));
    const ExprId index =
        simplifier_.simplify(ir::index_binary(f_, ExprOp::Add, from.args[0], e.args[1]));
    const auto value = ir::const_int(f_, index);
    const auto size = WW_TRY(storage_size(f_, f_[from.buffer]));
    // A pointer past the end may be made, an index may not.
    if (value && (*value < 0 || !size || *value >= *size)) return f_.add(std::move(e));
    from.args = {index};
    from.span = e.span;
    return f_.add(std::move(from));
  }

  // --- statements --------------------------------------------------------------------------------

  Result<Block> block(const Block& in) {
    Block out;
    for (const StmtId id : in) WW_TRY_VOID(stmt(id, out));
    return out;
  }

  Result<void> stmt(StmtId id, Block& out) {
    switch (f_[id].kind) {
      case StmtKind::Tile:
        return fail(diag(DiagKind::NotLowered, "`{}` is left as a tile primitive",
                         ir::name_of(f_[f_[id].tile].op))
                        .with_span(f_[id].span));
      case StmtKind::Declare:
        return declare(id, out);
      case StmtKind::Store:
        return store(id, out);
      case StmtKind::If:
        return branch(id, out);
      default:
        out.push_back(id);
        return change(id);
    }
  }

  // Everything whose parts are rewritten where they stand.
  Result<void> change(StmtId id) {
    Stmt& s = f_.at(id);
    if (s.expr.valid()) s.expr = WW_TRY(rewrite(s.expr));
    for (ExprId& arg : s.args) arg = WW_TRY(rewrite(arg));
    WW_TRY_VOID(rewrite(s.setting));
    for (auto& [key, setting] : s.settings) WW_TRY_VOID(rewrite(setting));
    if (s.kind == StmtKind::For) change_loop(s);
    if (s.kind == StmtKind::While) s.expr = simplifier_.simplify(s.expr);
    if (s.kind == StmtKind::Ptx) WW_TRY_VOID(change_ptx(s));
    if (s.kind == StmtKind::Bind) bind(s);
    s.body = WW_TRY(block(s.body));
    s.other = WW_TRY(block(s.other));
    return {};
  }

  void bind(Stmt& s) {
    const ir::Type type = f_[s.var].type;
    if (type.is_scalar() && type.is_int()) s.expr = simplifier_.simplify(s.expr);
    learn(s.var, s.expr);
  }

  void change_loop(Stmt& s) {
    for (ExprId& arg : s.args) arg = simplifier_.simplify(arg);
    if (s.loop == ir::LoopKind::Parallel) s.loop = ir::LoopKind::Serial;
  }

  Result<void> change_ptx(const Stmt& s) {
    ir::PtxCall& call = f_.at(s.ptx);
    for (ir::PtxOperand& operand : call.operands) {
      const bool was_element = operand.expr.valid() && f_[operand.expr].op == ExprOp::Load;
      operand.expr = WW_TRY(rewrite(operand.expr));
      operand.offset = WW_TRY(rewrite(operand.offset));
      if (was_element && f_[operand.expr].op == ExprOp::Shuffle)
        return fail(diag(DiagKind::NotLowered,
                         "an operand of `{}` is a vector whose elements do not follow each other",
                         call.opcode.text())
                        .with_span(s.span));
    }
    call.predicate = WW_TRY(rewrite(call.predicate));
    return {};
  }

  Result<void> declare(StmtId id, Block& out) {
    const BufferId buffer = f_[id].buffer;
    if (f_[buffer].scope == ir::Scope::Tmem) return {};
    if (f_[buffer].origin == ir::BufferOrigin::View && ir::has_thread_axes(f_[buffer])) return {};
    if (f_[buffer].pointer.valid()) {
      const ExprId pointer = WW_TRY(rewrite(f_[buffer].pointer));
      f_.at(buffer).pointer = pointer;
    }
    if (WW_TRY(access(buffer))->buffer == buffer) out.push_back(id);
    return {};
  }

  Result<void> store(StmtId id, Block& out) {
    Stmt& s = f_.at(id);
    s.expr = WW_TRY(rewrite(s.expr));
    for (ExprId& arg : s.args) arg = WW_TRY(rewrite(arg));
    const FlatAccess& to = *WW_TRY(access(s.buffer));
    const int lanes = f_[s.expr].type.lanes;
    if (lanes > 1 && !has_run(to, s.args, lanes)) return scatter(to, s, lanes, out);
    if (lanes > 1) start_of_run(s.args);
    s.args = {place_of(f_, to.plan, s.args, simplifier_, facts_)};
    s.buffer = to.buffer;
    out.push_back(id);
    return {};
  }

  // The vector is evaluated before anything is stored.
  Result<void> scatter(const FlatAccess& to, const Stmt& s, int lanes, Block& out) {
    const ir::VarId var =
        f_.add(ir::Var{.name = f_[s.buffer].name + "_lanes", .type = f_[s.expr].type});
    out.push_back(f_.add(Stmt{.kind = StmtKind::Bind, .span = s.span, .expr = s.expr, .var = var}));
    const ExprId all = ir::var_ref(f_, var);
    for (int k = 0; k < lanes; ++k) {
      Stmt one{.kind = StmtKind::Store, .span = s.span, .expr = lane_of(f_, all, k)};
      one.args = {place_of(f_, to.plan, lane_indices(s.args, k), simplifier_, facts_)};
      one.buffer = to.buffer;
      out.push_back(f_.add(std::move(one)));
    }
    return {};
  }

  Result<void> branch(StmtId id, Block& out) {
    Stmt& s = f_.at(id);
    s.expr = simplifier_.simplify(WW_TRY(rewrite(s.expr)));
    const auto decided = ir::const_int(f_, s.expr);
    Block then = !decided || *decided != 0 ? WW_TRY(block(s.body)) : Block{};
    Block other = !decided || *decided == 0 ? WW_TRY(block(s.other)) : Block{};
    Block& taken = decided && *decided == 0 ? other : then;
    if (decided && !has_open_attr(taken)) {
      out.insert(out.end(), taken.begin(), taken.end());
      return {};
    }
    s.body = std::move(then);
    s.other = std::move(other);
    out.push_back(id);
    return {};
  }

  // An attribute of the rest of its block must not reach what stands behind the block.
  [[nodiscard]] bool has_open_attr(const Block& in) const {
    for (const StmtId id : in)
      if (f_[id].kind == StmtKind::Attr && f_[id].is_open) return true;
    return false;
  }

  ir::Function& f_;
  ir::Facts facts_;
  // A name is learnt before anything is simplified that has it.
  ir::Simplifier simplifier_{f_, facts_};
  ir::Ranges ranges_{f_, facts_};
  std::vector<ExprId> done_;  // by ExprId of the tile program
  FlatBuffers buffers_;
};

}  // namespace

Result<void> flatten(ir::Function& function) { return Flattener(function).run(); }

}  // namespace ww::lower
