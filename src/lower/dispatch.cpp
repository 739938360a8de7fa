// SPDX-License-Identifier: Apache-2.0
#include "lower/dispatch.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/suggest.h"
#include "base/wide.h"
#include "ir/effects.h"
#include "ir/print/print.h"
#include "ir/print/printer.h"
#include "layout/text.h"
#include "lower/gemm/stage.h"
#include "lower/proof/proof.h"
#include "lower/test_lowering.h"
#include "lower/variant.h"

namespace ww::lower {
namespace {

using ir::StmtKind;

class Dispatch {
 public:
  Dispatch(Context& context, const ir::ActiveSets& active, LoweringReport& report,
           std::vector<Diag>& errors, Tampering* tampering)
      : c_(context),
        f_(context.f),
        active_(active),
        report_(report),
        errors_(errors),
        tampering_(tampering),
        source_buffers_(context.f.buffer_count()),
        printer_(context.f) {}

  void block(ir::Block& list) {
    ir::Block out;
    for (const ir::StmtId id : list) {
      if (f_[id].kind == StmtKind::Tile) {
        tile(id, out);
        continue;
      }
      ir::Stmt& s = f_.at(id);
      // What can be seen not to happen need not be lowered, and often could not be.
      if (s.kind == StmtKind::If)
        if (const auto known = ir::const_int(f_, ir::simplify(f_, s.expr, c_.facts)))
          (*known != 0 ? s.other : s.body).clear();
      block(s.body);
      block(s.other);
      out.push_back(id);
    }
    list = std::move(out);
  }

 private:
  void tile(ir::StmtId id, ir::Block& out) {
    const Call call{c_, f_[f_[id].tile], f_[id].span, active_[id]};
    if (is_too_large(call)) return;
    if (wants_stage(call))
      staged(call, out);
    else
      lower_call(call, out);
  }

  // A proof goes through all elements of a call, so that there is an end to how many it may have.
  bool is_too_large(const Call& call) {
    for (const ir::TileArg& arg : call.tile.args) {
      const auto* region = std::get_if<ir::Region>(&arg);
      if (region == nullptr) continue;
      Wide count = 1;
      for (const ir::RangeExpr& range : region->ranges)
        count =
            std::min(count * std::max<std::int64_t>(0, ir::const_int(f_, range.extent).value_or(1)),
                     Wide{1} << 62);
      if (count <= layout::kMaxEnumerated) continue;
      errors_.push_back(
          diag(DiagKind::TooLarge, "`{}` of {}{} elements of `{}`, expected at most {} in one call",
               ir::name_of(call.tile.op), count == Wide{1} << 62 ? "more than " : "",
               static_cast<std::int64_t>(count), f_[region->buffer].name, layout::kMaxEnumerated)
              .with_note("a loop over smaller tiles takes them part by part")
              .with_span(call.span));
      return true;
    }
    return false;
  }

  // The copies into registers and the gemm of what they bring, each as a call of its own.
  void staged(const Call& call, ir::Block& out) {
    const auto calls = stage_gemm(call);
    if (!calls) {
      CallReport row = describe(call);
      for (const Variant* each : candidates_of(call))
        row.verdicts.push_back({.variant = std::string(each->name),
                                .priority = each->priority,
                                .kind = Verdict::Kind::Declined,
                                .rule = calls.error().rule,
                                .reason = calls.error().reason});
      errors_.push_back(nobody(call, row));
      report_.calls.push_back(std::move(row));
      return;
    }
    CodeWriter code(f_, c_.facts, call.span);
    for (const ir::BufferId fragment : calls->fragments) code.allocate(fragment);
    append(out, code.take());
    for (const ir::TileCall& copy : calls->copies)
      lower_call({c_, copy, call.span, call.active}, out);
    lower_call({c_, calls->gemm, call.span, call.active}, out);
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
          if (ir::reads_memory(f_, *expr)) *expr = code.let("start", *expr);
        }
    }
    append(out, code.take());
    return tile;
  }
  static void append(ir::Block& out, const ir::Block& more) {
    out.insert(out.end(), more.begin(), more.end());
  }

