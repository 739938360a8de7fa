// SPDX-License-Identifier: Apache-2.0
#include "lower/dispatch.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "base/cancel.h"
#include "base/join.h"
#include "base/suggest.h"
#include "base/wide.h"
#include "ir/indexed.h"
#include "ir/launch/occupancy.h"
#include "ir/launch/shared_order.h"
#include "ir/print/print.h"
#include "ir/print/printer.h"
#include "ir/settings.h"
#include "layout/text.h"
#include "lower/background_proofs.h"
#include "lower/call.h"
#include "lower/code_observer.h"
#include "lower/lowered_op.h"
#include "lower/lowering_report.h"
#include "lower/scratch.h"
#include "lower/variant.h"

namespace ww::lower {
namespace {

// --- calls in words ------------------------------------------------------------------------------

// A call in words: for reports, for the provenance of lowered code, and for errors.

/// Made before anything is lowered: it knows the names of the source.
class CallText {
 public:
  explicit CallText(const ir::Function& function)
      : f_(function),
        source_buffers_(function.buffer_count()),
        source_exprs_(function.expr_count()),
        printed_(function) {}

  /// "Tx.warp.copy(R[0:8], A[0:8])"
  [[nodiscard]] std::string whole(const ir::TileCall& tile) const {
    std::string args;
    const auto& params = ir::params_of(tile.op);
    for (std::size_t i = 0; i < tile.args.size(); ++i) {
      const auto* region = std::get_if<ir::Region>(&tile.args[i]);
      const auto* scalar = std::get_if<ir::ExprId>(&tile.args[i]);
      // Factors of a product go without saying.
      if (params[i].kind == ir::TileParamKind::Float) scalar = nullptr;
      if (region == nullptr && scalar == nullptr) continue;
      args += args.empty() ? "" : ", ";
      args += region != nullptr ? this->region(*region) : this->scalar(*scalar);
    }
    // Results are approximate then: readers of the PTX should know.
    if (ir::is_true(ir::find_setting(tile, "fast"))) args += ", fast=True";
    return fmt::format("{}({})", ir::tile_name(tile), args);
  }
  /// A row of the report, up to what the variants say.
  [[nodiscard]] CallReport describe(const Call& call) const {
    CallReport row;
    row.span = call.span;
    row.name = ir::tile_name(call.tile);
    row.op = ir::name_of(call.tile.op);
    row.scope = ir::name_of(call.tile.scope);
    row.threads = ir::to_text(call.active, call.context.launch);
    const auto& params = ir::params_of(call.tile.op);
    for (std::size_t i = 0; i < call.tile.args.size(); ++i) {
      const auto* region = std::get_if<ir::Region>(&call.tile.args[i]);
      if (region == nullptr) continue;
      const ir::Buffer& buffer = f_[region->buffer];
      const auto layout = ir::layout_of(f_, buffer);
      row.operands.push_back({.role = std::string(params[i].name),
                              .region = this->region(*region),
                              .dtype = std::string(num::name_of(buffer.dtype)),
                              .scope = std::string(ir::name_of(buffer.scope)),
                              .layout = layout ? layout::to_text(*layout) : ""});
    }
    return row;
  }

 private:
  // Under the buffer's name in the source; a printed program may have to use another.
  [[nodiscard]] std::string region(const ir::Region& region) const {
    if (region.buffer.index >= source_buffers_) return f_[region.buffer].name;  // a whole fragment
    const std::string printed = ir::printing::region(printed_, region);
    return f_[region.buffer].name + printed.substr(std::min(printed.find('['), printed.size()));
  }
  [[nodiscard]] std::string scalar(ir::ExprId scalar) const {
    return scalar.index < source_exprs_ ? ir::printing::expr(printed_, scalar)
                                        : ir::print(f_, scalar);
  }

