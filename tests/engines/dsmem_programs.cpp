// SPDX-License-Identifier: Apache-2.0
#include "engines/dsmem_programs.h"

namespace ww::test {
namespace {

bool is_register(Way way) { return way == Way::Async || way == Way::Push || way == Way::Pull; }
bool is_counted(Way way) { return way == Way::Engine || way == Way::Async; }
bool is_pulled(Way way) { return way == Way::Pull || way == Way::Global; }

// Statements for all elements of a shape, shared out among the threads.
std::string for_all(const DsmemCase& c, const Extents& shape, const std::string& statement) {
  const std::int64_t count = product(shape);
  std::string index;
  std::int64_t below = count;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    below /= shape[d];
    index += fmt::format("{}e // {} % {}", d == 0 ? "" : ", ", below, shape[d]);
  }
  std::string text = statement;
  for (std::size_t at = text.find('@'); at != std::string::npos; at = text.find('@'))
    text.replace(at, 1, index);
  return fmt::format(
      "    for k in range({}):\n        e: T.let = k * {} + tid\n        if e < {}:\n"
      "            {}\n",
      (count + c.threads - 1) / c.threads, c.threads, count, text);
}

std::string region_of(const std::string& region, const Extents& shape) {
  return region.empty() ? box(Extents(shape.size()), shape) : region;
}

std::string copy_text(const DsmemCase& c) {
  std::string near = "near" + region_of(c.near_region, c.near);
  const std::string far = "far" + region_of(c.far_region, c.far);
  if (c.way == Way::Global) {
    near = "near_out" + region_of(c.near_region, c.near);
    near.insert(near.find('[') + 1, "cta, ");
  }
  const std::string op = is_counted(c.way) ? "copy_async" : "copy";
  const std::string unit = c.way == Way::Engine ? "" : ".cta";
  return fmt::format("Tx{}.{}({}, {}, remote_cta_id={}{}{}{})", unit, op,
                     is_pulled(c.way) ? near : far, is_pulled(c.way) ? far : near, c.cta,
                     is_counted(c.way) ? ", mbar=T.address_of(bar[0])" : "",
                     c.settings.empty() ? "" : ", ", c.settings);
}

std::string tiles_of(const DsmemCase& c) {
  const auto layout = [](const std::string& text) {
    return text.empty() ? "" : ", layout=" + text;
  };
  std::string out;
  if (c.way != Way::Global)
    out += fmt::format("    near = T.alloc_buffer({}, \"{}\", scope=\"{}\"{}{})\n", tuple(c.near),
                       c.dtype, is_register(c.way) ? "local" : "shared", layout(c.near_layout),
                       is_register(c.way) ? "" : fmt::format(", align={}", c.align));
  return out + fmt::format("    far = T.alloc_buffer({}, \"{}\", scope=\"shared\"{}, align={})\n",
                           tuple(c.far), c.dtype, layout(c.far_layout), c.align);
}

}  // namespace

std::string source_of(const DsmemCase& c) {
  const auto all = [&](Extents shape) {
    shape.insert(shape.begin(), 2 * c.ctas);
    return tuple(shape);
  };
  const std::int64_t elements = c.elements != 0 ? c.elements : product(c.near);
  std::string out =
      "from tvm.script import tirx as T\nfrom tvm.script.tirx import tile as Tx\n"
      "from tvm.tirx.layout import ComposeLayout, S, SwizzleLayout, TileLayout, tx\n\n"
      "@T.prim_func\ndef kernel(near_in_ptr: T.handle, far_in_ptr: T.handle, "
      "near_out_ptr: T.handle, far_out_ptr: T.handle):\n";
  for (const char* name : {"near_in", "near_out"})
    out += fmt::format("    {0} = T.match_buffer({0}_ptr, {1}, \"{2}\")\n", name, all(c.near),
                       c.dtype);
  for (const char* name : {"far_in", "far_out"})
    out +=
        fmt::format("    {0} = T.match_buffer({0}_ptr, {1}, \"{2}\")\n", name, all(c.far), c.dtype);
  out += fmt::format(
      "    T.device_entry()\n    number = T.cluster_id([2])\n    rank = "
      "T.cta_id_in_cluster([{0}])\n"
      "    tid = T.thread_id([{1}])\n    ctas = {0}\n    cta: T.let = number * {0} + rank\n",
      c.ctas, c.threads);
  out += tiles_of(c);
  out +=
      "    bar = T.alloc_buffer((1,), \"uint64\", scope=\"shared\")\n"
      "    if tid == 0:\n        T.ptx.mbarrier.init(T.address_of(bar[0]), 1)\n"
      "        T.ptx.fence.mbarrier_init()\n";
  if (is_register(c.way))
    out += fmt::format("    Tx.cta.copy(near{0}, near_in[cta, {1})\n",
                       box(Extents(c.near.size()), c.near),
                       box(Extents(c.near.size()), c.near).substr(1));
  else if (c.way != Way::Global)
    out += for_all(c, c.near, "near[@] = near_in[cta, @]");
  out += for_all(c, c.far, "far[@] = far_in[cta, @]");
  out += "    T.ptx[\"fence.proxy.async.shared::cta\"]()\n    T.cuda.cluster_sync()\n";
  if (is_counted(c.way))
    out += fmt::format(
        "    if tid == 0:\n"
        "        T.ptx.mbarrier.arrive.expect_tx(T.address_of(bar[0]), {})\n",
        elements * bits_of(c.dtype) / 8);
  if (c.way == Way::Engine)
    out += "    " + c.around + "\n        " + copy_text(c) + "\n";
  else
    out += "    " + copy_text(c) + "\n";
  out += is_counted(c.way) ? "    T.cuda.mbarrier_wait(T.address_of(bar[0]), 0)\n"
                           : "    T.cuda.cluster_sync()\n";
  out += for_all(c, c.far, "far_out[cta, @] = far[@]");
  if (c.way == Way::Pull)
    out += fmt::format("    Tx.cta.copy(near_out[cta, {1}, near{0})\n",
                       box(Extents(c.near.size()), c.near),
                       box(Extents(c.near.size()), c.near).substr(1));
  else if (c.way == Way::Engine || c.way == Way::Store)
    out += for_all(c, c.near, "near_out[cta, @] = near[@]");
  return out + "    T.cuda.cluster_sync()\n";
}

Program program_of(const DsmemCase& c) { return {.source = source_of(c), .target = c.target}; }

std::string variant_of(Way way) { return way == Way::Async ? "st_async" : "dsmem"; }

}  // namespace ww::test
