// SPDX-License-Identifier: Apache-2.0
#include "engines/programs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <numeric>
#include <utility>

namespace ww::test {
namespace {

constexpr std::string_view kHead =
    "from tvm.script import tirx as T\n"
    "from tvm.script.tirx import tile as Tx\n"
    "from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, laneid, warpid, wgid, wid_in_wg, "
    "tid_in_wg, tx, TLane, TCol, tcgen05_atom_layout, tmem_datapath_layout\n\n";

// Element `q` of a shape: "q // 4 % 8, q % 4".
std::string indices_of(const Extents& shape) {
  std::string out;
  std::int64_t inner = product(shape);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    inner /= shape[d];
    if (d > 0) out += ", ";
    if (shape[d] == 1)
      out += "0";
    else
      out += fmt::format("q{}{}", inner == 1 ? "" : fmt::format(" // {}", inner),
                         d == 0 ? "" : fmt::format(" % {}", shape[d]));
  }
  return out;
}

bool is_register(const Operand& operand) { return operand.memory == "local"; }
bool is_global(const Operand& operand) { return operand.memory == "global"; }

std::string layout_argument(const Operand& operand) {
  return operand.layout.empty() ? "" : ", layout=" + operand.layout;
}

}  // namespace

std::int64_t product(const Extents& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

Operand registers(Extents shape, const std::string& notation, std::int64_t count,
                  std::string region) {
  return {.memory = "local",
          .shape = std::move(shape),
          .layout = tile(notation),
          .region = std::move(region),
          .registers = count};
}

Operand memory(std::string name, Extents shape, std::string layout, std::string region) {
  return {.memory = std::move(name),
          .shape = std::move(shape),
          .layout = std::move(layout),
          .region = std::move(region)};
}

Operand shared(Extents shape, std::string layout, std::string region) {
  return memory("shared", std::move(shape), std::move(layout), std::move(region));
}

Operand global(Extents shape, std::string region) {
  return memory("global", std::move(shape), {}, std::move(region));
}

CopyCase reversed(CopyCase each) {
  std::swap(each.dst, each.src);
  return each;
}

std::string tile(const std::string& notation) { return "TileLayout(" + notation + ")"; }

std::string swizzled(int p, int sw, int at, const std::string& notation) {
  return fmt::format("ComposeLayout({}, {}, {}, {})", p, sw, at, tile(notation));
}

std::string tuple(const Extents& extents) {
  return fmt::format("({}{})", fmt::join(extents, ", "), extents.size() == 1 ? "," : "");
}

std::string box(const Extents& begin, const Extents& extents) {
  std::string out;
  for (std::size_t d = 0; d < extents.size(); ++d)
    out += fmt::format("{}{}:{}", d == 0 ? "" : ", ", begin[d], begin[d] + extents[d]);
  return "[" + out + "]";
}

int bits_of(std::string_view dtype) {
  if (dtype.find("64") != std::string_view::npos) return 64;
  if (dtype.find("float8") != std::string_view::npos || dtype == "bool") return 8;
  if (dtype.find("16") != std::string_view::npos) return 16;
  return dtype.find("32") != std::string_view::npos ? 32 : 8;
}

KernelText::KernelText(std::int64_t threads, std::string dtype, std::int64_t ctas, bool is_cluster)
    : threads_(threads), ctas_(ctas), dtype_(std::move(dtype)) {
  line("T.device_entry()");
  if (is_cluster) line("T.cluster_id([1])");
  line(fmt::format("cta = T.cta_id{}([{}])", is_cluster ? "_in_cluster" : "", ctas));
  if (threads % 32 == 0) line(fmt::format("warp = T.warp_id([{}])", threads / 32));
  if (threads % 32 == 0) line("lane = T.lane_id([32])");
  if (threads % 128 == 0) line(fmt::format("wg = T.warpgroup_id([{}])", threads / 128));
  line(fmt::format("tid = T.thread_id([{}])", threads));
}

void KernelText::param(const std::string& name, const Extents& shape, const std::string& dtype) {
  params_ += fmt::format("{}{}_ptr: T.handle", params_.empty() ? "" : ", ", name);
  matches_ += fmt::format("    {} = T.match_buffer({}_ptr, {}, \"{}\")\n", name, name, tuple(shape),
                          dtype.empty() ? dtype_ : dtype);
}

void KernelText::scalar(const std::string& name) {
  params_ += fmt::format("{}{}: T.int32", params_.empty() ? "" : ", ", name);
}

void KernelText::line(const std::string& text) { body_ += "    " + text + "\n"; }

void KernelText::param_per_cta(const std::string& name, Extents shape) {
  if (ctas_ > 1) shape.insert(shape.begin(), ctas_);
  param(name, shape);
}

void KernelText::for_elements(const Extents& shape, const std::string& to,
                              const std::string& from) {
  assign_elements(shape, to + "[", from + "[");
}

// Both end where the indices begin.
void KernelText::assign_elements(const Extents& shape, const std::string& to,
                                 const std::string& from) {
  const std::int64_t count = product(shape);
  line(fmt::format("for f in range({}):", (count + threads_ - 1) / threads_));
  line(fmt::format("    q: T.let = f * {} + tid", threads_));
  const bool is_guarded = count % threads_ != 0;
  if (is_guarded) line(fmt::format("    if q < {}:", count));
  const std::string at = indices_of(shape) + "]";
  line(fmt::format("{}    {}{} = {}{}", is_guarded ? "    " : "", to, at, from, at));
}

void KernelText::for_elements(const Extents& shape, const std::string& to, const std::string& from,
                              Side per_cta) {
  const std::string cta = ctas_ > 1 ? "[cta, " : "[";
  assign_elements(shape, to + (per_cta == Side::To ? cta : "["),
                  from + (per_cta == Side::From ? cta : "["));
}

void KernelText::for_registers(const std::string& to, const std::string& from, std::int64_t count,
                               bool is_dump) {
  const std::string_view cta = ctas_ > 1 ? "cta, " : "";
  line(fmt::format("for i in range({}):", count));
  line(is_dump ? fmt::format("    {}[{}tid, i] = {}[i]", to, cta, from)
               : fmt::format("    {}[i] = {}[{}tid, i]", to, from, cta));
}

// Replicas are seen place by place.
std::pair<std::string, Extents> KernelText::all_of(const std::string& name,
                                                   const Operand& operand) {
  if (operand.places == 0) return {name, operand.shape};
  const std::string flat = name + "_flat";
  if (body_.find(flat) == std::string::npos)
    line(fmt::format("{} = T.decl_buffer(({},), \"{}\", data={}.data, scope=\"{}\")", flat,
                     operand.places, dtype_, name, operand.memory));
  return {flat, {operand.places}};
}

void KernelText::declare_viewed(const std::string& name, const Operand& operand, bool is_written) {
  Operand under = operand;
  under.shape = std::exchange(under.viewed, {});
  under.view.clear();
  if (is_global(operand)) {
    const std::string data = name + (is_written ? "_out" : "_in");
    param(data, under.shape);
    line(fmt::format("{} = {}{}", name, data, operand.view));
    return;
  }
  declare(name + "_all", under, is_written);
  line(fmt::format("{} = {}_all{}", name, name, operand.view));
}

void KernelText::declare(const std::string& name, const Operand& operand, bool is_written) {
  if (!operand.view.empty()) {
    declare_viewed(name, operand, is_written);
    return;
  }
  const std::string data = name + (is_written ? "_out" : "_in");
  if (is_global(operand)) {
    const bool is_view = !operand.layout.empty() || operand.elem_offset != 0;
    const std::int64_t span = operand.registers == 0 ? product(operand.shape) : operand.registers;
    param(data, is_view ? Extents{span + operand.elem_offset} : operand.shape);
    line(fmt::format(
        "{} = T.decl_buffer({}, \"{}\", data={}.data, elem_offset={}, scope=\"global\"{})", name,
        tuple(operand.shape), dtype_, data, operand.elem_offset, layout_argument(operand)));
    return;
  }
  if (operand.elem_offset != 0) {
    line(fmt::format("{}_all = T.alloc_buffer(({},), \"{}\", scope=\"{}\")", name,
                     operand.registers + operand.elem_offset, dtype_, operand.memory));
    line(fmt::format(
        "{} = T.decl_buffer({}, \"{}\", data={}_all.data, elem_offset={}, scope=\"{}\"{})", name,
        tuple(operand.shape), dtype_, name, operand.elem_offset, operand.memory,
        layout_argument(operand)));
    return;
  }
  line(fmt::format("{} = T.alloc_buffer({}, \"{}\", scope=\"{}\"{})", name, tuple(operand.shape),
                   dtype_, operand.memory, layout_argument(operand)));
}

void KernelText::fill(const std::string& name, const Operand& operand) {
  if (is_global(operand)) return;
  if (!is_register(operand)) {
    const auto [all, shape] = all_of(name, operand);
    param_per_cta(name + "_in", shape);
    for_elements(shape, all, name + "_in", Side::From);
    return;
  }
  param_per_cta(name + "_in", {threads_, operand.registers});
  line(fmt::format("{}_r = {}.local({})", name, name, operand.registers));
  for_registers(name + "_r", name + "_in", operand.registers, false);
}

void KernelText::dump(const std::string& name, const Operand& operand) {
  if (is_global(operand)) return;
  if (!is_register(operand)) {
    const auto [all, shape] = all_of(name, operand);
    param_per_cta(name + "_out", shape);
    for_elements(shape, name + "_out", all, Side::To);
    return;
  }
  param_per_cta(name + "_out", {threads_, operand.registers});
  line(fmt::format("{}_d = {}.local({})", name, name, operand.registers));
  for_registers(name + "_out", name + "_d", operand.registers, true);
}

std::string KernelText::text() const {
  return fmt::format("{}@T.prim_func\ndef kernel({}):\n{}{}", kHead, params_, matches_, body_);
}

std::string source_of(const CopyCase& each) {
  KernelText text(each.threads, each.dtype);
  text.declare("src", each.src, false);
  text.declare("dst", each.dst, true);
  text.fill("src", each.src);
  if (each.fills_dst) text.fill("dst", each.dst);
  const bool has_mask = !each.mask.shape.empty();
  if (has_mask) {
    text.set_dtype("bool");
    text.declare("mask", each.mask, false);
    text.fill("mask", each.mask);
    text.set_dtype(each.dtype);
  }
  text.sync();
  const auto region = [](const Operand& operand) {
    return operand.region.empty() ? box(Extents(operand.shape.size()), operand.shape)
                                  : operand.region;
  };
  const std::string scope = each.scope == "thread" ? "" : "." + each.scope;
  if (!each.around.empty()) text.line(each.around);
  const std::string indent = each.around.empty() ? "" : "    ";
  text.line(fmt::format("{}Tx{}.{}(dst{}, src{}{}{}{})", indent, scope, each.op, region(each.dst),
                        region(each.src), has_mask ? ", predicate=mask" + region(each.mask) : "",
                        each.settings.empty() ? "" : ", ", each.settings));
  if (each.op == "copy_async") {
    text.line(indent + "T.ptx.cp_async.commit_group()");
    text.line(indent + "T.ptx.cp_async.wait_group(0)");
  }
  text.sync();
  text.dump("dst", each.dst);
  return text.text();
}

}  // namespace ww::test
