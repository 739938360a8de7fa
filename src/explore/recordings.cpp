// SPDX-License-Identifier: Apache-2.0
#include "explore/recordings.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "driver/sim/report.h"

namespace ww::explore {
namespace {

// All that the kernel's ops name, once each.
std::vector<NamedRegister> registers_of(const sim::Program& program, const sim::Code& code) {
  std::vector<NamedRegister> out;
  std::vector<std::uint32_t> seen;
  for (std::uint32_t op = code.first_op; op < code.end_op; ++op) {
    for (const sim::OperandInfo& operand : program.operands_of(op)) {
      if (operand.name == ptx::kNoName || !operand.place.present() || operand.place.is_constant())
        continue;
      const auto at = std::ranges::lower_bound(seen, operand.place.offset());
      if (at != seen.end() && *at == operand.place.offset()) continue;
      seen.insert(at, operand.place.offset());
      out.push_back({std::string(program.module.text(operand.name)), operand.type, operand.place});
    }
  }
  return out;
}

const sim::Code& kernel_of(const driver::RunCapture& capture) {
  return *capture.program->kernels().front();
}

}  // namespace

StoredRun::StoredRun(driver::RunCapture capture)
    : capture_(std::move(capture)),
      registers_(registers_of(*capture_.program, kernel_of(capture_))),
      cursor_(history()) {
  moments_.resize(history().warps.size());
  for (std::uint32_t i = 0; i < history().moments.size(); ++i)
    moments_[history().moments[i].warp].push_back(i);
}

std::uint32_t StoredRun::line_of(std::uint32_t op) const {
  const auto& infos = capture_.program->infos;
  return op < infos.size() ? infos[op].line : 0;
}

std::uint32_t StoredRun::source_line_of(std::uint32_t op) const {
  const auto& infos = capture_.program->infos;
  if (op >= infos.size()) return 0;
  const auto at = driver::source_of(*capture_.program, op);
  return at ? at->line : 0;
}

std::uint64_t StoredRun::next_of(std::uint32_t warp, std::uint64_t moment) const {
  const auto at = std::ranges::lower_bound(moments_[warp], moment);
  return at == moments_[warp].end() ? history().moments.size() : *at;
}

std::string StoredRun::name_of_shared(std::uint64_t offset) const {
  const auto element = [&](const std::string& name, std::uint64_t begin, std::uint64_t bytes,
                           std::uint32_t size) {
    return bytes <= size ? name
                         : fmt::format("{}[{}]", name, (offset - begin) / std::max(1U, size));
  };
  for (const driver::SharedName& each : capture_.source.names)
    if (offset >= each.offset && offset < each.offset + each.bytes)
      return element(each.name, each.offset, each.bytes, each.element);
  for (const sim::SharedVariable& each : capture_.program->shared)
    if (offset >= each.offset && offset < each.offset + each.bytes)
      return element(each.name, each.offset, each.bytes, each.element);
  return fmt::format("0x{:x}", offset);
}

std::uint64_t Recordings::add(std::shared_ptr<StoredRun> run) {
  const std::lock_guard lock(mutex_);
  runs_.emplace_back(++last_, std::move(run));
  const auto bytes = [&] {
    std::uint64_t sum = 0;
    for (const auto& [number, each] : runs_) sum += each->history().bytes();
    return sum;
  };
  while (runs_.size() > 1 && (runs_.size() > kMaxRuns || bytes() > kMaxBytes)) runs_.pop_front();
  return last_;
}

std::shared_ptr<StoredRun> Recordings::find(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  for (const auto& [each, run] : runs_)
    if (each == number) return run;
  return nullptr;
}

}  // namespace ww::explore
