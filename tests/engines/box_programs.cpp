// SPDX-License-Identifier: Apache-2.0
#include "engines/box_programs.h"

namespace ww::test {
namespace {

std::string names_of(const Extents& extents) {
  std::string out;
  for (std::size_t d = 0; d < extents.size(); ++d) out += fmt::format("n{}, ", d);
  return "(" + out + ")";
}

std::string grid_ids(const Extents& grid) {
  if (grid.size() == 1) return fmt::format("    bx = T.cta_id([{}])\n", grid[0]);
  return fmt::format("    bx, by = T.cta_id([{}, {}])\n", grid[0], grid[1]);
}

// The CTA's number, and how many there are.
std::string cta_of(const Extents& grid) {
  return grid.size() == 1 ? std::string("bx") : fmt::format("bx + by * {}", grid[0]);
}

// Statements for all elements of the tile, shared out among the threads.
std::string for_tile(const BoxCase& c, const std::string& statement) {
  const std::int64_t count = product(c.shared);
  std::string index;
  std::int64_t below = count;
  for (std::size_t d = 0; d < c.shared.size(); ++d) {
    below /= c.shared[d];
    index += fmt::format("{}e // {} % {}", d == 0 ? "" : ", ", below, c.shared[d]);
  }
  std::string text = statement;
  for (std::size_t at = text.find('@'); at != std::string::npos; at = text.find('@'))
    text.replace(at, 1, index);
  return fmt::format(
      "    for k in range({}):\n        e: T.let = k * 128 + tid\n        if e < {}:\n"
      "            {}\n",
      (count + 127) / 128, count, text);
}

// Statements of a block of `indent` blanks, under a condition if there is one.
std::string guarded(const std::string& condition, int indent, const std::string& statement) {
  const std::string blanks(static_cast<std::size_t>(indent), ' ');
  if (condition.empty()) return blanks + statement + "\n";
  return fmt::format("{0}if {1}:\n{0}    {2}\n", blanks, condition, statement);
}

std::string copy_text(const BoxCase& c, std::int64_t bytes) {
  const std::string array = (c.view.empty() ? "A" : "V") +
                            (c.from.empty() ? box(Extents(c.array.size()), c.array) : c.from);
  const std::string tile = "tile" + (c.to.empty() ? box(Extents(c.shared.size()), c.shared) : c.to);
  std::string more = c.settings.empty() ? "" : ", " + c.settings;
  if (!c.variant.empty() || !c.is_load)
    more += fmt::format(", dispatch=\"{}\"", c.variant.empty() ? "tma" : c.variant);
  if (!c.is_load)
    return fmt::format(
        "        Tx.copy_async({}, {}{})\n"
        "        T.ptx.cp_async.bulk.commit_group()\n"
        "        T.ptx.cp_async.bulk.wait_group(0, read=False)\n",
        array, tile, more);
  return guarded(c.receives, 8,
                 fmt::format("T.ptx.mbarrier.arrive.expect_tx(T.address_of(bar[0]), {})", bytes)) +
         guarded(
             c.sends, 8,
             fmt::format("Tx.copy_async({}, {}, mbar=T.address_of(bar[0]){})", tile, array, more));
}

// The copy, in a loop whose number of rounds the launch says.
std::string looped(const std::string& copy) {
  std::string out = "        for round in range(rounds):\n";
  for (std::size_t at = 0, end = 0; at < copy.size(); at = end + 1) {
    end = copy.find('\n', at);
    out += "    " + copy.substr(at, end + 1 - at);
  }
  return out;
}

// A reduction depends on what is there: the CTA writes it first.
std::string begin_array(const BoxCase& c) {
  std::string index;
  std::int64_t below = product(c.array);
  for (std::size_t d = 0; d < c.array.size(); ++d) {
    below /= c.array[d];
    index += fmt::format("{}e // {} % {}", d == 0 ? "" : ", ", below, c.array[d]);
  }
  return fmt::format(
      "    for k in range({}):\n        e: T.let = k * 128 + tid\n        if e < {}:\n"
      "            A[{}] = A_in[e]\n    T.ptx[\"fence.proxy.async\"]()\n",
      (product(c.array) + 127) / 128, product(c.array), index);
}

}  // namespace

std::string source_of(const BoxCase& c) {
  const bool reduces = c.settings.contains("use_tma_reduce");
  const std::int64_t ctas = product(c.grid);
  const std::string one = tuple(c.shared);
  Extents all = c.shared;
  all.insert(all.begin(), ctas);
  const std::int64_t elements = c.elements != 0 ? c.elements : product(c.shared);
  std::string extents;
  for (std::size_t d = 0; c.is_ragged && d < c.array.size(); ++d)
    extents += fmt::format("    n{} = T.int32()\n", d);
  std::string out =
      "from tvm.script import tirx as T\nfrom tvm.script.tirx import tile as Tx\n"
      "from tvm.tirx.layout import ComposeLayout, S, SwizzleLayout, TileLayout, mma_shared_layout\n"
      "\n@T.prim_func\n"
      "def kernel(A_ptr: T.handle, tile_in_ptr: T.handle, tile_out_ptr: T.handle" +
      std::string(reduces ? ", A_in_ptr: T.handle" : "") + (c.in_loop ? ", rounds: T.int32" : "");
  for (std::size_t d = 0; d < c.starts.size(); ++d) out += fmt::format(", s{}: T.int32", d);
  out += "):\n";
  out += extents;
  if (reduces)
    out += fmt::format("    A_in = T.match_buffer(A_in_ptr, ({},), \"{}\")\n", product(c.array),
                       c.dtype);
  const std::string array = c.is_ragged ? names_of(c.array) : tuple(c.array);
  out += fmt::format("    A = T.match_buffer(A_ptr, {}, \"{}\")\n",
                     c.view.empty() ? array : tuple({product(c.array)}), c.dtype);
  for (const char* name : {"tile_in", "tile_out"})
    out +=
        fmt::format("    {0} = T.match_buffer({0}_ptr, {1}, \"{2}\")\n", name, tuple(all), c.dtype);
  if (c.may_fall_back) out += "    T.func_attr({\"copy_engine_fallback\": \"cp_async\"})\n";
  out += "    T.device_entry()\n" + grid_ids(c.grid) + "    tid = T.thread_id([128])\n";
  if (!c.view.empty())
    out += fmt::format("    V = T.decl_buffer({}, \"{}\", data=A.data, layout={})\n", array,
                       c.dtype, c.view);
  if (c.cluster > 1) out += fmt::format("    rank = T.cta_id_in_cluster([{}])\n", c.cluster);
  out += fmt::format("    cta: T.let = {}\n", cta_of(c.grid));
  out += fmt::format("    tile = T.alloc_buffer({}, \"{}\", scope=\"shared\"{}, align={})\n", one,
                     c.dtype, c.tile.empty() ? "" : ", layout=" + c.tile, c.align);
  out +=
      "    bar = T.alloc_buffer((1,), \"uint64\", scope=\"shared\")\n"
      "    if tid == 0:\n        T.ptx.mbarrier.init(T.address_of(bar[0]), 1)\n"
      "        T.ptx.fence.mbarrier_init()\n";
  if (reduces) out += begin_array(c);
  out += for_tile(c, "tile[@] = tile_in[cta, @]");
  const std::string copy = copy_text(c, elements * bits_of(c.dtype) / 8);
  out += fmt::format(
      "    T.ptx[\"fence.proxy.async.shared::cta\"]()\n    T.cuda.{}_sync()\n    {}\n{}",
      c.cluster > 1 ? "cluster" : "cta", c.around, c.in_loop ? looped(copy) : copy);
  if (c.is_load) out += guarded(c.receives, 4, "T.cuda.mbarrier_wait(T.address_of(bar[0]), 0)");
  return out + for_tile(c, "tile_out[cta, @] = tile[@]");
}

Program program_of(const BoxCase& c) {
  Program out{.source = source_of(c), .target = c.target};
  out.has_any_nan = c.settings.contains("use_tma_reduce");  // sums of float64 keep a NaN's bits
  if (c.in_loop) out.scalars["rounds"] = 1;
  for (std::size_t d = 0; d < c.starts.size(); ++d)
    out.scalars[fmt::format("s{}", d)] = c.starts[d];
  for (std::size_t d = 0; c.is_ragged && d < c.array.size(); ++d)
    out.scalars[fmt::format("n{}", d)] = c.array[d];
  return out;
}

Expected by_boxes(std::int64_t times) { return {.variant = "tma", .rounds = times}; }

}  // namespace ww::test
