// SPDX-License-Identifier: Apache-2.0
#include "lower/dispatch.h"

#include <algorithm>

#include "base/cancel.h"
#include "base/wide.h"
#include "ir/indexed.h"
#include "ir/launch/register_budget.h"
#include "lower/background_proofs.h"
#include "lower/call_text.h"
#include "lower/cluster_code.h"
#include "lower/code_observer.h"
#include "lower/in_place.h"
#include "lower/lowered_op.h"
#include "lower/scratch.h"
#include "lower/variant.h"

namespace ww::lower {
namespace {

// A proof goes through all elements of a call, so that there is an end to how many it may have; of a
// table whose rows are chosen by number, through some rows.
std::optional<Diag> too_large(const Call& call) {
  const bool is_indexed = ir::is_indexed(call.tile.op);
  for (std::size_t i = 0; i < call.tile.args.size(); ++i) {
    const auto* region = std::get_if<ir::Region>(&call.tile.args[i]);
    if (region == nullptr) continue;
    const bool is_table = is_indexed && i == ir::table_argument(call.tile.op);
    Wide count = 1;
    for (std::size_t d = 0; d < region->ranges.size(); ++d) {
      if (is_table && d == ir::indexed_axis(call.tile)) continue;
      const std::int64_t extent = ir::const_int(call.f(), region->ranges[d].extent).value_or(1);
      count = std::min(count * std::max<std::int64_t>(0, extent), Wide{1} << 62);
    }
    if (count <= layout::kMaxEnumerated) continue;
    return diag(DiagKind::TooLarge,
                "`{}` of {}{} elements of `{}`, expected at most {} in one call",
                ir::name_of(call.tile.op), count == Wide{1} << 62 ? "more than " : "",
                static_cast<std::int64_t>(count), call.f()[region->buffer].name,
                layout::kMaxEnumerated)
        .with_note("a loop over smaller tiles takes them part by part")
        .with_span(call.span);
  }
  return std::nullopt;
}

std::vector<const Variant*> candidates_of(const ir::TileCall& tile) {
  std::vector<const Variant*> out = variants_of(tile.op);
  std::erase_if(out, [&](const Variant* each) {
    return tile.dispatch.empty() ? each->only_by_name : !answers_to(*each, tile.dispatch);
  });
  return out;
}

// A thread has 255 registers, and the rest of the kernel needs some.
void note_registers(PlanReport& plan) {
  constexpr std::int64_t kMax = 255;
  std::int64_t all = 0;
  for (const auto& [operand, count] : plan.operand_registers) all += count;
  all = std::max(all, plan.registers);
  if (all > kMax)
    plan.notes.push_back(
        fmt::format("{} registers per thread, of {} that there are: the assembler keeps the rest "
                    "in local memory",
                    all, kMax));
}

class Dispatch {
 public:
  Dispatch(Context& context, const ir::ActiveSets& active, const Options& options,
           BackgroundProofs& proofs, Lowered& out)
      : c_(context),
        f_(context.f),
        active_(active),
        options_(options),
        proofs_(proofs),
        out_(out),
        text_(context.f),
        repeated_(context.f) {}

  void run() {
    block(f_.body);
    proofs_.close(c_);
  }

 private:
  void block(ir::Block& list) {
    ir::Block out;
    const auto registers_before = registers_;
    for (const ir::StmtId id : list) {
      if (const auto request = ir::register_request(f_, id)) registers_ = request->count;
      if (f_[id].kind == ir::StmtKind::Tile) {
        tile(id, out);
        continue;
      }
      ir::Stmt& s = f_.at(id);
      // What can be seen not to happen need not be lowered, and often could not be.
      if (s.kind == ir::StmtKind::If) {
        if (const auto known = known_value(s.expr)) (*known != 0 ? s.other : s.body).clear();
      } else if (s.kind == ir::StmtKind::For) {
        if (known_value(s.args[1]).value_or(1) <= 0) s.body.clear();
      }
      block(s.body);
      block(s.other);
      out.push_back(id);
    }
    registers_ = registers_before;
    list = std::move(out);
  }

