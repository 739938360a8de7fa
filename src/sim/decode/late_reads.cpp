// SPDX-License-Identifier: Apache-2.0
#include "sim/decode/late_reads.h"

#include <algorithm>
#include <string_view>

#include "sim/memory/memory.h"

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
    results_.clear();
    for (const OperandInfo& operand : program_.operands_of(load))
      if (operand.is_result) results_.push_back(operand.place);
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

 private:
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
    if (text.starts_with("bra")) pending_.push_back(static_cast<std::uint32_t>(here.imm));
    if (text.starts_with("brx")) return;  // not looked into
    if (!text.starts_with("bra") || here.guard.present()) pending_.push_back(op + 1);
  }

  const Program& program_;
  std::vector<Place> results_;
  std::vector<std::uint32_t> pending_, seen_;  // ops; by op, the last round
  std::uint32_t round_ = 0;
};

}  // namespace

std::vector<bool> find_late_reads(const Program& program) {
  LateReads reads(program);
  std::vector<bool> out(program.ops.size());
  for (std::uint32_t op = 0; op < program.ops.size(); ++op) out[op] = reads.is_late(op);
  return out;
}

}  // namespace ww::sim
