// SPDX-License-Identifier: Apache-2.0
#include "engines/elementwise_programs.h"

#include <fmt/format.h>

namespace ww::test {

std::string source_of(const ElementwiseCase& each) {
  KernelText text(each.threads, "float32");
  for (const auto& [name, value] : each.scalars) text.scalar(name);
  const Reg* owner = nullptr;
  for (const Reg& reg : each.regs) {
    const std::string layout = fmt::format("layout={}", tile(reg.layout));
    if (reg.offset >= 0) {
      text.line(fmt::format(
          "{} = T.decl_buffer({}, \"{}\", data={}.data, elem_offset={}, scope=\"local\", {})",
          reg.name, tuple(reg.shape), reg.dtype, owner->name, reg.offset * 8 / bits_of(reg.dtype),
          layout));
      continue;
    }
    text.line(fmt::format("{} = T.alloc_buffer({}, \"{}\", scope=\"local\", {})", reg.name,
                          tuple(reg.shape), reg.dtype, layout));
    owner = &reg;
  }
  const auto owners = [&](auto&& visit) {
    for (const Reg& reg : each.regs)
      if (reg.offset < 0) visit(reg);
  };
  owners([&](const Reg& reg) {
    text.param(reg.name + "_in", {each.threads, reg.slots}, reg.dtype);
    text.line(fmt::format("{}_r = {}.local({})", reg.name, reg.name, reg.slots));
    text.line(fmt::format("for i in range({}):", reg.slots));
    const std::string at = reg.period == 0 ? "i" : fmt::format("i % {}", reg.period);
    text.line(fmt::format("    {}_r[i] = {}_in[{}, {}]", reg.name, reg.name, reg.row, at));
  });
  for (const std::string& call : each.calls) text.line(call);
  owners([&](const Reg& reg) {
    text.param(reg.name + "_out", {each.threads, reg.slots}, reg.dtype);
    text.line(fmt::format("for i in range({}):", reg.slots));
    text.line(fmt::format("    {}_out[tid, i] = {}_r[i]", reg.name, reg.name));
  });
  return text.text();
}

Program program_of(const ElementwiseCase& each) {
  return {.source = source_of(each),
          .target = each.target,
          .scalars = each.scalars,
          .inputs = each.inputs,
          .tolerance = each.tolerance,
          .is_approximate = each.tolerance > 0};
}

std::string prefix_of(const std::string& scope) {
  return scope == "thread" ? "Tx." : fmt::format("Tx.{}.", scope);
}

Reg row_reg(const std::string& name, const std::string& dtype, const std::string& scope,
            std::int64_t threads) {
  Reg out{.name = name, .dtype = dtype, .slots = 8};
  const std::int64_t unit = scope == "warp" ? 32 : scope == "wg" ? 128 : threads;
  const std::string_view axis = scope == "warp" ? "laneid" : scope == "wg" ? "tid_in_wg" : "tx";
  out.shape = scope == "thread" ? Extents{8} : Extents{unit, 8};
  out.layout = scope == "thread" ? "S[8]" : fmt::format("S[({}, 8) : (1 @ {}, 1)]", unit, axis);
  return out;
}

Reg reg(std::string name, std::string dtype, Extents shape, std::string layout, std::int64_t slots,
        std::string row) {
  return {.name = std::move(name),
          .dtype = std::move(dtype),
          .shape = std::move(shape),
          .layout = std::move(layout),
          .slots = slots,
          .row = std::move(row)};
}

ElementwiseCase on_rows(const UnitOfRows& unit, const std::vector<std::string>& dtypes,
                        const std::string& call) {
  ElementwiseCase out{.threads = unit.threads};
  constexpr std::string_view kNames = "DABC";
  for (std::size_t i = 0; i < dtypes.size(); ++i)
    out.regs.push_back(row_reg(std::string(1, kNames[i]), dtypes[i], unit.scope, unit.threads));
  out.calls = {prefix_of(unit.scope) + call};
  // Which NaN an operation on doubles gives is not specified.
  if (std::count(dtypes.begin(), dtypes.end(), "float64") != 0) out.inputs = Inputs::Normal;
  return out;
}

}  // namespace ww::test
