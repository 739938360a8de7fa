// SPDX-License-Identifier: Apache-2.0
#include "engines/wgmma_programs.h"

#include <fmt/ranges.h>

#include <map>

namespace ww::test {
namespace {

std::string word_of(const std::string& dtype) {
  static const std::map<std::string, std::string> kWords = {
      {"float16", "f16"},        {"bfloat16", "bf16"},    {"float32", "f32"}, {"int32", "s32"},
      {"float8_e4m3fn", "e4m3"}, {"float8_e5m2", "e5m2"}, {"int8", "s8"},     {"uint8", "u8"}};
  return kWords.at(dtype);
}

bool is_single(const WgmmaCase& c) { return c.a == "float32"; }

// Rows and columns of a factor as it is stored, and those of the slice in it.
struct Factor {
  std::int64_t rows, columns, margin;
  std::string name, dtype, layout;

  [[nodiscard]] std::string shape(const WgmmaCase& c) const {
    return fmt::format("({}, {}, {})", c.stages, rows + 2 * margin, columns);
  }
  [[nodiscard]] std::string slice() const {
    return fmt::format("{}_s[i % STAGES, {}:{}, :]", name, margin, margin + rows);
  }
};

Factor factor_of(const WgmmaCase& c, bool is_a) {
  const std::int64_t lines = is_a ? c.m : c.n;
  const bool is_turned = is_a ? c.turns_a : c.turns_b;
  Factor out{.rows = is_turned ? c.k : lines,
             .columns = is_turned ? lines : c.k,
             .margin = c.margin,
             .name = is_a ? "A" : "B",
             .dtype = is_a ? c.a : c.b,
             .layout = is_a ? c.a_layout : c.b_layout};
  if (out.layout.empty())
    out.layout = fmt::format("mma_shared_layout(\"{}\", \"{}\", {})", out.dtype,
                             is_a ? c.swizzle_a : c.swizzle_b, out.shape(c));
  return out;
}

void add(std::string& text, int depth, const std::string& line) {
  if (line.empty() || line == "-") return;
  text += std::string(static_cast<std::size_t>(4 * depth), ' ') + line + "\n";
}

std::string waited_product(const WgmmaCase& c, const Factor& a, const Factor& b) {
  return fmt::format("Tx.{}.gemm(C_r, {}, {}, C_r, transpose_A={}, transpose_B={}, beta={}{}{})",
                     c.is_of_cta ? "cta" : "wg", c.is_a_in_registers ? "A_r" : a.slice(), b.slice(),
                     c.turns_a ? "True" : "False", c.turns_b ? "False" : "True", c.beta, c.settings,
                     is_single(c) ? ", allow_tf32=True" : "");
}

std::string product(const WgmmaCase& c, const Factor& a, const Factor& b) {
  if (c.is_waited) return waited_product(c, a, b);
  std::string settings = c.settings;
  if (is_single(c)) settings += ", is_AB_tf32=True";
  return fmt::format("Tx.{}.gemm_async(C_r, {}, {}, transA={}, transB={}, accum={}{})",
                     c.is_of_cta ? "cta" : "wg", c.is_a_in_registers ? "A_r" : a.slice(), b.slice(),
                     c.turns_a ? "True" : "False", c.turns_b ? "True" : "False", c.accum, settings);
}

}  // namespace

std::string WgmmaCase::opcode(std::int64_t columns) const {
  const auto factor = [&](const std::string& dtype) {
    return dtype == "float32" ? std::string("tf32") : word_of(dtype);
  };
  return fmt::format("wgmma.mma_async.sync.aligned.m64n{}k{}.{}.{}.{}", columns, 256 / bits_of(a),
                     word_of(out), factor(a), factor(b));
}

std::string source_of(const WgmmaCase& c) {
  const Factor a = factor_of(c, true), b = factor_of(c, false);
  std::string text =
      "from tvm.script import tirx as T\n"
      "from tvm.script.tirx import tile as Tx\n"
      "from tvm.tirx.layout import S, TileLayout, ComposeLayout, SwizzleLayout, laneid, tid_in_wg\n"
      "from tvm.tirx.layout import mma_shared_layout, mma_tile_layout, wgmma_tile_layout\n\n";
  text += fmt::format(
      "STAGES = {}\n\n@T.prim_func\ndef k(A_ptr: T.handle, B_ptr: T.handle, C_ptr: T.handle, "
      "rounds: T.int32):\n",
      c.stages);
  const std::string c_layout = c.c_layout.empty()
                                   ? fmt::format("wgmma_tile_layout(\"D\", ({}, {}), \"{}\", {})",
                                                 c.m, c.n, c.out, c.warpgroups)
                                   : c.c_layout;
  for (const Factor* each : {&a, &b})
    add(text, 1,
        fmt::format("{0} = T.match_buffer({0}_ptr, {1}, \"{2}\")", each->name, each->shape(c),
                    each->dtype));
  add(text, 1, fmt::format("C = T.match_buffer(C_ptr, ({}, {}), \"{}\")", c.m, c.n, c.out));
  add(text, 1, "T.device_entry()");
  add(text, 1, "T.cta_id([1])");
  add(text, 1, fmt::format("tid = T.thread_id([{}])", 128 * c.warpgroups));
  add(text, 1, "pool = T.SMEMPool()");
  for (const Factor* each : {&a, &b})
    add(text, 1,
        fmt::format("{}_s = pool.alloc({}, \"{}\", align=1024, layout={})", each->name,
                    each->shape(c), each->dtype, each->layout));
  add(text, 1, "pool.commit()");
  add(text, 1,
      fmt::format("C_r = T.alloc_buffer(({}, {}), \"{}\", scope=\"local\", layout={})", c.m, c.n,
                  c.out, c_layout));
  add(text, 1, "Tx.cta.copy(A_s, A)");
  add(text, 1, "Tx.cta.copy(B_s, B)");
  if (c.is_a_in_registers) {
    add(text, 1,
        fmt::format("A_r = T.alloc_buffer(({0}, {1}), \"{2}\", scope=\"local\", "
                    "layout=wgmma_tile_layout(\"A\", ({0}, {1}), \"{2}\", {3}))",
                    c.m, c.k, c.a, c.warpgroups));
  }
  add(text, 1, c.proxy);
  add(text, 1, "T.cuda.cta_sync()");
  if (c.is_waited && c.beta != "0.0") add(text, 1, "Tx.cta.zero(C_r)");
  add(text, 1, fmt::format("for i in range({}):", c.stages));
  if (c.is_a_in_registers) {
    if (!c.is_waited) add(text, 2, "T.ptx.wgmma.wait_group(0)");
    add(text, 2, fmt::format("Tx.cta.copy(A_r, {})", a.slice()));
  }
  if (!c.is_waited) add(text, 2, c.fence);
  add(text, 2, product(c, a, b));
  if (c.is_waited) {
    add(text, 1, "Tx.cta.copy(C, C_r)");
    return text;
  }
  add(text, 2, c.commit);
  if (c.keep > 0) add(text, 2, fmt::format("T.ptx.wgmma.wait_group({})", c.keep));
  add(text, 1, c.before_wait);
  add(text, 1, c.wait);
  add(text, 1, "Tx.cta.copy(C, C_r)");
  return text;
}

Program program_of(const WgmmaCase& c) { return {.source = source_of(c), .inputs = Inputs::Whole}; }

Program normal_program_of(const WgmmaCase& c) {
  Program out{.source = source_of(c), .scalars = {{"rounds", 0}}, .inputs = Inputs::Normal};
  const int bits = bits_of(c.a);
  out.tolerance = c.out == "float16" ? 5e-2 : bits == 16 ? 1e-3 : 5e-2;
  return out;
}

}  // namespace ww::test