  const ir::Function& f_;
  std::size_t source_buffers_, source_exprs_;
  ir::printing::Context printed_;
};

// What TVM's variants of these names do.
std::string_view variant_elsewhere(std::string_view name) {
  struct Row {
    std::string_view name, reason;
  };
  static constexpr Row kRows[] = {
      {"tcgen05", "`tcgen05.mma` is not lowered"},
      {"shared", "reductions in shared memory are not lowered"},
      {"sm100_packed", "sums in pairs are not lowered"},
  };
  for (const Row& row : kRows)
    if (row.name == name) return row.reason;
  return {};
}

Diag unknown_variant(const Call& call) {
  std::vector<std::string_view> names;
  for (const Variant* each : variants_of(call.tile.op)) names.push_back(each->name);
  const std::string_view elsewhere = variant_elsewhere(call.tile.dispatch);
  Diag out = diag(DiagKind::NoVariant, "`{}` has no variant `{}`{}", ir::name_of(call.tile.op),
                  call.tile.dispatch,
                  elsewhere.empty() ? did_you_mean(call.tile.dispatch, names)
                                    : fmt::format(": {}", elsewhere))
                 .with_span(call.span);
  out.notes.push_back(
      {names.empty() ? std::string("it has none") : fmt::format("there are {}", join(names, ", ")),
       {}});
  return out;
}

// The error of a call that all variants in the row have declined, or that has none.
Diag no_variant(const Call& call, const CallReport& row) {
  const std::string_view op = ir::name_of(call.tile.op);
  if (row.verdicts.empty()) return unknown_variant(call);
  Diag out = diag(DiagKind::NoVariant, "no variant of `{}` accepts this call for `{}`", op,
                  target::info(call.context.target.arch).name)
                 .with_span(call.span);
  for (const Verdict& verdict : row.verdicts)
    out.notes.push_back(
        {fmt::format("{}: {} [declined: {}]", verdict.variant, verdict.reason, verdict.rule), {}});
  return out;
}

// --- barriers between the calls that one call stands for -----------------------------------------

// Barriers between the calls that one call stands for (lower/lowered_op.h): a copy reads elements of
// memory into registers, and a later one writes the same elements. Those that read one need not be
// those that write it. `ldmatrix` reads rows for all lanes of a warp; of threads that hold the same element,
// all read it and one writes it.

// The unit whose threads read and write the same elements; Thread: each its own.
ir::Unit unit_between(const Reach& read, const Reach& written) {
  if (read.empty() || read.size() != written.size()) return ir::Unit::Cta;
  ir::Unit out = ir::Unit::Thread;
  for (std::size_t x = 0; x < read.size(); ++x) {
    ThreadRange both = read[x];
    both.add(written[x]);
    out = std::max(out, both.unit());
  }
  return out;
}

/// A barrier, of a warp where that is enough or else of the call's unit; nothing where none is needed.
struct InPlaceBarrier {
  ir::Block code = {};
  std::string note = {};                 // for the report of the call
  std::optional<EarlierRead> read = {};  // of what the call writes
};

Match<InPlaceBarrier> barrier_of(const Call& call, ir::Unit unit) {
  CodeWriter code(call.f(), call.context.facts, call.span);
  const bool is_of_warp = unit == ir::Unit::Warp && check_warps(call, "scope", "threads");
  if (is_of_warp) {
    code.evaluate(ir::Intrinsic::WarpSync, {});
  } else {
    WW_TRY_VOID(check_all_arrive(call));
    write_barrier(call, code);
  }
  return InPlaceBarrier{
      code.take(), fmt::format("behind a barrier of the {}: other threads have read what it writes",
                               ir::name_of(is_of_warp ? ir::Unit::Warp : call.tile.scope))};
}

/// Goes through the calls of an expansion in order: `before` and `add` for each.
class InPlaceOrder {
 public:
  explicit InPlaceOrder(const Expansion& expansion) : expansion_(expansion) {}
  /// What stands before the next call's code. Declines where not all threads of the unit arrive.
  Match<InPlaceBarrier> before(const Variant& variant, const std::any& plan, const Call& call) {
    const auto reach = [&] {
      return variant.reach == nullptr ? Reach{} : variant.reach(plan, call);
    };
    for (const auto& [reads, writes] : expansion_.in_place) {
      if (reads == next_)
        reads_.try_emplace(next_, Read{.by = reach(), .what = {.tile = call.tile}});
      const auto read = reads_.find(reads);
      if (writes != next_ || read == reads_.end()) continue;
      const ir::Unit unit = std::min(unit_between(read->second.by, reach()), call.tile.scope);
      InPlaceBarrier out;
      EarlierRead what = read->second.what;
      if (unit > what.ordered) out = WW_TRY(barrier_of(call, unit));
      order(call.f(), out.code, what);
      out.read = std::move(what);
      return out;
    }
    return InPlaceBarrier{};
  }
  /// The code of this call. A barrier in it orders what was read before.
  void add(const ir::Function& f, const ir::Block& code) {
    for (auto& [call, read] : reads_) {
      if (call < next_) order(f, code, read.what);
      if (call == next_) read.what.code = code;
    }
    ++next_;
  }

 private:
  struct Read {
    Reach by;
    EarlierRead what;
  };
  static void order(const ir::Function& f, const ir::Block& code, EarlierRead& read) {
    for (const ir::StmtId id : code) {
      if (f[id].kind != ir::StmtKind::Evaluate) continue;
      if (const auto unit = ir::barrier_unit(f, f[f[id].expr]))
        read.ordered = std::max(read.ordered, *unit);
    }
  }

  const Expansion& expansion_;
  std::size_t next_ = 0;
  std::map<std::size_t, Read> reads_;  // by call
};

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
      if (const auto request = ir::register_request(f_, f_[id])) registers_ = request->count;
      if (f_[id].kind == ir::StmtKind::Tile) {
        tile(id, out);
        continue;
      }
      ir::Stmt& s = f_.at(id);
      // What can be seen not to happen need not be lowered, and often could not be.
      if (s.kind == ir::StmtKind::If) {
        if (const auto known = known_value(s.expr)) (*known != 0 ? s.other : s.body).clear();
      } else if (s.kind == ir::StmtKind::For) {
        if (known_value(s.trips()).value_or(1) <= 0) s.body.clear();
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
    for (const ir::TileCall& each : (*calls)->calls) lower_call(with_tile(call, each), out, &order);
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
    const Call call = with_tile(written, tile);
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
