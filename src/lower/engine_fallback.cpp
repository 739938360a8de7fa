// SPDX-License-Identifier: Apache-2.0
#include "lower/engine_fallback.h"

#include <algorithm>
#include <set>

#include "ir/below.h"
#include "ir/engine_fallback.h"
#include "ir/equal.h"
#include "ir/print/print.h"
#include "ir/settings.h"
#include "ir/tensor_map.h"
#include "ir/visit.h"
#include "lower/copy_async/one_thread.h"
#include "lower/variant.h"

namespace ww::lower {
namespace {

using ir::ExprId;
using ir::StmtId;
using ir::StmtKind;

/// A copy whose bytes an mbarrier hears of, and where it stands.
struct Load {
  ExprId mbarrier = {};
  StmtId copy = {};
};

/// An arrival that expects bytes, and the copies that bring them, of one block.
struct Phase {
  ExprId mbarrier = {};
  StmtId expects = {};  // none: not yet seen
  std::vector<Load> loads = {};
  std::size_t last = 0;  // statement of the block behind which the thread arrives
};

/// Phases of a block, in the order of its statements.
struct Phases {
  std::vector<Phase> open = {};
  std::vector<Phase> done = {};
};

/// What the statements below one do that matters to the phases around it.
struct Below {
  std::vector<Load> loads = {};  // of which no arrival stands beside them
  std::vector<ExprId> waits = {};
  std::set<std::uint32_t> stored = {};  // buffers
};

class Replacer {
 public:
  Replacer(ir::Function& f, const ir::LaunchShape& launch, target::Target target,
           std::vector<Diag>& errors)
      : f_(f), launch_(launch), target_(target), errors_(errors) {}

  EngineFallback run() {
    const Below left = block(f_.body);
    for (const Load& load : left.loads) no_arrival(load.mbarrier, f_[load.copy].span);
    if (errors_.empty()) drop_unused_maps();
    return std::move(out_);
  }

 private:
  template <typename... Args>
  void refuse(Span span, fmt::format_string<Args...> format, Args&&... args) {
    errors_.push_back(
        diag(DiagKind::NotOnTarget, "{} has no copy engine, and cp.async does not do this: {}",
             target::info(target_.arch).name, fmt::format(format, std::forward<Args>(args)...))
            .with_span(span));
  }
  void no_arrival(ExprId mbarrier, Span span) {
    refuse(span, "no arrival that expects the bytes at `{}` stands in the block of the copy",
           ir::print(f_, mbarrier));
  }

  // --- blocks ------------------------------------------------------------------------------------

  Below block(ir::Block& list) {
    Phases phases;
    Below out;
    std::set<std::size_t> dropped;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const StmtId id = list[i];
      if (f_[id].kind == StmtKind::Ptx && ir::is_of_engine(f_[f_[id].ptx].opcode)) {
        dropped.insert(i);
        instruction(id, i, phases, out);
        continue;
      }
      Below here = statement(id);
      for (const Load& load : here.loads) join(load, i, phases.open);
      close_changed(here, i, phases, out);
      out.waits.insert(out.waits.end(), here.waits.begin(), here.waits.end());
      out.stored.merge(here.stored);
    }
    for (Phase& phase : phases.open) close(std::move(phase), phases.done, out);
    rewrite(list, dropped, phases.done);
    return out;
  }

  // What one statement does, with what stands below it.
  Below statement(StmtId id) {
    Below out;
    const StmtKind kind = f_[id].kind;
    if (kind == StmtKind::Tile) copy(id, out);
    if (kind == StmtKind::Store) out.stored.insert(f_[id].buffer.index);
    if (is_call(f_, f_[id], ir::Intrinsic::MbarrierWait))
      out.waits.push_back(f_[f_[id].expr].args[0]);
    if (kind == StmtKind::Ptx) polled(f_[f_[id].ptx], out);
    for (ir::Block* part : {&f_.at(id).body, &f_.at(id).other}) {
      Below below = block(*part);
      out.loads.insert(out.loads.end(), below.loads.begin(), below.loads.end());
      out.waits.insert(out.waits.end(), below.waits.begin(), below.waits.end());
      out.stored.merge(below.stored);
    }
    return out;
  }

  // Instructions that ask for a phase, or write a scalar.
  void polled(const ir::PtxCall& call, Below& out) const {
    const bool waits = call.opcode.text().contains("_wait");
    for (const ir::PtxOperand& operand : call.operands) {
      if (waits && operand.kind == ir::PtxOperandKind::Address) out.waits.push_back(operand.expr);
      if (operand.expr.valid() && f_[operand.expr].op == ir::ExprOp::Load)
        out.stored.insert(f_[operand.expr].buffer.index);
    }
  }

  // --- phases ------------------------------------------------------------------------------------

  auto find(std::vector<Phase>& open, ExprId mbarrier) const {
    return std::ranges::find_if(
        open, [&](const Phase& each) { return ir::same(f_, each.mbarrier, mbarrier); });
  }