  std::optional<std::int64_t> known_value(ir::ExprId expr) {
    return ir::const_int(f_, ir::simplify(f_, expr, c_.facts));
  }

  void tile(ir::StmtId id, ir::Block& out) {
    stop_if_cancelled();
    Call call{c_, f_[f_[id].tile], f_[id].span, active_[id]};
    call.may_repeat = repeated_.may_repeat(id);
    call.is_in_loop = repeated_.is_in_loop(id);
    call.registers = registers_;
    if (auto error = too_large(call)) {
      out_.errors.push_back(*std::move(error));
      return;
    }
    if (const auto apart = check_workspace(call); !apart)
      return declined_by_all(call, apart.error());
    const LoweredOp* op = find_lowered_op(call.tile.op);
    if (op == nullptr || op->expand == nullptr) return lower_call(call, out);
    const auto calls = op->expand(call);
    if (!calls) return declined_by_all(call, calls.error());
    if (!*calls) return lower_call(call, out);
    CodeWriter code(f_, c_.facts, call.span);
    for (const ir::BufferId buffer : (*calls)->buffers) code.allocate(buffer);
    for (const auto& [buffer, count] : (*calls)->cleared) clear(code, buffer, count);
    for (const ir::BufferId view : (*calls)->views) code.declare(view);
    append(out, code.take());
    InPlaceOrder order(**calls);
    for (const ir::TileCall& each : (*calls)->calls) {
      Call part{c_, each, call.span, call.active};
      part.may_repeat = call.may_repeat;
      part.is_in_loop = call.is_in_loop;
      part.registers = call.registers;
      lower_call(part, out, &order);
    }
  }

  static void clear(CodeWriter& code, ir::BufferId buffer, std::int64_t count) {
    const num::DType type = code.f()[buffer].dtype;
    const ir::BufferId flat = code.flat_view(buffer, type, count, code.f()[buffer].name);
    code.loop("i", count, ir::LoopKind::Unroll,
              [&](ir::ExprId i) { code.store(flat, i, code.zero(type)); });
  }

  void declined_by_all(const Call& call, const Decline& why) {
    CallReport row = text_.describe(call);
    for (const Variant* each : candidates_of(call.tile))
      row.verdicts.push_back({.variant = std::string(each->name),
                              .priority = each->priority,
                              .kind = Verdict::Kind::Declined,
                              .rule = why.rule,
                              .reason = why.reason});
    out_.errors.push_back(no_variant(call, row));
    out_.report.calls.push_back(std::move(row));
  }

  // Starts and extents of regions as lowering wants them: in int32 or int64, and, where memory is
  // read for them, bound before the call, which may write that memory.
  ir::TileCall settled(const Call& call, ir::Block& out) {
    CodeWriter code(f_, c_.facts, call.span);
    ir::TileCall tile = call.tile;
    for (ir::TileArg& arg : tile.args) {
      auto* region = std::get_if<ir::Region>(&arg);
      if (region == nullptr) continue;
      for (ir::RangeExpr& range : region->ranges)
        for (ir::ExprId* expr : {&range.min, &range.extent}) {
          const num::DType type = f_[*expr].type.dtype;
          const bool is_wide = type == num::DType::Uint32 || num::bits_of(type) == 64;
          *expr = is_wide ? code.as_int64(*expr) : code.as_int32(*expr);
          if (f_[*expr].reads_memory) *expr = code.let("start", *expr);
        }
    }
    append(out, code.take());
    return tile;
  }
  static void append(ir::Block& out, const ir::Block& more) {
    out.insert(out.end(), more.begin(), more.end());
  }

