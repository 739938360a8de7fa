// SPDX-License-Identifier: Apache-2.0
#include "engines/tensor_programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <utility>

namespace ww::test {
namespace {

constexpr std::int64_t kGroup = 128;  // threads that reach all lanes, each of them one

std::string region_of(const Operand& operand) {
  return operand.region.empty() ? box(Extents(operand.shape.size()), operand.shape)
                                : operand.region;
}

class TensorText {
 public:
  explicit TensorText(const TensorProgram& program)
      : program_(program), text_(program.threads, program.dtype) {}

  std::string run() {
    if (uses_stage()) text_.scalar("stage");
    allocate();
    fill_cells();
    for (std::size_t i = 0; i < program_.copies.size(); ++i) declare(i);
    meet();
    for (std::size_t i = 0; i < program_.copies.size(); ++i) copy(i);
    dump();
    free();
    return text_.text();
  }

 private:
  [[nodiscard]] bool uses_stage() const {
    return std::ranges::any_of(program_.copies, [](const TensorCopy& each) {
      return (each.tensor.region + each.local.region + each.address).find("stage") !=
             std::string::npos;
    });
  }

  void allocate() {
    text_.line("base = T.alloc_shared([1], \"uint32\")");
    text_.line("if warp == 0:");
    text_.line(fmt::format("    T.ptx.tcgen05.alloc(T.address_of(base), n_cols={}, cta_group=1)",
                           program_.columns));
    text_.sync();
  }
  void free() {
    meet();
    text_.line("if warp == 0:");
    text_.line("    T.ptx.tcgen05.relinquish_alloc_permit(cta_group=1)");
    text_.line(fmt::format("    T.ptx.tcgen05.dealloc(base[0], n_cols={}, cta_group=1)",
                           program_.columns));
  }
  void meet() {
    text_.line("T.ptx.tcgen05.fence.before_thread_sync()");
    text_.sync();
    text_.line("T.ptx.tcgen05.fence.after_thread_sync()");
  }

  // By one warpgroup.
  void for_columns(const std::vector<std::string>& lines) {
    const bool has_others = program_.threads > kGroup;
    const std::string indent = has_others ? "    " : "";
    if (has_others) text_.line("if wg == 0:");
    text_.line(fmt::format("{}for c in range({}):", indent, program_.columns));
    for (const std::string& line : lines) text_.line(indent + "    " + line);
  }
  void fill_cells() {
    text_.param("cells_in", {kGroup, program_.columns}, "uint32");
    text_.line("word = T.alloc_local((1,), \"uint32\")");
    for_columns({"word[0] = cells_in[tid, c]",
                 "T.ptx.tcgen05.st(T.cuda.get_tmem_addr(base[0], warp * 32, c), word[0], "
                 "shape=\"32x32b\", num=1)",
                 "T.ptx.tcgen05.wait.st()"});
  }
  void dump_cells() {
    text_.param("cells_out", {kGroup, program_.columns}, "uint32");
    for_columns(
        {"T.ptx.tcgen05.ld(T.cuda.get_tmem_addr(base[0], warp * 32, c), word[0], "
         "shape=\"32x32b\", num=1)",
         "T.ptx.tcgen05.wait.ld()", "cells_out[tid, c] = word[0]"});
  }

  void declare(std::size_t i) {
    const TensorCopy& each = program_.copies[i];
    text_.line(
        fmt::format("t{} = T.decl_buffer({}, \"{}\", scope=\"tmem\", allocated_addr={}, layout={})",
                    i, tuple(each.tensor.shape), program_.dtype, each.address, each.tensor.layout));
    const std::string name = fmt::format("r{}", i);
    if (each.made.empty())
      text_.declare(name, each.local, each.is_load);
    else
      text_.line(fmt::format("{} = {}", name, each.made));
    text_.fill(name, each.local);
  }

  void copy(std::size_t i) {
    const TensorCopy& each = program_.copies[i];
    const std::string indent = each.around.empty() ? "" : "    ";
    const std::string t = fmt::format("t{}{}", i, region_of(each.tensor));
    const std::string r = fmt::format("r{}{}", i, region_of(each.local));
    if (!each.around.empty()) text_.line(each.around);
    text_.line(fmt::format("{}Tx.{}.copy_async({}, {}{}{})", indent, each.scope,
                           each.is_load ? r : t, each.is_load ? t : r,
                           each.settings.empty() ? "" : ", ", each.settings));
    text_.line(fmt::format("{}T.ptx.tcgen05.wait.{}()", indent, each.is_load ? "ld" : "st"));
    meet();
  }

