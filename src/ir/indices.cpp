// SPDX-License-Identifier: Apache-2.0
#include "ir/indices.h"

#include <vector>

#include "ir/visit.h"

namespace ww::ir {
namespace {

// Is argument `i` of the node an index?
bool is_index_arg(const Expr& e, std::size_t i) {
  return e.op == ExprOp::Load || e.op == ExprOp::AddressOf || (moves_pointer(e) && i == 1);
}

// First it is found how each node is used, as an index or as a value or both; then each use gets the
// node that stands for it: the node itself, or a new one where it is used both ways or an operand
// has changed. New nodes are made in the order of the old ones, so operands stay before their users.
// No recursion: expressions may be deep.
class Marker {
 public:
  explicit Marker(Function& f)
      : f_(f),
        is_value_(f.expr_count()),
        is_index_(f.expr_count()),
        values_(f.expr_count()),
        indices_(f.expr_count()) {}

  void run() {
    for_each_holder([this](ExprId& id, bool is_index) { reach(id, is_index); });
    while (!open_.empty()) {
      const auto [id, is_index] = open_.back();
      open_.pop_back();
      const Expr& e = f_[id];
      for (std::size_t i = 0; i < e.args.size(); ++i)
        reach(e.args[i], is_index || is_index_arg(e, i));
    }
    const auto count = static_cast<std::uint32_t>(is_index_.size());
    for (std::uint32_t i = 0; i < count; ++i) make(ExprId{i});
    for_each_holder([this](ExprId& id, bool is_index) { id = now(id, is_index); });
  }

 private:
  // What is no sum or product ends index arithmetic.
  void reach(ExprId id, bool is_index) {
    is_index = is_index && is_linear(f_[id]);
    std::vector<bool>& seen = is_index ? is_index_ : is_value_;
    if (seen[id.index]) return;
    seen[id.index] = true;
    open_.push_back({id, is_index});
  }

  void make(ExprId id) {
    if (is_value_[id.index]) values_[id.index] = with_operands(id, false, false);
    if (!is_index_[id.index]) return;
    const bool is_shared = is_value_[id.index] && values_[id.index] == id;
    indices_[id.index] = with_operands(id, true, is_shared);
    f_.set_no_wrap(indices_[id.index]);
  }

  // The node with what stands for its operands now: the same one unless it must be another.
  ExprId with_operands(ExprId id, bool is_index, bool must_copy) {
    Expr e = f_[id];
    bool is_same = !must_copy;
    for (std::size_t k = 0; k < e.args.size(); ++k) {
      const ExprId arg = now(e.args[k], is_index || is_index_arg(e, k));
      is_same = is_same && arg == e.args[k];
      e.args[k] = arg;
    }
    return is_same ? id : f_.add(std::move(e));
  }

  // What is no sum or product has one form only, also in an index.
  [[nodiscard]] ExprId now(ExprId id, bool is_index) const {
    if (id.index >= values_.size()) return id;
    const ExprId in_index = is_index ? indices_[id.index] : ExprId{};
    const ExprId out = in_index.valid() ? in_index : values_[id.index];
    return out.valid() ? out : id;
  }

  // Every expression that something else than an expression holds, and whether it is an index.
  template <typename Visit>
  void for_each_holder(const Visit& visit) {
    for (auto& [key, setting] : f_.attrs) for_each_root(setting, visit);
    for (std::uint32_t i = 0; i < f_.buffer_count(); ++i) for_each_root(f_.at(BufferId{i}), visit);
    for (std::uint32_t i = 0; i < f_.stmt_count(); ++i) for_each_root(f_.at(StmtId{i}), visit);
    for (TileCall& call : f_.tile_calls) for_each_root(call, visit);
    for (PtxCall& call : f_.ptx_calls) for_each_root(call, visit);
  }
  struct Use {
    ExprId id;
    bool is_index = false;
  };

  Function& f_;
  std::vector<bool> is_value_;   // by ExprId: some use of it is no index
  std::vector<bool> is_index_;   // by ExprId: some use of it is part of an index, and it is linear
  std::vector<ExprId> values_;   // by ExprId: the node that stands for it as a value
  std::vector<ExprId> indices_;  // by ExprId: the node that stands for it in indices
  std::vector<Use> open_;
};

}  // namespace

bool is_linear(const Expr& expr) {
  if (!expr.type.is_int() || num::kind_of(expr.type.dtype) != num::DTypeKind::Int) return false;
  switch (expr.op) {
    case ExprOp::Add:
    case ExprOp::Sub:
    case ExprOp::Mul:
    case ExprOp::Neg:
    case ExprOp::Shl:
    case ExprOp::Ramp:
    case ExprOp::Broadcast:
      return true;
    default:
      return false;
  }
}

void mark_indices(Function& function) { Marker(function).run(); }

}  // namespace ww::ir
