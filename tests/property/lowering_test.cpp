// SPDX-License-Identifier: Apache-2.0
// Lowered programs compute what tile programs compute: kernels without tile primitives go through
// scope ids, flattening, unrolling and expansion, and the evaluator runs every stage on the same
// numbers. Each stage is verified, and what is printed of it compiles back to the same program.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "eval/eval.h"
#include "eval/value/arithmetic.h"
#include "ir/equal.h"
#include "ir/launch/launch.h"
#include "ir/print/print.h"
#include "ir/unroll/unroll.h"
#include "ir/verify/verify.h"
#include "lower/flatten.h"
#include "lower/launch_ids.h"
#include "lower/promote.h"
#include "property/lowering_programs.h"
#include "script/compile.h"

namespace ww::lower::lowering_test {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::string_view kHeader = R"(from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, R, TileLayout, ComposeLayout, SwizzleLayout, laneid, warpid, tid_in_wg

@T.prim_func
)";

// --- running -------------------------------------------------------------------------------------

std::int64_t extent_of(const ir::Function& f, ir::ExprId extent, const Program& p) {
  if (const auto value = ir::const_int(f, extent)) return *value;
  return p.sizes.at(f[f[extent].var].name);
}

/// The arguments of the tile program: small numbers in every array, so that sums are exact.
struct Arguments {
  std::vector<Bytes> arrays;  // by parameter of the tile program; empty for scalars
  std::vector<std::vector<std::int64_t>> shapes;

  Arguments(const ir::Function& f, const Program& p)
      : arrays(f.params.size()), shapes(f.params.size()) {
    for (std::size_t i = 0; i < f.params.size(); ++i) {
      const ir::BufferId id = ir::buffer_of_param(f, i);
      if (!id.valid()) continue;
      std::int64_t size = 1;
      for (const ir::ExprId extent : f[id].shape) {
        shapes[i].push_back(extent_of(f, extent, p));
        size *= shapes[i].back();
      }
      fill(f[id].dtype, static_cast<std::size_t>(size), arrays[i]);
    }
  }

  static void fill(num::DType dtype, std::size_t size, Bytes& out) {
    const auto bits = static_cast<std::size_t>(num::storage_bits(dtype));
    out.resize((size * bits + 7) / 8);
    for (std::size_t k = 0; k < size; ++k) {
      const auto word = eval::from_real(dtype, static_cast<double>(k * 7 % 13));
      if (bits < 8)
        out[k / 2] |= static_cast<std::byte>(word << (k % 2 * 4));
      else
        std::memcpy(out.data() + k * bits / 8, &word, bits / 8);
    }
  }
};

/// What the arrays hold afterwards; findings are failures.
std::vector<Bytes> run(const ir::Function& f, const Program& p, Arguments arguments, bool is_tile,
                       const std::string& stage) {
  std::vector<eval::Argument> list;
  for (std::size_t i = 0; i < f.params.size(); ++i) {
    if (i < arguments.arrays.size() && !arguments.shapes[i].empty()) {
      list.emplace_back(eval::BufferArg{
          &arguments.arrays[i], is_tile ? arguments.shapes[i] : std::vector<std::int64_t>{}, true});
    } else {
      const ir::Var& var = f[f.params[i].var];
      list.emplace_back(eval::ScalarArg{eval::from_int(var.type.dtype, p.sizes.at(var.name))});
    }
  }
  const auto report = eval::run(f, std::move(list));
  if (!report) {
    ADD_FAILURE() << stage << ": " << report.error().text << "\n" << ir::print(f);
    return {};
  }
  for (const eval::Finding& finding : report->findings)
    ADD_FAILURE() << stage << ": " << finding.text << "\n" << ir::print(f);
  return std::move(arguments.arrays);
}

void expect_sound(const ir::Function& f, const std::string& stage) {
  for (const Diag& d : ir::verify(f))
    ADD_FAILURE() << stage << ": " << d.text << "\n" << ir::print(f);
  const std::string text = ir::print(f);
  const SourceText source("again.py", text);
  const auto again = script::compile(source);
  for (const Diag& d : again.errors) ADD_FAILURE() << stage << ": " << again.render(d) << text;
  if (!again.function) return;
  const auto difference = ir::difference(f, *again.function);
  EXPECT_FALSE(difference) << stage << ": " << *difference << "\n" << text;
}

void expect_same_launch(const ir::LaunchShape& a, const ir::LaunchShape& b) {
  EXPECT_EQ(a.block, b.block);
  EXPECT_EQ(a.cluster, b.cluster);
  EXPECT_EQ(a.has_clusters, b.has_clusters);
  for (std::size_t d = 0; d < 3; ++d) EXPECT_EQ(a.grid[d].value, b.grid[d].value);
}

class Lowering : public testing::TestWithParam<Program> {};

TEST_P(Lowering, ComputesWhatTheTileProgramComputes) {
  const Program& p = GetParam();
  const SourceText source("kernel.py", std::string(kHeader) + p.source);
  const auto compiled = script::compile(source);
  for (const Diag& d : compiled.errors) ADD_FAILURE() << compiled.render(d);
  ASSERT_TRUE(compiled.function);
  const ir::Function& tile = *compiled.function;
  const Arguments arguments(tile, p);
  const std::vector<Bytes> expected = run(tile, p, arguments, true, "tile");

  ir::Function f = tile;
  const auto shape = ir::launch_shape(f);
  ASSERT_TRUE(shape);
  promote_scalars(f);
  resolve_scope_ids(f, *shape);
  const auto flat = flatten(f);
  ASSERT_TRUE(flat) << compiled.render(flat.error());
  expect_sound(f, "flat");
  const auto launch = ir::launch_shape(f);
  ASSERT_TRUE(launch) << launch.error().text;
  expect_same_launch(*shape, *launch);
  EXPECT_EQ(run(f, p, arguments, false, "flat"), expected) << ir::print(f);
  EXPECT_NE(ir::print(f).find(p.shown), std::string::npos) << ir::print(f);

  const std::vector<ir::SpilledArray> arrays = ir::settle_loops(f);
  expect_sound(ir::with_unrolled_loops(f), "unrolled");
  std::string spilled;
  for (const ir::SpilledArray& array : arrays)
    spilled += fmt::format("{}{}: {}", spilled.empty() ? "" : "; ", array.buffer, array.reason);
  EXPECT_EQ(spilled, p.spilled);
  const ir::Function expanded = ir::expand_unrolled(f);
  expect_sound(expanded, "expanded");
  EXPECT_EQ(run(expanded, p, arguments, false, "expanded"), expected) << ir::print(expanded);
}

INSTANTIATE_TEST_SUITE_P(Programs, Lowering, testing::ValuesIn(programs()),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace ww::lower::lowering_test