  void dump() {
    bool has_stores = false;
    for (std::size_t i = 0; i < program_.copies.size(); ++i) {
      const TensorCopy& each = program_.copies[i];
      if (each.is_load) text_.dump(fmt::format("r{}", i), each.local);
      has_stores |= !each.is_load;
    }
    if (has_stores) dump_cells();
  }

  const TensorProgram& program_;
  KernelText text_;
};

// --- PTX -----------------------------------------------------------------------------------------

struct Found {
  std::string move;
  std::size_t registers = 0;
};

// "tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r1, %r2, %r3, %r4}, [%r9];"
std::vector<Found> found_in(std::string_view ptx) {
  std::vector<Found> out;
  for (const std::string_view way : {"ld", "st"}) {
    const std::string head = fmt::format("tcgen05.{}.sync.aligned.", way);
    for (std::size_t at = ptx.find(head); at != std::string_view::npos;
         at = ptx.find(head, at + 1)) {
      const std::size_t begin = at + head.size();
      const std::string_view name = ptx.substr(begin, ptx.find(".b32", begin) - begin);
      const std::size_t open = ptx.find('{', begin);
      const std::string_view list = ptx.substr(open, ptx.find('}', open) - open);
      out.push_back({fmt::format("{} {}", way, name), count_of(list, ",") + 1});
    }
  }
  return out;
}

}  // namespace

Operand tensor(Extents shape, std::string layout, std::string region) {
  return memory("tmem", std::move(shape), std::move(layout), std::move(region));
}

Operand datapath(char letter, std::int64_t rows, std::int64_t columns, int sub_slab,
                 std::string region) {
  const std::string slab = sub_slab == 0 ? "" : fmt::format(", {}", sub_slab);
  return tensor({rows, columns},
                fmt::format("tmem_datapath_layout(\"{}\", {}, {}{})", letter, rows, columns, slab),
                std::move(region));
}

Operand fragment(std::string_view shape, std::int64_t rows, std::int64_t columns,
                 const std::string& dtype, std::string region) {
  return {.memory = "local",
          .shape = {rows, columns},
          .layout = fmt::format("tcgen05_atom_layout(\"{}\", ({}, {}), \"{}\")", shape, rows,
                                columns, dtype),
          .region = std::move(region),
          .registers = rows * columns / kGroup};
}

Operand row_registers(std::int64_t columns, std::string region) {
  return registers({kGroup, columns},
                   fmt::format("S[({}, {}) : (1 @ tid_in_wg, 1)]", kGroup, columns), columns,
                   std::move(region));
}

std::string base_plus(std::int64_t columns) {
  return columns == 0 ? "base[0]" : fmt::format("base[0] + T.uint32({})", columns);
}

std::int64_t allocation_of(std::int64_t columns) {
  constexpr std::int64_t kLeast = 32;
  const auto least = static_cast<std::uint64_t>(std::max(columns, kLeast));
  return static_cast<std::int64_t>(std::bit_ceil(least));
}

std::string source_of(const TensorProgram& each) { return TensorText(each).run(); }

Program program_of(const TensorProgram& each) {
  Program out{.source = source_of(each), .target = each.target};
  if (out.source.find("stage: ") != std::string::npos) out.scalars = {{"stage", 1}};
  return out;
}

Moves moves_of(std::string_view ptx) {
  Moves out;
  for (const Found& each : found_in(ptx)) ++out[each.move];
  if (ptx.find("cells_in") != std::string_view::npos) --out["st 32x32b.x1"];
  if (ptx.find("cells_out") != std::string_view::npos) --out["ld 32x32b.x1"];
  std::erase_if(out, [](const auto& each) { return each.second == 0; });
  return out;
}

std::string text_of(const Moves& moves) {
  std::string out;
  for (const auto& [move, count] : moves)
    out += fmt::format("{}{} x {}", out.empty() ? "" : ", ", move, count);
  return out;
}

std::size_t registers_of(std::string_view move) {
  const std::size_t x = move.find(".x") + 2;
  std::size_t num = 0;
  std::from_chars(move.data() + x, move.data() + move.size(), num);
  if (move.find(" 16x128b.") != std::string_view::npos) return 2 * num;
  return move.find(" 16x256b.") != std::string_view::npos ? 4 * num : num;
}

std::string wrong_registers(std::string_view ptx) {
  for (const Found& each : found_in(ptx))
    if (each.registers != registers_of(each.move))
      return fmt::format("{} has {} registers, expected {}", each.move, each.registers,
                         registers_of(each.move));
  return {};
}

}  // namespace ww::test
