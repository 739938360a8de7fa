// SPDX-License-Identifier: Apache-2.0
#include "sim/run/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

#include "num/half_lanes.h"
#include "sim/run/unit.h"

namespace ww::sim {
namespace {

std::string value_text(Warp& warp, const OperandInfo& operand, unsigned lane) {
  if (operand.type == isa::Type::Pred) {
    return has_lane(warp.pred(operand.place), lane) ? "1" : "0";
  }
  switch (isa::info(operand.type).bits) {
    case 8:
      return fmt::format("0x{:02x}", warp.source<std::uint8_t>(operand.place)[lane]);
    case 16: {
      const std::uint16_t bits = warp.source<std::uint16_t>(operand.place)[lane];
      if (operand.type == isa::Type::F16) return fmt::format("{}", num::f16_to_f32(bits));
      return fmt::format("0x{:04x}", bits);
    }
    case 32:
      if (operand.type == isa::Type::F32) {
        return fmt::format("{}", warp.source<float>(operand.place)[lane]);
      }
      return fmt::format("0x{:x}", warp.source<std::uint32_t>(operand.place)[lane]);
    case 64:
      if (operand.type == isa::Type::F64) {
        return fmt::format("{}", warp.source<double>(operand.place)[lane]);
      }
      return fmt::format("0x{:x}", warp.source<std::uint64_t>(operand.place)[lane]);
    default: {
      const Wide value = warp.source<Wide>(operand.place)[lane];
      return fmt::format("0x{:x}_{:016x}", value.high, value.low);
    }
  }
}

// "name = 1, 2, 3": equal neighbours once, with the lanes they stand for.
std::string lanes_of(Warp& warp, const OperandInfo& operand, Mask lanes) {
  const std::string_view name =
      operand.name == ptx::kNoName ? "#" : warp.program->module.text(operand.name);
  std::string text = fmt::format("{} = ", name);
  bool first = true;
  for (unsigned l = 0; l < kLanes; ++l) {
    if (!has_lane(lanes, l)) continue;
    const std::string value = value_text(warp, operand, l);
    unsigned end = l;
    while (end + 1 < kLanes && has_lane(lanes, end + 1) &&
           value_text(warp, operand, end + 1) == value) {
      ++end;
    }
    if (!first) text += ' ';
    first = false;
    text += value;
    if (end > l) text += fmt::format("*{}", end - l + 1);
    l = end;
  }
  return text;
}

template <typename Write>
void write_operands(Warp& warp, std::uint32_t pc, bool results, Mask lanes, const Write& write) {
  for (const OperandInfo& operand : warp.program->operands_of(pc)) {
    if (operand.is_result != results) continue;
    write(fmt::format("      {} {}\n", results ? "->" : "  ", lanes_of(warp, operand, lanes)));
  }
}

// --- dumps ---------------------------------------------------------------------------------------

// All registers that the function's ops name, once each.
void dump_registers(Warp& warp, std::uint32_t pc,
                    const std::function<void(std::string_view)>& write) {
  const Program& program = *warp.program;
  const Code& code = program.functions[program.infos[pc].function];
  std::vector<OperandInfo> seen;
  for (std::uint32_t op = code.first_op; op < code.end_op; ++op) {
    for (const OperandInfo& operand : program.operands_of(op)) {
      if (operand.name == ptx::kNoName || operand.place.is_constant()) continue;
      const bool known = std::any_of(seen.begin(), seen.end(), [&](const OperandInfo& other) {
        return other.place == operand.place;
      });
      if (!known) seen.push_back(operand);
    }
  }
  for (const OperandInfo& operand : seen) {
    write(fmt::format("  {}\n", lanes_of(warp, operand, warp.active)));
  }
}

void dump_shared(Warp& warp, const std::function<void(std::string_view)>& write) {
  const Region& shared = warp.cta->shared;
  std::string before;
  bool skipped = false;
  for (std::uint64_t at = 0; at < shared.size; at += 16) {
    std::string row;
    for (std::uint64_t b = at; b < std::min(at + 16, shared.size); ++b) {
      const bool undefined = shared.undefined != nullptr && shared.undefined[b] != 0;
      row += undefined ? " --" : fmt::format(" {:02x}", std::to_integer<unsigned>(shared.data[b]));
    }
    if (row == before) {
      if (!skipped) write("  *\n");
      skipped = true;
      continue;
    }
    skipped = false;
    before = row;
    write(fmt::format("  {:06x}:{}\n", at, row));
  }
}

void dump_tensor(Warp& warp, const std::function<void(std::string_view)>& write) {
  TensorMemory* tensor = warp.cta->tensor.get();
  if (tensor == nullptr) return;
  for (const TensorMemory::Allocation& part : tensor->allocations()) {
    write(fmt::format("tensor memory, columns {} to {}:\n", part.column,
                      part.column + part.count - 1));
    for (unsigned lane = 0; lane < kTensorLanes; ++lane) {
      std::string row = fmt::format("  lane {:3}:", lane);
      bool any = false;
      for (std::uint32_t c = part.column; c < part.column + part.count; ++c) {
        const bool undefined = tensor->undefined_at(lane, c) != 0;
        any = any || !undefined;
        row += undefined ? " --------" : fmt::format(" {:08x}", tensor->at(lane, c));
      }
      if (any) write(row + "\n");
    }
  }
}

}  // namespace

void trace_op(Warp& warp, std::uint32_t pc) {
  const Program& program = *warp.program;
  const auto& write = warp.unit->context.options->trace->write;
  const OpInfo& info = program.infos[pc];
  write(fmt::format("{}, warp {}, line {}, lanes {}: {}\n", warp.unit->describe(*warp.cta),
                    warp.index, info.line, lanes_text(warp.exec), program.line(info.line)));
  if (warp.exec != 0) write_operands(warp, pc, false, warp.exec, write);
}

void trace_results(Warp& warp, std::uint32_t pc, Mask lanes) {
  if (lanes != 0) write_operands(warp, pc, true, lanes, warp.unit->context.options->trace->write);
}

void dump_state(Warp& warp, std::uint32_t pc) {
  const BreakRequest& request = *warp.unit->context.options->stop_at;
  if (warp.unit->breaks_shown >= request.most) return;
  ++warp.unit->breaks_shown;
  const OpInfo& info = warp.program->infos[pc];
  const auto& write = request.write;
  write(fmt::format("--- {}, warp {}, line {}, lanes {}: {}\nregisters:\n",
                    warp.unit->describe(*warp.cta), warp.index, info.line, lanes_text(warp.active),
                    warp.program->line(info.line)));
  dump_registers(warp, pc, write);
  if (warp.cta->shared.size != 0) {
    write("shared memory (-- is undefined):\n");
    dump_shared(warp, write);
  }
  dump_tensor(warp, write);
}

}  // namespace ww::sim
