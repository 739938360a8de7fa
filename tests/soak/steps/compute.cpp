// SPDX-License-Identifier: Apache-2.0
// Elementwise primitives on registers, of mixed types. Operands are tiles, a row or a column that
// is stretched, or constants. Functions that PTX approximates are left out: not all engines have
// the same bits of them.
#include <fmt/format.h>

#include <algorithm>

#include "soak/steps.h"

namespace ww::test {
namespace {

bool compute_fit(const Draft&, const Place&) { return true; }

// A row that all threads of a column hold, and a column that all of a row do.
void declare_compute(Draft& draft) {
  const Frame& f = draft.f;
  if (f.spread != Spread::Rows || !draft.tape.one_in(2)) return;
  const Place at;
  const auto add = [&](const std::string& name, const Extents& shape, const std::string& layout) {
    // Rows and columns of a tile are folded into one of its type.
    const bool is_folded = draft.tape.one_in(2);
    RegTile reg{
        .name = name, .dtype = is_folded ? any_work(draft).dtype : any_type(draft), .shape = shape};
    draft.text.line(at, "{} = T.alloc_buffer({}, \"{}\", scope=\"local\", layout={})", name,
                    tuple(shape), reg.dtype, tile(layout));
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

void begin_compute(Draft& draft) {
  for (const RegTile& reg : draft.stretched) load(draft, {}, reg, false);
}

// What an integer is computed from: only `cast` makes integers of floats.
std::vector<RegTile> readable(const std::vector<RegTile>& regs, bool is_whole) {
  std::vector<RegTile> out = regs;
  if (is_whole) std::erase_if(out, is_real);
  return out;
}
std::string tile_operand(Draft& draft, Columns c, bool is_whole) {
  const bool has_sums = draft.f.has_products && draft.tape.one_in(4);
  if (has_sums && !(is_whole && is_real(draft.regs[draft.works])))
    return region_of(draft.regs[draft.works], c);
  const std::vector<RegTile> works(draft.regs.begin(),
                                   draft.regs.begin() + static_cast<std::ptrdiff_t>(draft.works));
  return region_of(draft.tape.pick(readable(works, is_whole)), c);
}
std::string operand(Draft& draft, Columns c, bool is_whole) {
  const std::vector<std::string> numbers = is_whole
                                               ? std::vector<std::string>{"2", "7", "100"}
                                               : std::vector<std::string>{"2", "0.5", "-3", "7"};
  if (draft.tape.one_in(5)) return draft.tape.pick(numbers);
  const std::vector<RegTile> stretched = readable(draft.stretched, is_whole);
  if (stretched.empty() || !draft.tape.one_in(4)) return tile_operand(draft, c, is_whole);
  const RegTile reg = draft.tape.pick(stretched);
  return region_of(reg, reg.name == "row" ? c : Columns{0, 1});
}

bool is_of_one(const std::string& op) {
  static const std::vector<std::string> kOps = {
      "cast", "sqrt", "reciprocal", "abs", "neg", "relu", "floor", "ceil", "round", "bitwise_not"};
  return std::ranges::find(kOps, op) != kOps.end();
}

// A way to round that both types and the target have: ", round=\"rz\"".
std::string rounding(Draft& draft, const RegTile& dst, const std::string& from) {
  const auto found = std::ranges::find(draft.regs, from.substr(0, from.find('[')), &RegTile::name);
  const bool is_of_real = found != draft.regs.end() && is_real(*found);
  std::vector<std::string> modes = {"rn"};
  if (is_real(dst) && bits_of(dst.dtype) >= 16) {
    const bool has_all = dst.dtype != "bfloat16" || draft.f.number() >= 90;
    if (has_all) modes = {"rn", "rz", "rm", "rp"};
  } else if (!is_real(dst)) {
    if (!is_of_real) return "";
    modes = {"rz", "rn", "rm", "rp", "rna"};
  }
  return fmt::format(", round=\"{}\"", draft.tape.pick(modes));
}

void write_compute(Draft& draft, const Place& at) {
  const RegTile& dst = any_work(draft);
  const Columns c = any_columns(draft, draft.f.tile);
  std::vector<std::string> ops = {"add", "sub", "maximum", "minimum", "cast",
                                  "fma", "mul", "fill",    "zero",    "select"};
  if (dst.dtype.starts_with("float") && !has_odd_nans(draft))
    ops.insert(ops.end(), {"fdiv", "sqrt", "reciprocal"});
  if (is_real(dst))
    ops.insert(ops.end(), {"relu", "floor", "ceil", "round"});
  else
    ops.insert(ops.end(), {"bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not"});
  if (is_real(dst) && !draft.shows_bits) ops.insert(ops.end(), {"abs", "neg"});
  const std::string op = draft.tape.pick(ops);
  draft.changes_signs = draft.changes_signs || op == "neg" || op == "abs";
  std::string args = region_of(dst, c);
  const bool is_whole = !is_real(dst) && op != "cast";
  const auto any = [&] { return operand(draft, c, is_whole); };
  if (op == "fill") {
    args += ", 5";
  } else if (is_of_one(op)) {
    const std::string from = tile_operand(draft, c, is_whole);
    args += ", " + from;
    if (op == "cast" && draft.tape.one_in(3)) args += rounding(draft, dst, from);
    if (op == "cast" && draft.tape.one_in(3)) args += ", saturate=True";
  } else if (op != "zero") {
    // One after the other: compilers choose the order of arguments.
    const std::string tile = tile_operand(draft, c, is_whole), second = any();
    if (op == "fma")
      args += fmt::format(", {}, {}, {}", tile, second, any());
    else if (op == "select")
      args += fmt::format(", {}, {}, {}", second, any(), tile);
    else
      args += fmt::format(", {}, {}", tile, second);
  }
  draft.text.line(at, "{}{}({})", draft.f.prefix(), op, args);
}

}  // namespace

const Step kCompute{.name = "elementwise",
                    .weight = 3,
                    .fits = compute_fit,
                    .write = write_compute,
                    .declare = declare_compute,
                    .begin = begin_compute};

}  // namespace ww::test
