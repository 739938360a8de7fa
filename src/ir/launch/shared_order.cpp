// SPDX-License-Identifier: Apache-2.0
// One walk in program order with what lies behind: for each load, the largest barrier since the
// last write, and since the load itself. The states at the heads of loops are kept, and the walk is
// repeated until they stay: loops inside each other cost no more than others.
#include "ir/launch/shared_order.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_set>

#include "ir/launch/uniformity.h"
#include "ir/shared_size.h"
#include "ir/signatures.h"
#include "ir/visit.h"
namespace ww::ir {
namespace {

// Beyond these nothing is trusted: times the program is walked through, loads times statements.
constexpr int kMaxWalks = 32;
constexpr std::size_t kMaxStates = 1U << 22U;

// What is behind at a place of the program, for each load; Kernel: nothing.
struct Behind {
  std::vector<Unit> write;  // the largest barrier since the last write
  std::vector<Unit> load;   // … since the load
  std::vector<StmtId> writer;
  bool is_reached = true;
};

// Keeps what holds on both ways. Did `to` change?
bool meet_orders(Behind& to, const Behind& from) {
  if (!from.is_reached) return false;
  if (!to.is_reached) {
    to = from;
    return true;
  }
  bool has_changed = false;
  for (std::size_t i = 0; i < to.write.size(); ++i) {
    if (from.write[i] < to.write[i]) {
      to.write[i] = from.write[i];
      to.writer[i] = from.writer[i];
      has_changed = true;
    }
    if (from.load[i] < to.load[i]) {
      to.load[i] = from.load[i];
      has_changed = true;
    }
  }
  return has_changed;
}

class SharedOrder {
 public:
  SharedOrder(const Function& f, const std::vector<ExprId>& loads,
              const std::vector<ActiveSet>& sets, std::size_t threads)
      : f_(f),
        loads_(loads),
        sets_(sets),
        all_(first_threads(threads)),
        out_(loads.size()),
        hits_(f.buffer_count()) {
    for (std::size_t i = 0; i < loads.size(); ++i) number_.emplace(loads[i].index, i);
    nowhere_ = {std::vector<Unit>(loads.size(), Unit::Kernel),
                std::vector<Unit>(loads.size(), Unit::Kernel), std::vector<StmtId>(loads.size()),
                false};
  }

  std::vector<SharedLoad> run() {
    for (int i = 0; i < kMaxWalks; ++i) {
      has_changed_ = false;
      Behind start = nowhere_;
      start.is_reached = true;
      walk(f_.body, start);
      if (!has_changed_) return std::move(out_);
    }
    for (SharedLoad& load : out_) load = {Unit::Thread, {}};
    return std::move(out_);
  }

 private:
  void lower(std::size_t i, Unit unit, StmtId write) {
    if (unit < out_[i].unit) out_[i] = {unit, write};
  }

  // The loads that a write to the buffer can change.
  const std::vector<std::size_t>& hit_by(BufferId buffer) {
    std::optional<std::vector<std::size_t>>& hits = hits_[buffer.index];
    if (hits) return *hits;
    hits.emplace();
    const std::optional<StoragePart> own = storage_part(f_, f_[buffer]);
    for (std::size_t i = 0; i < loads_.size(); ++i) {
      const BufferId read = f_[loads_[i]].buffer;
      if (storage_of(f_, read) != storage_of(f_, buffer)) continue;
      const std::optional<StoragePart> other = storage_part(f_, f_[read]);
      if (!own || !other || own->meets(*other)) hits->push_back(i);
    }
    return *hits;
  }

  void write(Behind& at, BufferId buffer, StmtId stmt) {
    for (const std::size_t i : hit_by(buffer)) {
      lower(i, at.load[i], stmt);
      at.write[i] = Unit::Thread;
      at.writer[i] = stmt;
    }
  }
  // Written at some time that the place of the statement does not tell.
  void leak(BufferId buffer, StmtId stmt) {
    for (const std::size_t i : hit_by(buffer)) lower(i, Unit::Thread, stmt);
  }

  // The loads of an expression, then what its calls write.
  void evaluate(Behind& at, ExprId root, StmtId stmt) {
    std::vector<BufferId> written;
    if (takes_address(f_[root])) leak(f_[root].buffer, stmt);
    for_each_below(root, [&](ExprId id) {
      const Expr& e = f_[id];
      if (const auto found = number_.find(id.index); found != number_.end())
        load(at, found->second, stmt);
      const ExprId target = e.op == ExprOp::Call ? written_by(e) : ExprId{};
      for (const ExprId arg : e.args) {
        if (!takes_address(f_[arg])) continue;
        if (arg == target)
          written.push_back(f_[arg].buffer);
        else
          leak(f_[arg].buffer, stmt);
      }
    });
    for (const BufferId buffer : written) write(at, buffer, stmt);
  }

  template <typename Visit>
  void for_each_below(ExprId root, const Visit& visit) {
    std::vector<ExprId> left = {root};
    std::unordered_set<std::uint32_t> seen;
    while (!left.empty()) {
      const ExprId id = left.back();
      left.pop_back();
      if (!seen.insert(id.index).second) continue;
      visit(id);
      for (const ExprId arg : f_[id].args) left.push_back(arg);
    }
  }

  // The pointer through which a call writes, and that it does not keep.
  static ExprId written_by(const Expr& call) {
    switch (call.callee) {
      case Intrinsic::AtomicAdd:
      case Intrinsic::AtomicMin:
      case Intrinsic::AtomicMax:
      case Intrinsic::AtomicAnd:
      case Intrinsic::AtomicOr:
      case Intrinsic::AtomicXor:
      case Intrinsic::AtomicExch:
      case Intrinsic::AtomicCas:
      case Intrinsic::MbarrierWait:
        return call.args[0];
      case Intrinsic::CtaReduce:
        return call.args[3];
      default:
        return {};
    }
  }

