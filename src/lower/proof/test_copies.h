// SPDX-License-Identifier: Apache-2.0
// Copies for tests of the proof: between all scopes, under conditions, by every variant.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lower/proof/proof.h"
#include "lower/test_calls.h"

namespace ww::lower::test {

/// One copy: dst and src in the scopes and layouts given, all of both.
struct CopyCase {
  std::string variant;
  ir::Unit unit = ir::Unit::Warp;
  num::DType dtype = num::DType::Float16;
  std::vector<std::int64_t> shape;
  ir::Scope dst_scope = ir::Scope::Local;
  std::string dst;
  ir::Scope src_scope = ir::Scope::Shared;
  std::string src;
  std::int64_t threads = 32;
  // Copies under conditions: of `copy_async`, from global memory with other extents, which are
  // parameters where they are 0; zeros fill up what is missing; `p < 3` is the predicate.
  bool is_async = false;
  std::vector<std::int64_t> src_shape = {};
  bool fills = false, has_predicate = false;
  // The region in global memory begins at a parameter, which may be below 0.
  bool has_start = false;
  bool is_cached = false;  // cache="nc"
  std::optional<double> fill_value = {};
  bool clips = false;
  // Bools as the predicate; without a shape: none.
  std::vector<std::int64_t> mask_shape = {};
  ir::Scope mask_scope = ir::Scope::Shared;
  std::string mask = {};
};

/// From global to shared memory by ld.global.nc, through registers of the copy's own.
inline CopyCase cached_case() {
  return {.variant = "gmem_smem",
          .unit = ir::Unit::Cta,
          .dtype = num::DType::Float16,
          .shape = {33, 8},
          .dst_scope = ir::Scope::Shared,
          .dst = "S[(33,8):(16,1)]",
          .src_scope = ir::Scope::Global,
          .src = "S[(33,8):(8,1)]",
          .threads = 64,
          .src_shape = {33, 8},
          .is_cached = true};
}

inline CopyCase async_case(std::vector<std::int64_t> shape, std::vector<std::int64_t> src_shape,
                           num::DType dtype, bool fills, bool has_predicate = false) {
  return {.variant = "ldgsts",
          .unit = ir::Unit::Cta,
          .dtype = dtype,
          .shape = std::move(shape),
          .dst_scope = ir::Scope::Shared,
          .dst = "",
          .src_scope = ir::Scope::Global,
          .src = "",
          .threads = 32,
          .is_async = true,
          .src_shape = std::move(src_shape),
          .fills = fills,
          .has_predicate = has_predicate};
}

/// Between shared memory and a buffer of global memory that the region sticks out of.
inline CopyCase sticking_out(std::string variant, num::DType dtype, bool is_load) {
  CopyCase out = async_case({4, 8}, {10, 12}, dtype, true);
  out.variant = std::move(variant);
  out.is_async = out.variant != "gmem_smem";
  out.has_start = true;
  if (is_load) return out;
  std::swap(out.dst_scope, out.src_scope);
  return out;
}

/// A row of 64, from or to one of n elements: whole vectors, and a tail where n cuts one.
inline CopyCase cut_row(std::string variant, bool is_load) {
  CopyCase out = async_case({64}, {0}, num::DType::Float16, false);
  out.variant = std::move(variant);
  out.is_async = out.variant == "ldgsts" || out.variant == "sync";
  if (is_load)
    out.fill_value = 1.5;
  else
    out.clips = true;
  const bool has_registers = out.variant == "reg";
  if (has_registers) {
    out.dst_scope = ir::Scope::Local;
    out.dst = "S[(8,8):(1@tx,1)]";
  }
  if (is_load) return out;
  std::swap(out.dst_scope, out.src_scope);
  std::swap(out.dst, out.src);
  return out;
}

/// All of them.
inline std::vector<CopyCase> cut_rows() {
  return {cut_row("gmem_smem", true), cut_row("ldgsts", true), cut_row("reg", true),
          cut_row("gmem_smem", false), cut_row("reg", false)};
}

/// A copy of a matrix under a mask: by each variant, from memory and in registers, a bool for each
/// element and for each row.
inline std::vector<CopyCase> masked_cases() {
  std::vector<CopyCase> out;
  const auto add = [&](std::string variant, num::DType dtype, std::vector<std::int64_t> mask_shape,
                       ir::Scope mask_scope, std::string mask = {}) {
    for (const std::optional<double> fill : {std::optional<double>(), {0.0}, {2.5}}) {
      CopyCase c = async_case({32, 8}, {32, 8}, dtype, false);
      c.variant = variant;
      c.is_async = variant == "ldgsts" || variant == "sync";
      c.fill_value = fill;
      c.mask_shape = mask_shape;
      c.mask_scope = mask_scope;
      c.mask = mask;
      if (variant == "reg") {
        c.dst_scope = ir::Scope::Local;
        c.dst = "S[(32,8):(1@tx,1)]";
      }
      out.push_back(std::move(c));
    }
  };
  const std::string own = "S[(32,8):(1@tx,1)]", own_row = "S[(32,1):(1@tx,1)]";
  add("gmem_smem", num::DType::Float16, {32, 8}, ir::Scope::Shared);
  add("gmem_smem", num::DType::Float16, {32, 1}, ir::Scope::Shared);
  add("gmem_smem", num::DType::Float16, {32, 1}, ir::Scope::Local, own_row);
  add("ldgsts", num::DType::Float32, {32, 8}, ir::Scope::Shared);
  add("ldgsts", num::DType::Float16, {32, 1}, ir::Scope::Local, own_row);
  add("sync", num::DType::Float16, {8}, ir::Scope::Shared);
  add("reg", num::DType::Float16, {32, 8}, ir::Scope::Local, own);
  add("reg", num::DType::Float16, {32, 1}, ir::Scope::Shared);
  add("fallback", num::DType::Float16, {8}, ir::Scope::Shared);
  return out;
}

/// Between registers and tensor memory, by a warpgroup.
inline CopyCase tensor_case(std::vector<std::int64_t> shape, num::DType dtype, bool is_load,
                            std::string registers, std::string tensor, std::int64_t threads = 128) {
  return {.variant = "tcgen05_ldst",
          .unit = ir::Unit::Warpgroup,
          .dtype = dtype,
          .shape = std::move(shape),
          .dst_scope = is_load ? ir::Scope::Local : ir::Scope::Tmem,
          .dst = is_load ? registers : tensor,
          .src_scope = is_load ? ir::Scope::Tmem : ir::Scope::Local,
          .src = is_load ? tensor : registers,
          .threads = threads,
          .is_async = true};
}

/// From shared to tensor memory, by one thread.
inline CopyCase matrix_case(std::vector<std::int64_t> shape, num::DType dtype, std::string tensor,
                            std::string shared) {
  return {.variant = "tcgen05_cp",
          .unit = ir::Unit::Thread,
          .dtype = dtype,
          .shape = std::move(shape),
          .dst_scope = ir::Scope::Tmem,
          .dst = std::move(tensor),
          .src_scope = ir::Scope::Shared,
          .src = std::move(shared),
          .threads = 1,
          .is_async = true};
}

inline std::vector<CopyCase> copy_cases() {
  const std::string fragment = "S[(8,4,4,2):(4@laneid,1@laneid,2,1)]";
  const std::string rows = "S[(8,4,4,2):(32,2,8,1)]";
  const std::string columns = "S[(8,4,4,2):(1,64,8,32)]";
  const std::string swizzled = "ComposeLayout(3, 3, 3, S[(8,4,4,2):(64,2,8,1)])";
  const std::vector<std::int64_t> shape{8, 4, 4, 2};
  return {
      {"ldstmatrix", ir::Unit::Warp, num::DType::Float16, shape, ir::Scope::Local, fragment,
       ir::Scope::Shared, rows},
      {"ldstmatrix", ir::Unit::Warp, num::DType::Float16, shape, ir::Scope::Local, fragment,
       ir::Scope::Shared, columns},
      {"ldstmatrix", ir::Unit::Warp, num::DType::Float16, shape, ir::Scope::Local, fragment,
       ir::Scope::Shared, swizzled},
      {"ldstmatrix", ir::Unit::Warp, num::DType::Float16, shape, ir::Scope::Shared, swizzled,
       ir::Scope::Local, fragment},
      {"reg",
       ir::Unit::Warp,
       num::DType::Float32,
       {32, 8},
       ir::Scope::Local,
       "S[(32,8):(1@laneid,1)]",
       ir::Scope::Shared,
       "S[(32,8):(8,1)]"},
      {"reg",
       ir::Unit::Warp,
       num::DType::Float32,
       {8, 8},
       ir::Scope::Shared,
       "S[(8,8):(12,1)]",
       ir::Scope::Local,
       "S[(8,8):(4@laneid,1)] + R[4:1@laneid]"},
      {"gmem_smem",
       ir::Unit::Cta,
       num::DType::Float16,
       {33, 8},
       ir::Scope::Shared,
       "S[(33,8):(16,1)]",
       ir::Scope::Shared,
       "S[(33,8):(8,1)]",
       64},
      cached_case(),
      {"movmatrix",
       ir::Unit::Warp,
       num::DType::Float16,
       {8, 8},
       ir::Scope::Local,
       "S[(4,2,8):(1@laneid,1,4@laneid)]",
       ir::Scope::Local,
       "S[(8,4,2):(4@laneid,1@laneid,1)]"},
      {"shfl",
       ir::Unit::Warp,
       num::DType::Float32,
       {32, 2},
       ir::Scope::Local,
       "S[(16,2,2):(2@laneid,1,1@laneid)]",
       ir::Scope::Local,
       "S[(32,2):(1@laneid,1)]"},
      {"shfl",
       ir::Unit::Warp,
       num::DType::Float16,
       {8, 16},
       ir::Scope::Local,
       "S[(8,2,2,4):(4@laneid,2,1,1@laneid)]",
       ir::Scope::Local,
       "S[(8,4,4):(4@laneid,1@laneid,1)]"},
      {"smem",
       ir::Unit::Cta,
       num::DType::Float32,
       {64, 4},
       ir::Scope::Local,
       "S[(4,16,4):(1,4@tx,1@tx)]",
       ir::Scope::Local,
       "S[(64,4):(1@tx,1)]",
       64},
      {"smem",
       ir::Unit::Warp,
       num::DType::Float16,
       {24, 4},
       ir::Scope::Local,
       "S[(4,6,4):(1,4@laneid,1@laneid)]",
       ir::Scope::Local,
       "S[(24,4):(1@laneid,1)]",
       64},
      {"fallback",
       ir::Unit::Warp,
       num::DType::Float32,
       {5, 7},
       ir::Scope::Shared,
       "S[(5,7):(7,1)]",
       ir::Scope::Shared,
       "S[(5,7):(1,5)]"},
      async_case({16, 32}, {16, 32}, num::DType::Float16, false),
      async_case({16, 32}, {16, 32}, num::DType::Float16, false, true),
      async_case({16, 32}, {16, 32}, num::DType::Float16, true, true),
      async_case({16, 32}, {13, 24}, num::DType::Float16, true),
      async_case({16, 32}, {13, 22}, num::DType::Float16, true),
      async_case({16, 32}, {13, 25}, num::DType::Float32, true, true),
      async_case({16, 32}, {0, 0}, num::DType::Float32, true),
      // 32x32b; 16x64b; 16x128b in two slabs; 16x256b; 16x32bx2; pairs of columns
      tensor_case({128, 6}, num::DType::Float16, true, "S[(128,6):(1@tid_in_wg,1)]",
                  "S[(128,6):(1@TLane,1@TCol)] + 4@TCol", 256),
      tensor_case({64, 4}, num::DType::Float32, true,
                  "S[(4,2,8,2,2):(1@wid_in_wg,1@laneid,4@laneid,1,2@laneid)]",
                  "S[(4,16,4):(32@TLane,1@TLane,1@TCol)]"),
      tensor_case({128, 8}, num::DType::Float32, false,
                  "S[(4,2,2,8,2,4):(1@wid_in_wg,4,1,4@laneid,2,1@laneid)]",
                  "S[(128,8):(1@TLane,1@TCol)]"),
      tensor_case({64, 16}, num::DType::Float16, false,
                  "S[(4,2,8,1,4,2,2):(1@wid_in_wg,4,4@laneid,8,1@laneid,2,1)]",
                  "S[(4,16,16):(32@TLane,1@TLane,1@TCol)] + 16@TLane"),
      tensor_case({4, 16, 2, 3}, num::DType::Float32, true,
                  "S[(4,16,2,3):(1@wid_in_wg,1@laneid,16@laneid,1)]",
                  "S[(4,16,2,3):(32@TLane,1@TLane,8@TCol,1@TCol)]"),
      tensor_case({128, 8}, num::DType::Float16, true, "S[(128,8):(1@tid_in_wg,1)]",
                  "S[(128,8):(1@TLane,2@TCol)]"),
      tensor_case({128, 8}, num::DType::Bfloat16, false, "S[(128,8):(1@tid_in_wg,1)]",
                  "S[(128,8):(1@TLane,2@TCol)]"),
      // 128x256b with and without swizzle; 128x128b; 64x128b both ways; 32x128b; 4x256b
      matrix_case({128, 16}, num::DType::Float16, "S[(128,16):(1@TLane,1@TCol)]",
                  "S[(128,2,8):(8,1024,1)]"),
      matrix_case({128, 64}, num::DType::Float16, "S[(128,64):(1@TLane,1@TCol)] + 8@TCol",
                  "ComposeLayout(3, 3, 3, S[(128,64):(64,1)])"),
      matrix_case({128, 4}, num::DType::Float32, "S[(128,4):(1@TLane,1@TCol)]",
                  "S[(16,8,4):(64,4,1)]"),
      matrix_case({64, 16}, num::DType::Uint8, "S[(64,16):(1@TLane,1@TCol)] + R[2:64@TLane]",
                  "S[(64,16):(16,1)]"),
      matrix_case({64, 16}, num::DType::Uint8,
                  "S[(2,32,16):(64@TLane,1@TLane,1@TCol)] + R[2:32@TLane]",
                  "ComposeLayout(4, 1, 3, S[(64,16):(32,1)])"),
      matrix_case({4, 32, 4}, num::DType::Uint8,
                  "S[(4,32,4):(4@TCol,1@TLane,1@TCol)] + R[4:32@TLane]", "S[(4,32,4):(4,16,1)]"),
      matrix_case({4, 16}, num::DType::Float16, "S[(4,16):(32@TLane,1@TCol)] + 5@TLane",
                  "ComposeLayout(3, 2, 3, S[(4,16):(32,1)])"),
  };
}

// --- the program of a case ---

inline ir::BufferId tensor(ir::test::Builder& b, const std::string& name, const CopyCase& c,
                           const std::string& layout) {
  const ir::BufferId address = b.alloc("address", {1}, num::DType::Uint32, ir::Scope::Shared);
  ir::Buffer out = b.buffer(name, c.shape, c.dtype, ir::Scope::Tmem, layout);
  out.allocated_addr = b.at(address, {b.n(0)});
  return b.declare(std::move(out));
}

/// In global memory, with parameters for extents of 0.
inline ir::BufferId matched(ir::test::Builder& b, const std::string& name, const CopyCase& c) {
  ir::Buffer out = b.buffer(name, c.src_shape, c.dtype, ir::Scope::Global);
  for (std::size_t d = 0; d < c.src_shape.size(); ++d)
    if (c.src_shape[d] == 0)
      out.shape[d] = b.var(b.param(fmt::format("n{}", d), ir::Type::of(num::DType::Int32)));
  return b.matched(name + "_ptr", std::move(out));
}

inline ir::BufferId source(ir::test::Builder& b, const CopyCase& c) {
  if (c.src_scope == ir::Scope::Tmem) return tensor(b, "A", c, c.src);
  if (c.is_async && c.src_scope == ir::Scope::Shared) {
    ir::Buffer out = b.buffer("A", c.shape, c.dtype, c.src_scope, c.src);
    out.align = 1024;
    return b.alloc(std::move(out));
  }
  const bool is_plain = !c.is_async && c.src_scope != ir::Scope::Global;
  if (is_plain || c.src_scope == ir::Scope::Local)
    return b.alloc("A", c.shape, c.dtype, c.src_scope, c.src);
  return matched(b, "A", c);
}

inline ir::TileOp op_of(const CopyCase& c) {
  return c.is_async ? ir::TileOp::CopyAsync : ir::TileOp::Copy;
}

inline ir::Function function_of(const CopyCase& c) {
  ir::test::Builder b("k");
  b.f.has_device_entry = true;
  b.id(ir::ScopeIdKind::CtaId, "", 1);
  b.id(ir::ScopeIdKind::ThreadId, "tid", c.threads);
  const ir::BufferId dst = c.dst_scope == ir::Scope::Tmem ? tensor(b, "D", c, c.dst)
                           : c.dst_scope == ir::Scope::Global
                               ? matched(b, "D", c)
                               : b.alloc("D", c.shape, c.dtype, c.dst_scope, c.dst);
  const ir::BufferId src = source(b, c);
  ir::Region from = b.full(src), to = b.full(dst);
  for (std::size_t d = 0; d < c.shape.size(); ++d)
    for (ir::Region* region : {&from, &to}) region->ranges[d].extent = b.n(c.shape[d]);
  if (c.has_start)
    (c.dst_scope == ir::Scope::Global ? to : from).ranges[0].min =
        b.var(b.param("start", ir::Type::of(num::DType::Int32)));
  std::vector<ir::TileArg> args{to, from};
  if (!c.mask_shape.empty())
    args.emplace_back(b.full(b.alloc("M", c.mask_shape, num::DType::Bool, c.mask_scope, c.mask)));
  const auto id = b.tile(op_of(c), c.unit, std::move(args));
  auto& config = b.f.tile_calls[id.index].config;
  if (c.fills) config.emplace_back("fill_mode", std::string("zero"));
  if (c.fill_value) config.emplace_back("fill_value", *c.fill_value);
  if (c.clips) config.emplace_back("clip", true);
  if (c.is_cached) config.emplace_back("cache", std::string("nc"));
  if (c.has_predicate) {
    const ir::ExprId p = b.var(b.param("p", ir::Type::of(num::DType::Int32)));
    config.emplace_back("predicate", b.op(ir::ExprOp::Lt, p, b.n(3)));
  }
  return b.done();
}

inline const Variant& variant_of(const CopyCase& c) {
  for (const Variant* each : variants_of(op_of(c)))
    if (each->name == c.variant) return *each;
  WW_CHECK(false, "no variant `{}`", c.variant);
}

inline target::Target target_of(const CopyCase& c) {
  const bool has_tensor = c.dst_scope == ir::Scope::Tmem || c.src_scope == ir::Scope::Tmem;
  return {.arch = has_tensor ? target::Arch::Sm100a : target::Arch::Sm90a, .ptx = 90};
}

/// A copy, its variant's answer and its code.
class WrittenCopy : public CallUnderTest {
 public:
  explicit WrittenCopy(const CopyCase& c)
      : CallUnderTest(function_of(c), variant_of(c), prove_copy, target_of(c)) {}
};

inline std::string name_of(const CopyCase& c) { return c.variant + " " + c.dst + " <- " + c.src; }

}  // namespace ww::lower::test