  void join(const Load& load, std::size_t i, std::vector<Phase>& open) const {
    auto phase = find(open, load.mbarrier);
    if (phase == open.end()) phase = open.insert(phase, Phase{.mbarrier = load.mbarrier});
    phase->loads.push_back(load);
    phase->last = i;
  }

  // An instruction that only the engine needs.
  void instruction(StmtId id, std::size_t i, Phases& phases, Below& out) {
    const ir::PtxCall& call = f_[f_[id].ptx];
    const isa::Mnemonic called = call.opcode.mnemonic();
    if (called == "mbarrier.expect_tx")
      return refuse(f_[id].span, "`mbarrier.expect_tx` expects bytes without an arrival");
    if (called != "mbarrier.arrive.expect_tx") return;
    if (call.opcode.text().contains("shared::cluster"))
      return refuse(f_[id].span, "the arrival is for another CTA of the cluster");
    std::size_t at = 0;
    while (at < call.operands.size() && call.operands[at].kind != ir::PtxOperandKind::Address) ++at;
    if (at == call.operands.size() || call.operands[at].offset.valid())
      return refuse(f_[id].span, "the arrival does not name its mbarrier by a pointer");
    const ExprId mbarrier = call.operands[at].expr;
    auto phase = find(phases.open, mbarrier);
    if (phase != phases.open.end() && phase->expects.valid()) {
      Phase earlier = std::move(*phase);
      phases.open.erase(phase);
      close(std::move(earlier), phases.done, out);
      phase = phases.open.end();
    }
    if (phase == phases.open.end()) phase = phases.open.insert(phase, Phase{.mbarrier = mbarrier});
    phase->expects = id;
    phase->last = i;
  }

  // A wait for the mbarrier ends the phase, and so does another value of a variable that names it: the
  // same words mean another mbarrier from there on.
  void close_changed(const Below& here, std::size_t i, Phases& phases, Below& out) {
    for (std::size_t k = 0; k < phases.open.size();) {
      const bool waits = std::ranges::any_of(
          here.waits, [&](ExprId other) { return ir::same(f_, phases.open[k].mbarrier, other); });
      if (!waits && !names_change(phases.open[k], here.stored)) {
        ++k;
        continue;
      }
      Phase phase = std::move(phases.open[k]);
      phases.open.erase(phases.open.begin() + static_cast<std::ptrdiff_t>(k));
      if (phase.loads.empty() || phase.last != i) {
        close(std::move(phase), phases.done, out);
        continue;
      }
      const std::string name = ir::print(f_, phase.mbarrier);
      refuse(f_[phase.loads.front().copy].span,
             "{} in the same block, and which phase the copy is for cannot be seen",
             waits ? fmt::format("the mbarrier at `{}` is waited for", name)
                   : fmt::format("`{}` is given another meaning", name));
    }
  }

  [[nodiscard]] bool names_change(const Phase& phase, const std::set<std::uint32_t>& stored) const {
    const auto changes = [&](ExprId root) {
      return root.valid() && ir::any_below(f_, root, [&](const ir::Expr& e) {
               return e.op == ir::ExprOp::Load && stored.contains(e.buffer.index);
             });
    };
    return changes(phase.mbarrier) ||
           (phase.expects.valid() && changes(f_[f_[phase.expects].ptx].predicate));
  }

  void close(Phase phase, std::vector<Phase>& done, Below& out) {
    if (!phase.expects.valid()) {
      out.loads.insert(out.loads.end(), phase.loads.begin(), phase.loads.end());
    } else if (phase.loads.empty()) {
      refuse(f_[phase.expects].span,
             "no copy that names the mbarrier at `{}` stands in the block of the arrival",
             ir::print(f_, phase.mbarrier));
    } else {
      done.push_back(std::move(phase));
    }
  }

