// SPDX-License-Identifier: Apache-2.0
#include "sim/decode/late_reads.h"

#include <algorithm>
#include <string_view>

#include "sim/memory/memory.h"
#include "sim/program.h"

namespace ww::sim {
namespace {

constexpr std::size_t kMaxSteps = 4096;  // of one load's paths; longer ones count as waited for

// What an op does to a load that came before it.
enum class Step : std::uint8_t { Passes, Settles, Meets };

class LateReads {
 public:
  explicit LateReads(const Program& program) : program_(program), seen_(program.ops.size()) {}

  [[nodiscard]] bool is_late(std::uint32_t load) {
    if (!loads_shared(load)) return false;
    take_results(load);
    if (results_.empty()) return false;  // into `_`: no instruction is left of it
    ++round_;
    pending_.assign(1, load + 1);
    for (std::size_t steps = 0; !pending_.empty() && steps < kMaxSteps; ++steps) {
      const std::uint32_t op = pending_.back();
      pending_.pop_back();
      if (op >= program_.ops.size() || seen_[op] == round_) continue;
      seen_[op] = round_;
      const Step step = step_of(op);
      if (step == Step::Meets) return true;
      if (step == Step::Passes) follow(op);
    }
    return false;
  }

  /// Calls visit(op) for the ops of the load's function that do not start before the load has ended.
  template <typename Visit>
  void for_each_settling(std::uint32_t load, Visit&& visit) {
    take_results(load);
    const Code& code = program_.functions[program_.infos[load].function];
    for (std::uint32_t op = code.first_op; op < code.end_op; ++op)
      if (step_of(op) == Step::Settles) visit(op);
  }

 private:
  void take_results(std::uint32_t load) {
    results_.clear();
    for (const OperandInfo& operand : program_.operands_of(load))
      if (operand.is_result) results_.push_back(operand.place);
  }

  [[nodiscard]] std::string_view opcode(std::uint32_t op) const {
    return program_.module.text(program_.infos[op].opcode);
  }

  [[nodiscard]] bool loads_shared(std::uint32_t op) const {
    const std::string_view text = opcode(op);
    if (text.starts_with("ldmatrix")) return true;
    if (!text.starts_with("ld.")) return false;
    const isa::Space space = program_.addresses[program_.ops[op].address].space;
    return space == isa::Space::Shared || space == isa::Space::SharedCluster ||
           space == isa::Space::Generic;
  }

  [[nodiscard]] bool touches_result(std::uint32_t op) const {
    const auto is_result = [&](Place place) {
      return place.present() && std::ranges::find(results_, place) != results_.end();
    };
    return is_result(program_.ops[op].guard) ||
           std::ranges::any_of(program_.operands_of(op),
                               [&](const OperandInfo& each) { return is_result(each.place); });
  }

  [[nodiscard]] Step step_of(std::uint32_t op) const {
    const std::string_view text = opcode(op);
    if (touches_result(op) || text.starts_with("fence.proxy.async") || text.starts_with("call") ||
        text == "ret" || text == "exit" || text == "trap")
      return Step::Settles;
    const bool meets = text.starts_with("bar.") || text.starts_with("barrier") ||
                       text.starts_with("mbarrier.arrive") || text.starts_with("cp.async.bulk") ||
                       text.find(".release") != std::string_view::npos;
    return meets ? Step::Meets : Step::Passes;
  }

  void follow(std::uint32_t op) {
    const Op& here = program_.ops[op];
    const std::string_view text = opcode(op);
    if (text.starts_with("bra")) pending_.push_back(here.as<BranchOp>().target);
    if (text.starts_with("brx")) return;  // not looked into
    if (!text.starts_with("bra") || here.guard.present()) pending_.push_back(op + 1);
  }

  const Program& program_;
  std::vector<Place> results_;
  std::vector<std::uint32_t> pending_, seen_;  // ops; by op, the last round
  std::uint32_t round_ = 0;
};

}  // namespace

void find_late_reads(Program& program) {
  LateReads reads(program);
  program.late_reads.assign(program.ops.size(), false);
  for (std::uint32_t load = 0; load < program.ops.size(); ++load) {
    if (!reads.is_late(load)) continue;
    program.late_reads[load] = true;
    reads.for_each_settling(load, [&](std::uint32_t op) {
      program.settled_reads.emplace_back(op, load);
      program.ops[op].flags |= kSettlesReads;
    });
  }
  std::ranges::sort(program.settled_reads);
}

}  // namespace ww::sim
