// SPDX-License-Identifier: Apache-2.0
#include "harness/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "base/check.h"
#include "emit/ptx/emit.h"
#include "harness/gpu.h"
#include "ir/print/print.h"
#include "lower/lower.h"
#include "ptx/printer.h"
#include "script/compile.h"

namespace ww::test {
namespace {

std::string rendered(const script::Compiled& compiled, const std::vector<Diag>& errors) {
  std::string out;
  for (const Diag& error : errors) out += compiled.render(error);
  return out;
}

class Checker {
 public:
  explicit Checker(const Program& program) : program_(program) { out_.source = program.source; }

  Checked run(bool only_compile) {
    try {
      if (compile() && lower() && emit() && !only_compile && evaluate_tile() &&
          evaluate_lowered() && run_on_virtual_gpu() && run_on_gpu())
        out_.ran =
            std::make_shared<const Ran>(Ran{program_.target, *std::move(lowered_), std::move(args_),
                                            std::move(expected_), further_tolerance()});
    } catch (const BugError& bug) {
      out_.why = fmt::format("a broken promise: {}", bug.what());
    }
    return std::move(out_);
  }
  Checked run_device() {
    if (!compile() || !lower() || !emit()) return std::move(out_);
    make_arguments();
    add_lowered_args(args_, *lowered_, program_.scalars);
    Results seen;
    stop(Stage::Device, simulate({loaded_.program}, *lowered_, args_, seen, &out_.turns));
    return std::move(out_);
  }
  Findings run_each() {
    Findings out;
    Results seen;
    bool is_evaluated = true;
    try {
      if (compile() && lower() && emit()) {
        make_arguments();
        out.tile = evaluate(*compiled_->function, args_, seen, is_evaluated);
        add_lowered_args(args_, *lowered_, program_.scalars);
        out.lowered = evaluate(*lowered_, args_, seen, out.is_lowered_evaluated);
        out.device = simulate({loaded_.program}, *lowered_, args_, seen, nullptr);
      }
    } catch (const BugError& bug) {
      out_.stage = Stage::Emit;
      out_.why = fmt::format("a broken promise: {}", bug.what());
    }
    out.checked = std::move(out_);
    return out;
  }

 private:
  bool compile() {
    out_.stage = Stage::Script;
    const auto arch = target::parse_arch(program_.target);
    WW_CHECK(arch.has_value(), "no target {}", program_.target);
    target_ = {.arch = *arch, .ptx = Gpu::wanted().ptx_for(*arch)};
    compiled_ = script::compile(SourceText("test.py", program_.source),
                                {.kernel = program_.kernel, .target = target_});
    out_.why = rendered(*compiled_, compiled_->errors);
    return compiled_->function.has_value();
  }

  bool lower() {
    out_.stage = Stage::Lower;
    lower::Lowered lowered = lower::lower(*compiled_->function, {.target = target_});
    out_.report = std::move(lowered.report);
    out_.why = rendered(*compiled_, lowered.errors);
    if (!lowered.function || !lowered.errors.empty()) return false;
    lowered_ = std::move(lowered.function);
    out_.lowered = ir::print(*lowered_);
    return true;
  }

  bool emit() {
    out_.stage = Stage::Emit;
    const auto module = emit::ptx_module(*lowered_, {.target = target_});
    if (!module) {
      out_.why = compiled_->render(module.error());
      return false;
    }
    out_.ptx = ptx::print(*module);
    for (const auto& [from, to] : program_.edits) edit(from, to);
    loaded_ = sim::load(out_.ptx, "test.ptx");
    for (const Diag& error : loaded_.errors)
      out_.why += render(error, SourceText("test.ptx", out_.ptx));
    if (loaded_.program != nullptr) out_.stage = Stage::Right;
    return loaded_.program != nullptr;
  }

  void edit(const std::string& from, const std::string& to) {
    const std::size_t at = out_.ptx.find(from);
    WW_CHECK(at != std::string::npos, "`{}` is not in the PTX", from);
    out_.ptx.replace(at, from.size(), to);
  }

  bool stop(Stage stage, std::optional<std::string> why) {
    out_.stage = why ? stage : Stage::Right;
    out_.why = why.value_or("");
    return why.has_value();
  }

  void make_arguments() {
    args_ = make_args(*compiled_->function, program_.scalars, program_.seed, program_.inputs);
    for (const auto& [name, values] : program_.arrays) {
      const auto arg = std::ranges::find(args_, name, &Arg::name);
      WW_CHECK(arg != args_.end(), "no array `{}`", name);
      WW_CHECK(arg->bytes.size() == values.size() * arg->element_bytes, "{} values for `{}`",
               values.size(), name);
      for (std::size_t i = 0; i < values.size(); ++i) {
        std::memcpy(arg->bytes.data() + i * arg->element_bytes, &values[i], arg->element_bytes);
      }
    }
  }