  // The block without what only the engine needs, and with the arrivals behind the copies.
  void rewrite(ir::Block& list, const std::set<std::size_t>& dropped,
               const std::vector<Phase>& done) {
    ir::Block out;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!dropped.contains(i)) out.push_back(list[i]);
      for (const Phase& phase : done)
        if (phase.last == i) arrive(phase, out);
    }
    list = std::move(out);
  }

  void arrive(const Phase& phase, ir::Block& out) {
    const Span span = f_[phase.expects].span;
    const ExprId predicate = f_[f_[phase.expects].ptx].predicate;
    const ir::PtxOperand at{.kind = ir::PtxOperandKind::Address, .expr = phase.mbarrier};
    const auto add = [&](std::string_view opcode, std::vector<ir::PtxOperand> operands) {
      ir::Stmt stmt{.kind = StmtKind::Ptx, .span = span};
      stmt.ptx = f_.add(ir::PtxCall{.opcode = isa::opcode_of(opcode),
                                    .operands = std::move(operands),
                                    .predicate = predicate});
      out.push_back(f_.add(std::move(stmt)));
    };
    add("cp.async.mbarrier.arrive.shared.b64", {at});
    add("mbarrier.arrive.shared.b64", {{.kind = ir::PtxOperandKind::Sink}, at});
  }

  // --- copies ------------------------------------------------------------------------------------

  void copy(StmtId id, Below& out) {
    const ir::TileCall& call = f_[f_[id].tile];
    if (call.op != ir::TileOp::CopyAsync) return;
    const auto* dst = std::get_if<ir::Region>(&call.args[0]);
    const auto* src = std::get_if<ir::Region>(&call.args[1]);
    if (dst == nullptr || src == nullptr) return;
    const ir::Scope to = f_[dst->buffer].scope, from = f_[src->buffer].scope;
    const ir::Setting* setting = ir::mbarrier_setting(call);
    if (to == ir::Scope::Global && ir::is_shared(from)) return store(id);
    if (!ir::is_shared(to) || setting == nullptr) return;
    if (ir::find_setting(call, "remote_cta_id") != nullptr)
      return refuse(f_[id].span, "`remote_cta_id=` copies into another CTA of the cluster");
    if (ir::cta_mask_setting(call) != nullptr && launch_.cluster_ctas() > 1)
      return refuse(f_[id].span, "`cta_mask=` copies into several CTAs of the cluster");
    if (from != ir::Scope::Global) return;
    const auto* mbarrier = std::get_if<ExprId>(setting);
    if (mbarrier == nullptr)
      return refuse(f_[id].span, "`mbar=` is a number, expected a pointer to the mbarrier");
    out.loads.push_back({*mbarrier, id});
    by_threads(id, ir::TileOp::CopyAsync);
  }

  void store(StmtId id) {
    const ir::TileCall& call = f_[f_[id].tile];
    if (const ir::Setting* reduce = ir::find_setting(call, "use_tma_reduce");
        reduce != nullptr && !ir::word_of(reduce).empty())
      return refuse(f_[id].span, "`use_tma_reduce=\"{}\"` combines elements in global memory",
                    ir::word_of(reduce));
    by_threads(id, ir::TileOp::Copy);
  }

  // Settings for the engine go; settings for what is copied stay.
  void by_threads(StmtId id, ir::TileOp op) {
    ir::TileCall& call = f_.at(f_[id].tile);
    call.op = op;
    for (const Variant* each : variants_of(ir::TileOp::CopyAsync))
      if ((each->name == "tma" || each->name == "bulk") && answers_to(*each, call.dispatch))
        call.dispatch.clear();
    std::erase_if(call.config, [](const auto& setting) {
      const ir::SettingFacts* facts = ir::find_setting_facts(ir::TileOp::CopyAsync, setting.first);
      return setting.first == "prefetch_tensormap" || setting.first == "use_tma_reduce" ||
             (facts != nullptr && facts->is_of_tensor_maps());
    });
    out_.copies.push_back(id);
  }

  // Maps that nothing names any more need not be made.
  void drop_unused_maps() {
    for (const ir::BoundMap& each : ir::tensor_maps(f_)) {
      bool is_used = false;
      ir::for_each_stmt(f_, f_.body, [&](StmtId id) {
        ir::for_each_root(f_, f_[id], [&](ExprId root) {
          is_used = is_used || ir::any_below(f_, root, [&](const ir::Expr& e) {
                      return e.op == ir::ExprOp::Var && e.var == each.var;
                    });
        });
      });
      if (is_used) continue;
      std::erase_if(f_.host, [&](StmtId id) {
        return f_[id].kind == StmtKind::Bind && f_[id].var == each.var;
      });
    }
  }

  ir::Function& f_;
  const ir::LaunchShape& launch_;
  target::Target target_;
  std::vector<Diag>& errors_;
  EngineFallback out_;
};

}  // namespace

EngineFallback replace_engine(ir::Function& function, const ir::LaunchShape& launch,
                              target::Target target, std::vector<Diag>& errors) {
  if (!ir::allows_engine_fallback(function) || !ir::needs_engine_fallback(target)) return {};
  return Replacer(function, launch, target, errors).run();
}

void check_replaced(const EngineFallback& fallback, Context& context, const ir::ActiveSets& active,
                    std::vector<Diag>& errors) {
  for (const StmtId id : fallback.copies) {
    const ir::Stmt& s = context.f[id];
    const auto one = check_one_thread(Call{context, context.f[s.tile], s.span, active[id]});
    if (one) continue;
    errors.push_back(diag(DiagKind::NoVariant,
                          "`{}` in place of the copy engine: {} [declined: {}]",
                          ir::tile_name(context.f[s.tile]), one.error().reason, one.error().rule)
                         .with_span(s.span));
  }
}

void note_replaced(const EngineFallback& fallback, const Context& context, LoweringReport& report) {
  std::set<std::pair<std::size_t, std::size_t>> spans;
  for (const StmtId id : fallback.copies)
    spans.emplace(context.f[id].span.begin, context.f[id].span.end);
  for (CallReport& call : report.calls) {
    if (call.chosen.empty() || !spans.contains({call.span.begin, call.span.end})) continue;
    call.plan.notes.push_back(fmt::format(
        "in place of the copy engine, which {} does not have: one thread moves all {} bytes, in {} "
        "round{}",
        target::info(context.target.arch).name, call.plan.bytes, call.plan.rounds,
        call.plan.rounds == 1 ? "" : "s"));
  }
}

}  // namespace ww::lower