  void lower_call(const Call& written, ir::Block& out) {
    if (!written.tile.workspace.empty()) {
      errors_.push_back(diag(DiagKind::NotLowered,
                             "`{}` has a workspace `{}`, expected none: no variant uses one",
                             ir::tile_name(written.tile), written.tile.workspace.front().first)
                            .with_span(written.span));
      return;
    }
    const ir::TileCall tile = settled(written, out);
    const Call call{c_, tile, written.span, written.active};
    CallReport row = describe(written);
    const Variant* chosen = nullptr;
    std::any plan;
    const std::vector<const Variant*> candidates = candidates_of(call);
    for (const Variant* each : candidates) {
      Verdict verdict{
          .variant = std::string(each->name), .priority = each->priority, .rule = {}, .reason = {}};
      if (chosen == nullptr) {
        auto answer = each->match(call);
        if (answer) {
          chosen = each;
          plan = *std::move(answer);
          verdict.kind = Verdict::Kind::Chosen;
        } else {
          verdict.kind = Verdict::Kind::Declined;
          verdict.rule = std::move(answer).error().rule;
          verdict.reason = std::move(answer).error().reason;
        }
      }
      row.verdicts.push_back(std::move(verdict));
    }
    if (chosen == nullptr) {
      errors_.push_back(nobody(call, row));
    } else {
      row.chosen = chosen->name;
      row.plan = chosen->report(plan, call);
      note_registers(row.plan);
      write(*chosen, plan, call, call_text(written), out);
    }
    report_.calls.push_back(std::move(row));
  }

  // A thread has 255 registers, and the rest of the kernel needs some.
  static void note_registers(PlanReport& plan) {
    constexpr std::int64_t kMost = 255;
    std::int64_t all = 0;
    for (const auto& [operand, count] : plan.operand_registers) all += count;
    all = std::max(all, plan.registers);
    if (all > kMost)
      plan.notes.push_back(
          fmt::format("{} registers per thread, of {} that there are: the assembler keeps the rest "
                      "in local memory",
                      all, kMost));
  }

  std::vector<const Variant*> candidates_of(const Call& call) const {
    std::vector<const Variant*> out;
    for (const Variant* each : variants_of(call.tile.op)) {
      const bool is_named = answers_to(*each, call.tile.dispatch);
      if (call.tile.dispatch.empty() ? !each->only_by_name : is_named) out.push_back(each);
    }
    return out;
  }

  void write(const Variant& variant, const std::any& plan, const Call& call,
             const std::string& text, ir::Block& out) {
    CodeWriter code(f_, c_.facts, call.span);
    variant.emit(plan, call, code);
    ir::Stmt attr{.kind = StmtKind::Attr};
    attr.span = call.span;
    attr.attr = ir::kPrimitiveAttr;
    attr.setting = fmt::format("{} by {}", text, variant.name);
    attr.body = code.take();
    prove(variant, call, text, attr.body);
    out.push_back(f_.add(std::move(attr)));
  }

  static Proof proof_of(const Call& call, const ir::Block& code) {
    switch (call.tile.op) {
      case ir::TileOp::Gemm:
        return prove_gemm(call, code);
      case ir::TileOp::Copy:
      case ir::TileOp::CopyAsync:
        return prove_copy(call, code);
      default:
        return prove_elementwise(call, code);
    }
  }

  void prove(const Variant& variant, const Call& call, const std::string& text, ir::Block& code) {
    if (tampering_ != nullptr) {
      if (tampering_->change(f_, code)) tampering_->proof = proof_of(call, code);
      return;
    }
    const Proof proof = proof_of(call, code);
    WW_CHECK(proof.difference.empty(), "`{}` of `{}` is wrong: {}", variant.name, text,
             proof.difference);
    if (!proof.could_not.empty())
      errors_.push_back(diag(DiagKind::NotLowered, "`{}` could not be proven: {}",
                             ir::name_of(call.tile.op), proof.could_not)
                            .with_span(call.span));
  }

  // --- words ---

  // The region under the buffer's name in the source; a printed program may have to use another.
  [[nodiscard]] std::string region_text(const ir::Region& region) const {
    if (region.buffer.index >= source_buffers_) return f_[region.buffer].name;  // a whole fragment
    const std::string printed = printer_.region(region);
    return f_[region.buffer].name + printed.substr(std::min(printed.find('['), printed.size()));
  }

  [[nodiscard]] std::string call_text(const Call& call) const {
    std::string args;
    for (const ir::TileArg& arg : call.tile.args) {
      const auto* region = std::get_if<ir::Region>(&arg);
      const auto* scalar = std::get_if<ir::ExprId>(&arg);
      if (call.tile.op == ir::TileOp::Gemm) scalar = nullptr;  // alpha and beta go without saying
      if (region == nullptr && scalar == nullptr) continue;
      args += args.empty() ? "" : ", ";
      args += region != nullptr ? region_text(*region) : ir::print(f_, *scalar);
    }
    return fmt::format("{}({})", ir::tile_name(call.tile), args);
  }