  // `order`: of the calls that one call stands for.
  void lower_call(const Call& written, ir::Block& out, InPlaceOrder* order = nullptr) {
    if (!written.tile.workspace.empty() && !takes_workspace(written)) {
      out_.errors.push_back(diag(DiagKind::NotLowered,
                                 "`{}` has a workspace `{}`, expected none: no variant uses one",
                                 ir::tile_name(written.tile), written.tile.workspace.front().first)
                                .with_span(written.span));
      return;
    }
    const ir::TileCall tile = settled(written, out);
    Call call{c_, tile, written.span, written.active};
    call.registers = written.registers;
    call.may_repeat = written.may_repeat;
    call.is_in_loop = written.is_in_loop;
    CallReport row = text_.describe(written);
    std::any plan;
    if (const Variant* chosen = choose(call, row, plan)) {
      row.chosen = chosen->name;
      row.plan = chosen->report(plan, call);
      note_registers(row.plan);
      std::optional<EarlierRead> read;
      if (order != nullptr) {
        auto barrier = order->before(*chosen, plan, call);
        if (!barrier) return declined_by_all(written, barrier.error());
        append(out, barrier->code);
        if (!barrier->note.empty()) row.plan.notes.push_back(std::move(barrier->note));
        read = std::move(barrier->read);
      }
      write(*chosen, plan, call, text_.whole(written.tile), std::move(read), out);
      if (order != nullptr) order->add(f_, f_[out.back()].body);
    } else {
      out_.errors.push_back(no_variant(call, row));
    }
    out_.report.calls.push_back(std::move(row));
  }

  // The first variant with a plan for the call, or none; what each says goes to the row.
  static const Variant* choose(const Call& call, CallReport& row, std::any& plan) {
    const Variant* chosen = nullptr;
    for (const Variant* each : candidates_of(call.tile)) {
      Verdict verdict{.variant = std::string(each->name), .priority = each->priority};
      if (chosen == nullptr) {
        auto answer = each->match(call);
        if (answer) {
          chosen = each;
          plan = *std::move(answer);
          verdict.kind = Verdict::Kind::Chosen;
        } else {
          verdict.kind = Verdict::Kind::Declined;
          verdict.rule = std::move(answer.error().rule);
          verdict.reason = std::move(answer.error().reason);
        }
      }
      row.verdicts.push_back(std::move(verdict));
    }
    return chosen;
  }

  void write(const Variant& variant, const std::any& plan, const Call& call,
             const std::string& text, std::optional<EarlierRead> read, ir::Block& out) {
    CodeWriter code(f_, c_.facts, call.span);
    variant.emit(plan, call, code);
    ir::Stmt attr{.kind = ir::StmtKind::Attr};
    attr.span = call.span;
    attr.attr = ir::kPrimitiveAttr;
    attr.setting = fmt::format("{} by {}", text, variant.name);
    attr.body = code.take();
    if (options_.observer == nullptr)
      proofs_.add(c_, written_code(variant, call, text, attr.body, std::move(read)));
    else
      prove(variant, call, text, attr.body, read);
    out.push_back(f_.add(std::move(attr)));
  }

  void prove(const Variant& variant, const Call& call, const std::string& text, ir::Block& code,
             const std::optional<EarlierRead>& read) {
    const auto carry_out = [&] { return prove_written(call, code, read); };
    CodeObserver* const observer = options_.observer;
    const Proof proof = observer != nullptr ? observer->observe(f_, code, carry_out) : carry_out();
    if (auto error = verdict_of(proof, call, variant, text))
      out_.errors.push_back(*std::move(error));
  }

  Context& c_;
  ir::Function& f_;
  const ir::ActiveSets& active_;
  const Options& options_;
  BackgroundProofs& proofs_;
  Lowered& out_;
  CallText text_;
  RepeatedCalls repeated_;
  std::optional<std::int64_t> registers_;  // of a thread, by the `setmaxnreg` before
};

}  // namespace

void dispatch(Context& context, const ir::ActiveSets& active, const Options& options,
              BackgroundProofs& proofs, Lowered& out) {
  Dispatch(context, active, options, proofs, out).run();
  allocate_scratch(context);
}

}  // namespace ww::lower