  void load(Behind& at, std::size_t i, StmtId stmt) {
    const ActiveSet& set = sets_[stmt.index];
    lower(i, at.write[i], at.writer[i]);
    lower(i, set.one_lane_per_warp ? Unit::Thread : set.granule, {});
    at.load[i] = Unit::Thread;
  }

  void evaluate(Behind& at, StmtId id) {
    const Stmt& s = f_[id];
    for_each_root(f_, s, [&](ExprId root) { evaluate(at, root, id); });
    // The place of a buffer is looked up again with each use.
    if (s.kind == StmtKind::Declare || s.kind == StmtKind::Alloc)
      for_each_root(f_[s.buffer], [&](ExprId root) { distrust(root); });
    if (s.kind == StmtKind::Store && is_shared(f_[s.buffer].scope)) write(at, s.buffer, id);
    if (s.kind == StmtKind::Tile) write(at, f_[s.tile], id);
    if (s.kind == StmtKind::Evaluate) pass(at, id);
  }

  void distrust(ExprId root) {
    for_each_below(root, [&](ExprId id) {
      if (const auto found = number_.find(id.index); found != number_.end())
        lower(found->second, Unit::Thread, {});
    });
  }

  void write(Behind& at, const TileCall& call, StmtId id) {
    const bool is_late = call.op == TileOp::CopyAsync || call.op == TileOp::GemmAsync;
    const auto to = [&](BufferId buffer) {
      if (!is_shared(f_[buffer].scope)) return;
      if (is_late) leak(buffer, id);
      write(at, buffer, id);
    };
    if (const auto* dst = std::get_if<Region>(&call.args[0])) to(dst->buffer);
    for (const auto& [name, buffer] : call.workspace) to(buffer);
  }

  // A barrier counts for the units that come to it whole, all of their threads together.
  void pass(Behind& at, StmtId id) {
    const std::optional<Unit> unit = barrier_unit(f_, f_[f_[id].expr]);
    const ActiveSet& set = sets_[id.index];
    if (!unit || !set.together(*unit) || coarsest(set.may, all_, *unit) < *unit) return;
    for (std::size_t i = 0; i < at.write.size(); ++i) {
      at.write[i] = std::max(at.write[i], *unit);
      at.load[i] = std::max(at.load[i], *unit);
    }
  }

  void walk(const Block& block, Behind& at) {
    for (const StmtId id : block) {
      if (!at.is_reached) return;
      statement(id, at);
    }
  }

  void statement(StmtId id, Behind& at) {
    const Stmt& s = f_[id];
    switch (s.kind) {
      case StmtKind::If: {
        evaluate(at, id);
        Behind other = at;
        walk(s.body, at);
        walk(s.other, other);
        meet_orders(at, other);
        return;
      }
      case StmtKind::For:
        evaluate(at, id);
        return loop(id, at);
      case StmtKind::While:
        return loop(id, at);
      case StmtKind::Break:
      case StmtKind::Continue:
        meet_orders(s.kind == StmtKind::Break ? breaks_.back() : continues_.back(), at);
        at.is_reached = false;
        return;
      case StmtKind::Return:
        at.is_reached = false;
        return;
      default:
        evaluate(at, id);
        walk(s.body, at);
    }
  }

  void loop(StmtId id, Behind& at) {
    const Stmt& s = f_[id];
    Behind& head = heads_.try_emplace(id.index, nowhere_).first->second;
    if (meet_orders(head, at)) has_changed_ = true;
    at = head;
    if (s.kind == StmtKind::While) evaluate(at, id);
    breaks_.push_back(nowhere_);
    continues_.push_back(nowhere_);
    Behind body = at;
    walk(s.body, body);
    meet_orders(body, continues_.back());
    if (meet_orders(head, body)) has_changed_ = true;
    // The last round may have been any of them, or none.
    if (s.kind == StmtKind::For) meet_orders(at, head);
    meet_orders(at, breaks_.back());
    breaks_.pop_back();
    continues_.pop_back();
  }

  const Function& f_;
  const std::vector<ExprId>& loads_;
  const std::vector<ActiveSet>& sets_;
  Threads all_;
  std::vector<SharedLoad> out_;
  std::vector<std::optional<std::vector<std::size_t>>> hits_;  // by BufferId
  std::map<std::uint32_t, std::size_t> number_;                // of a load, by ExprId
  Behind nowhere_;
  std::map<std::uint32_t, Behind> heads_;  // by StmtId of a loop
  std::vector<Behind> breaks_, continues_;
  bool has_changed_ = false;
};

}  // namespace

std::optional<Unit> barrier_unit(const Function& function, const Expr& call) {
  if (call.op != ExprOp::Call) return std::nullopt;
  switch (call.callee) {
    case Intrinsic::CtaSync:
    case Intrinsic::ClusterSync:
      return Unit::Cta;
    case Intrinsic::StorageSync:
      return literal_text(function, call.args[0]) == "warp" ? Unit::Warp : Unit::Cta;
    case Intrinsic::WarpSync:
      return Unit::Warp;
    case Intrinsic::WarpgroupSync:
      return Unit::Warpgroup;
    default:
      return std::nullopt;
  }
}

std::vector<SharedLoad> shared_order(const Function& function, const std::vector<ExprId>& loads,
                                     const std::vector<ActiveSet>& sets, std::size_t threads) {
  if (loads.size() * function.stmt_count() > kMaxStates)
    return std::vector<SharedLoad>(loads.size(), {Unit::Thread, {}});
  return SharedOrder(function, loads, sets, threads).run();
}

}  // namespace ww::ir
