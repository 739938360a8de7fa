// SPDX-License-Identifier: Apache-2.0
#include "engines/cp_programs.h"

#include <algorithm>

namespace ww::test {
namespace {

std::string lines(const std::string& text, const std::string& indent) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += indent + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out;
}

/// All cells of some columns with one register each, 0 first where nobody has written.
std::string for_cells(std::int64_t columns, const std::string& body) {
  return fmt::format("for c in range({}):\n", columns) + lines(body, "    ");
}

}  // namespace

std::string source_of(const CpCase& c) {
  const Extents& to = c.tensor_shape.empty() ? c.shape : c.tensor_shape;
  const Extents& from = c.shared_shape.empty() ? c.shape : c.shared_shape;
  const std::string from_type = c.source_dtype.empty() ? c.dtype : c.source_dtype;
  const std::int64_t elements = c.elements != 0 ? c.elements : product(from);
  const std::string shared = c.shared.empty() ? "" : fmt::format(", layout={}", c.shared);
  std::string copy =
      fmt::format("Tx.copy_async(tmem{}, smem{}{})", c.to.empty() ? "" : c.to,
                  c.from.empty() ? "" : c.from, c.settings.empty() ? "" : ", " + c.settings);
  std::string body = fmt::format(
      "A = T.match_buffer(A_ptr, ({0},), \"{1}\")\n"
      "B = T.match_buffer(B_ptr, (128, {2}), \"uint32\")\n"
      "T.device_entry()\n"
      "T.cta_id([1])\n"
      "warp_id = T.warp_id([4])\n"
      "lane_id = T.lane_id([32])\n"
      "tid = T.thread_id([128])\n"
      "base = T.alloc_shared([1], \"uint32\")\n"
      "bar = T.alloc_shared([1], \"uint64\")\n"
      "raw = T.alloc_buffer(({0},), \"{1}\", scope=\"shared\", align={3})\n"
      "smem = T.decl_buffer({4}, \"{1}\", data=raw.data, scope=\"shared\"{5})\n"
      "r = T.alloc_local([1], \"uint32\")\n"
      "if warp_id == 0:\n"
      "    T.ptx.tcgen05.alloc(T.address_of(base), n_cols={2}, cta_group=1)\n"
      "if tid == 0:\n"
      "    T.ptx.mbarrier.init(T.address_of(bar), 1)\n"
      "for i in range(({0} + 127) // 128):\n"
      "    if i * 128 + tid < {0}:\n"
      "        raw[i * 128 + tid] = A[i * 128 + tid]\n"
      "T.cuda.cta_sync()\n",
      elements, from_type, c.columns, c.align, tuple(from), shared);
  body += for_cells(c.columns,
                    "r[0] = T.uint32(0)\n"
                    "T.ptx.tcgen05.st(base[0], r[0], shape=\"32x32b\", num=1, row=warp_id * 32, "
                    "col=c)");
  body += fmt::format(
      "T.ptx.tcgen05.wait.st()\n"
      "T.ptx.fence.proxy_async(\"shared::cta\")\n"
      "T.ptx.tcgen05.fence.before_thread_sync()\n"
      "T.cuda.cta_sync()\n"
      "T.ptx.tcgen05.fence.after_thread_sync()\n"
      "tmem = T.decl_buffer({}, \"{}\", scope=\"tmem\", allocated_addr={}, layout={})\n",
      tuple(to), c.dtype, c.address, c.tensor);
  const std::string who = c.around.empty() ? "" : "    ";
  if (!c.around.empty()) body += c.around + "\n";
  if (!c.loop.empty()) body += who + c.loop + "\n    ";
  body += who + copy + "\n" + who + "T.ptx.tcgen05.commit(T.address_of(bar), cta_group=1)\n";
  body +=
      "T.cuda.mbarrier_wait(T.address_of(bar), 0)\n"
      "T.ptx.tcgen05.fence.after_thread_sync()\n";
  body += for_cells(c.columns,
                    "T.ptx.tcgen05.ld(base[0], r[0], shape=\"32x32b\", num=1, row=warp_id * 32, "
                    "col=c)\n"
                    "T.ptx.tcgen05.wait.ld()\n"
                    "B[tid, c] = r[0]");
  body += fmt::format(
      "T.cuda.cta_sync()\n"
      "if warp_id == 0:\n"
      "    T.ptx.tcgen05.relinquish_alloc_permit(cta_group=1)\n"
      "    T.ptx.tcgen05.dealloc(base[0], n_cols={}, cta_group=1)\n",
      c.columns);
  return "from tvm.script import tirx as T\n"
         "from tvm.script.tirx import tile as Tx\n"
         "from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, TLane, TCol\n\n"
         "@T.prim_func\n"
         "def kernel(A_ptr: T.handle, B_ptr: T.handle, stage: T.int32):\n" +
         lines(body, "    ");
}

Program program_of(const CpCase& c) {
  return {.source = source_of(c), .target = c.target, .scalars = {{"stage", 1}}};
}

std::string lanes(std::int64_t rows, std::int64_t columns) {
  return tile(fmt::format("S[({}, {}) : (1 @ TLane, 1 @ TCol)]", rows, columns));
}

std::string swizzled_rows(int bits, std::int64_t rows, std::int64_t width, int swizzle) {
  int per_unit = 0;
  while (bits << per_unit < 128) ++per_unit;
  const std::int64_t unit = 128 / bits;
  if (swizzle == 0)
    return tile(
        fmt::format("S[({}, {}, {}) : ({}, {}, 1)]", rows, width / unit, unit, unit, rows * unit));
  const int log = swizzle == 128 ? 3 : swizzle == 64 ? 2 : 1;
  const std::int64_t across = swizzle * 8 / bits;
  return swizzled(per_unit, log, 3,
                  fmt::format("S[({}, {}, {}) : ({}, {}, 1)]", rows, width / across, across, across,
                              rows * across));
}

std::string cp_opcode(const std::string& shape) { return "tcgen05.cp.cta_group::1." + shape; }

Expected by_cp(const std::string& shape, std::int64_t times) {
  return {.variant = "tcgen05_cp", .opcode = cp_opcode(shape), .per_thread = times};
}

}  // namespace ww::test
