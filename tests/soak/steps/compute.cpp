// SPDX-License-Identifier: Apache-2.0
// Elementwise primitives on registers, of mixed types. Operands are tiles, a row or a column that
// is stretched, or constants. Functions that PTX approximates are left out: not all engines have
// the same bits of them.
#include <fmt/format.h>

#include <algorithm>

#include "soak/steps.h"

namespace ww::test {
namespace {

bool fits(const Draft&, const Place&) { return true; }

// A row that all threads of a column hold, and a column that all of a row do.
void declare(Draft& draft) {
  const Frame& f = draft.f;
  if (f.spread != Spread::Rows || !draft.tape.one_in(2)) return;
  const Place at;
  const auto add = [&](const std::string& name, const Extents& shape, const std::string& layout) {
    Reg reg{.name = name, .dtype = draft.any_type(), .shape = shape};
    draft.line(at, fmt::format("{} = T.alloc_buffer({}, \"{}\", scope=\"local\", layout={})", name,
                               tuple(shape), reg.dtype, tile(layout)));
    draft.stretched.push_back(std::move(reg));
  };
  const std::int64_t rows = f.unit_threads / f.of_row;
  const auto replicas = [&](std::int64_t count, std::int64_t step) {
    return count == 1 ? "" : fmt::format(" + R[{} : {} @ {}]", count, step, f.axis);
  };
  add("row", {1, f.tile[1]},
      fmt::format("S[({}, {}) : (1 @ {}, 1)]", f.of_row, f.each, f.axis) +
          replicas(rows, f.of_row));
  add("column", {f.tile[0], 1},
      fmt::format("S[({}, {}) : (1, {} @ {})]", f.rounds, rows, f.of_row, f.axis) +
          replicas(f.of_row, 1));
}

void begin(Draft& draft) {
  for (const Reg& reg : draft.stretched) load(draft, {}, reg, false);
}

std::string tile_operand(Draft& draft, Columns c) {
  const bool has_sums = draft.f.has_products && draft.tape.one_in(4);
  return Draft::of(has_sums ? draft.regs[draft.works] : draft.work(), c);
}
std::string operand(Draft& draft, Columns c) {
  if (draft.tape.one_in(5)) return draft.tape.pick(std::vector<std::string>{"2", "0.5", "-3", "7"});
  if (draft.stretched.empty() || !draft.tape.one_in(4)) return tile_operand(draft, c);
  const Reg& reg = draft.tape.pick(draft.stretched);
  return Draft::of(reg, reg.name == "row" ? c : Columns{0, 1});
}

// NaNs of these types have bits that nobody promises.
bool has_odd_nans(const Draft& draft) {
  const auto is_odd = [](const Reg& reg) {
    return reg.dtype == "bfloat16" || reg.dtype == "float64" || reg.dtype.starts_with("float8");
  };
  return std::ranges::any_of(draft.regs, is_odd) || std::ranges::any_of(draft.stretched, is_odd);
}

void write(Draft& draft, const Place& at) {
  const Reg& dst = draft.work();
  const Columns c = draft.some(draft.f.tile);
  std::vector<std::string> ops = {"add", "sub", "maximum", "minimum", "cast",
                                  "fma", "mul", "fill",    "zero",    "select"};
  const bool is_real = dst.dtype.starts_with("float");
  if (is_real && !has_odd_nans(draft)) ops.insert(ops.end(), {"fdiv", "sqrt", "reciprocal"});
  const std::string op = draft.tape.pick(ops);
  std::string args = Draft::of(dst, c);
  const auto any = [&] { return operand(draft, c); };
  if (op == "fill") {
    args += ", 5";
  } else if (op == "cast" || op == "sqrt" || op == "reciprocal") {
    args += ", " + tile_operand(draft, c);
  } else if (op != "zero") {
    // One after the other: compilers choose the order of arguments.
    const std::string tile = tile_operand(draft, c), second = any();
    if (op == "fma")
      args += fmt::format(", {}, {}, {}", tile, second, any());
    else if (op == "select")
      args += fmt::format(", {}, {}, {}", second, any(), tile);
    else
      args += fmt::format(", {}, {}", tile, second);
  }
  draft.line(at, fmt::format("{}{}({})", draft.prefix(), op, args));
}

}  // namespace

const Step kCompute{.name = "elementwise",
                    .weight = 3,
                    .fits = fits,
                    .write = write,
                    .declare = declare,
                    .begin = begin};

}  // namespace ww::test