  bool evaluate_tile() {
    out_.stage = Stage::Tile;
    make_arguments();
    for (Arg& arg : args_) {
      const bool is_float = num::is_float(arg.dtype);
      arg.has_any_nan = arg.has_any_nan || (program_.has_any_nan && is_float);
      arg.has_any_zero = program_.has_any_zero && is_float;
    }
    bool is_evaluated = true;
    if (stop(Stage::Tile, evaluate(*compiled_->function, args_, expected_, is_evaluated)))
      return false;
    return program_.schedule == 0 || evaluate_in_another_order();
  }
  bool evaluate_in_another_order() {
    Results seen;
    bool is_evaluated = true;
    const auto why = evaluate(*compiled_->function, args_, seen, is_evaluated, program_.schedule);
    return !stop(Stage::Tile, why ? why : difference_of(args_, expected_, seen));
  }

  // The program may have instructions that the evaluator does not know; the virtual GPU has them
  // all.
  bool evaluate_lowered() {
    out_.stage = Stage::Lowered;
    add_lowered_args(args_, *lowered_, program_.scalars);
    Results seen;
    bool is_evaluated = true;
    const auto why = evaluate(*lowered_, args_, seen, is_evaluated);
    if (!is_evaluated) return true;
    return !stop(Stage::Lowered,
                 why ? why : distance_of(args_, expected_, seen, program_.tolerance));
  }

  bool run_on_virtual_gpu() {
    out_.stage = Stage::Device;
    const sim::Schedule kOrders[] = {kDeviceOrder, {.turns = sim::Turns::Backward}, {}};
    Results seen;
    for (const sim::Schedule& order : std::span(kOrders).first(std::min<std::size_t>(
             static_cast<std::size_t>(program_.device_orders), std::size(kOrders)))) {
      const auto why = simulate({loaded_.program}, *lowered_, args_, seen, &out_.turns, order);
      if (stop(Stage::Device, why ? why : distance_of(args_, expected_, seen, program_.tolerance)))
        return false;
    }
    if (program_.tolerance > 0) expected_ = std::move(seen);
    return true;
  }

  bool run_on_gpu() {
    const Gpu& gpu = Gpu::wanted();
    if (!gpu.runs(target_.arch)) return true;
    if (program_.tolerance > 0 && !gpu.rounds_like(target_.arch)) return true;
    out_.stage = Stage::Gpu;
    Results seen;
    const auto why = gpu.run(out_.ptx, *lowered_, args_, seen);
    out_.is_on_gpu = true;
    return !stop(
        Stage::Gpu,
        why ? why : distance_of(with_any_nan(args_), expected_, seen, further_tolerance()));
  }
  [[nodiscard]] double further_tolerance() const {
    return program_.is_approximate ? 2 * program_.tolerance : 0;
  }

  const Program& program_;
  Checked out_;
  target::Target target_;
  std::optional<script::Compiled> compiled_;
  std::optional<ir::Function> lowered_;
  sim::LoadResult loaded_;
  std::vector<Arg> args_;
  Results expected_;
};

}  // namespace

std::string_view name_of(Stage stage) {
  switch (stage) {
    case Stage::Script:
      return "script";
    case Stage::Lower:
      return "lower";
    case Stage::Emit:
      return "emit";
    case Stage::Tile:
      return "tile program";
    case Stage::Lowered:
      return "lowered program";
    case Stage::Device:
      return "virtual GPU";
    case Stage::Gpu:
      return "GPU";
    case Stage::Right:
      return "right";
  }
  return "";
}

std::string Checked::explain() const {
  std::string out = fmt::format("{}: {}\n--- source\n{}", name_of(stage), why, source);
  for (const lower::CallReport& each : report.calls) {
    out += fmt::format("--- {} {}: {} {}\n", each.scope, each.op, each.chosen, each.plan.summary);
    for (const lower::Verdict& verdict : each.verdicts)
      if (!verdict.reason.empty())
        out += fmt::format("      {}: {} [{}]\n", verdict.variant, verdict.reason, verdict.rule);
  }
  if (!lowered.empty()) out += "--- lowered\n" + lowered;
  if (stage == Stage::Device || stage == Stage::Gpu || stage == Stage::Emit)
    out += "--- PTX\n" + ptx;
  return out;
}

Checked check(const Program& program) { return Checker(program).run(false); }
Checked check_on_virtual_gpu(const Program& program) { return Checker(program).run_device(); }
Findings findings_of(const Program& program) { return Checker(program).run_each(); }
Checked compile_only(const Program& program) { return Checker(program).run(true); }

std::string GpuCount::text() const {
  return fmt::format("on the GPU: {} programs, {} copies", programs, copies);
}

std::vector<std::pair<std::string, std::string>> without_in_place_barrier(const std::string& ptx) {
  const auto line_at = [&](std::size_t begin) {
    return ptx.substr(begin, ptx.find('\n', begin) + 1 - begin);
  };
  for (std::size_t at = ptx.rfind("\tbar"); at != std::string::npos && at > 0;
       at = ptx.rfind("\tbar", at - 1)) {
    const std::string barrier = line_at(at), next = line_at(at + barrier.size());
    if (next.starts_with("\t// ") && next.contains("_part) by ")) return {{barrier + next, next}};
  }
  return {};
}

std::size_t count_of(std::string_view text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos;
       at = text.find(what, at + what.size()))
    ++count;
  return count;
}

}  // namespace ww::test
