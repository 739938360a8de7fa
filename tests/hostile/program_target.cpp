// SPDX-License-Identifier: Apache-2.0
// A source text all the way: compiled (tests/hostile/script/compile_law.h), evaluated, lowered, emitted.
// PTX that is emitted must read back and be legal, and the virtual GPU must be able to load it.
#include <algorithm>
#include <string>

#include "driver/args/kernel_args.h"
#include "driver/build.h"
#include "driver/run/device_run.h"
#include "emit/cuda/emit.h"
#include "emit/ptx/emit.h"
#include "eval/eval.h"
#include "hostile/script/compile_law.h"
#include "hostile/targets.h"
#include "ir/verify/verify.h"
#include "lower/lower.h"
#include "ptx/check.h"
#include "ptx/parser.h"
#include "ptx/printer.h"
#include "sim/program.h"

namespace ww::fuzz {
namespace {

constexpr std::uint64_t kProgramSteps = 20'000;
// Larger arrays only take longer.
constexpr std::int64_t kProgramElements = 1 << 14;

bool is_small(const ir::Function& tile) {
  std::int64_t elements = 1;
  for (std::uint32_t i = 0; i < tile.buffer_count(); ++i) {
    for (const ir::ExprId extent : tile[ir::BufferId{i}].shape) {
      const auto value = ir::const_int(tile, extent);
      if (!value || *value > kProgramElements) return false;
      elements *= std::max<std::int64_t>(*value, 1);
      if (elements > kProgramElements) return false;
    }
    elements = 1;
  }
  return true;
}

// What the reference evaluator says about the program is its business; here it only must say it.
void evaluate(const ir::Function& tile) {
  std::string errors;
  auto args = driver::read_kernel_args(tile, {}, errors);
  if (!args) return;
  (void)eval::run(
      tile, driver::eval_arguments(*args),
      {.limits = {.instructions = kProgramSteps / 8, .memory = std::uint64_t{1} << 26U}});
}

std::string broken_ptx(const std::string& text) {
  const ptx::ParseResult read = ptx::parse(text);
  if (!read.ok()) return "emitted PTX does not read: " + read.errors.front().text + "\n" + text;
  const ptx::CheckResult check = ptx::check(read.module);
  if (!check.ok()) return "emitted PTX is not legal: " + check.errors.front().text + "\n" + text;
  return "";
}

}  // namespace

std::string broken_lowering(const ir::Function& tile) {
  const target::Target target = driver::default_target(tile);
  if (!ir::verify(tile, {.target = target}).empty()) return "";
  const lower::Lowered lowered = lower::lower(tile, {.target = target});
  if (lowered.function.has_value() != lowered.errors.empty()) return "lowered beside errors";
  if (!lowered.function) return "";
  if (const auto wrong = ir::verify(*lowered.function, {.target = target}); !wrong.empty())
    return "what is lowered is no good program: " + wrong.front().text;
  const auto cuda = emit::cuda_source(*lowered.function, {.target = target});
  if (cuda && cuda->empty()) return "CUDA C++ without text";
  const auto module = emit::ptx_module(*lowered.function, {.target = target});
  return module ? broken_ptx(ptx::print(*module)) : "";
}

std::string program_law(std::string_view bytes) {
  const std::string_view text = bytes.substr(0, bytes.find("#--- expected"));
  script::Options options;
  options.kernel = script::kernel_of(text);
  options.max_steps = kProgramSteps;
  std::string broken = script::broken_law(text, options);
  if (!broken.empty()) return broken;
  const script::Compiled compiled = script::compile(SourceText("fuzz", std::string(text)), options);
  if (!compiled.function || !is_small(*compiled.function)) return "";
  evaluate(*compiled.function);
  return broken_lowering(*compiled.function);
}

}  // namespace ww::fuzz