  [[nodiscard]] CallReport describe(const Call& call) const {
    CallReport row;
    row.span = call.span;
    row.name = ir::tile_name(call.tile);
    row.op = ir::name_of(call.tile.op);
    row.scope = ir::name_of(call.tile.scope);
    row.threads = ir::to_text(call.active, c_.launch);
    const auto& params = ir::params_of(call.tile.op);
    for (std::size_t i = 0; i < call.tile.args.size(); ++i) {
      const auto* region = std::get_if<ir::Region>(&call.tile.args[i]);
      if (region == nullptr) continue;
      const ir::Buffer& buffer = f_[region->buffer];
      const auto layout = ir::layout_of(f_, buffer);
      row.operands.push_back({.role = std::string(params[i].name),
                              .region = region_text(*region),
                              .dtype = std::string(num::name_of(buffer.dtype)),
                              .scope = std::string(ir::name_of(buffer.scope)),
                              .layout = layout ? layout::to_text(*layout) : ""});
    }
    return row;
  }

  [[nodiscard]] Diag nobody(const Call& call, const CallReport& row) const {
    const std::string_view op = ir::name_of(call.tile.op);
    if (row.verdicts.empty() && call.tile.dispatch.empty())
      return diag(DiagKind::NotLowered, "`{}` has no lowering", op).with_span(call.span);
    if (row.verdicts.empty()) return unknown_variant(call);
    Diag out = diag(DiagKind::NoVariant, "no variant of `{}` accepts this call for `{}`", op,
                    target::info(c_.target.arch).name)
                   .with_span(call.span);
    for (const Verdict& verdict : row.verdicts)
      out.notes.push_back(
          {fmt::format("{}: {} [declined: {}]", verdict.variant, verdict.reason, verdict.rule),
           {}});
    return out;
  }

  [[nodiscard]] Diag unknown_variant(const Call& call) const {
    std::vector<std::string_view> names;
    for (const Variant* each : variants_of(call.tile.op)) names.push_back(each->name);
    const std::string_view elsewhere = variant_elsewhere(call.tile.dispatch);
    Diag out = diag(DiagKind::NoVariant, "`{}` has no variant `{}`{}", ir::name_of(call.tile.op),
                    call.tile.dispatch,
                    elsewhere.empty() ? did_you_mean(call.tile.dispatch, names)
                                      : fmt::format(": {}", elsewhere))
                   .with_span(call.span);
    out.notes.push_back({names.empty() ? std::string("it has none")
                                       : fmt::format("there are {}", fmt::join(names, ", ")),
                         {}});
    return out;
  }

  // What TVM's variants of these names do.
  static std::string_view variant_elsewhere(std::string_view name) {
    struct Row {
      std::string_view name, reason;
    };
    constexpr std::string_view kTensorMaps = "copies through tensor maps are not lowered";
    constexpr std::string_view kReductions = "reductions of tiles are not lowered";
    static constexpr Row kRows[] = {
        {"tma", kTensorMaps},
        {"tma_auto", kTensorMaps},
        {"tma_explicit", kTensorMaps},
        {"dsmem", "copies between CTAs of a cluster are not lowered"},
        {"smem", "elementwise primitives on shared memory are not lowered"},
        {"tcgen05", "`tcgen05.mma` is not lowered"},
        {"local", kReductions},
        {"shared", kReductions},
        {"sm100_packed", kReductions},
        {"warp_xor_swizzle", "two copies through registers do the same"},
    };
    for (const Row& row : kRows)
      if (row.name == name) return row.reason;
    return {};
  }

  Context& c_;
  ir::Function& f_;
  const ir::ActiveSets& active_;
  LoweringReport& report_;
  std::vector<Diag>& errors_;
  Tampering* tampering_;
  std::size_t source_buffers_;
  ir::printing::Writer printer_;  // knows the names of the source: regions mention no others
};

}  // namespace

void dispatch(Context& context, const ir::ActiveSets& active, LoweringReport& report,
              std::vector<Diag>& errors, Tampering* tampering) {
  Dispatch(context, active, report, errors, tampering).block(context.f.body);
}

}  // namespace ww::lower
