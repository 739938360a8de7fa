// SPDX-License-Identifier: Apache-2.0
// The launch that a kernel's scope ids describe: how many CTAs, clusters, warps and threads there
// are, and what each id's value is in a thread.
//
// Each declaration states an extent between two units (`warp_id([4])`: cta -> warp is 4). What is
// not stated follows: (a->b)·(b->c) = (a->c), and the same solved for a factor. Warp -> thread is
// 32 and warpgroup -> warp is 4 as soon as such ids occur.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/function.h"

namespace ww::ir {

/// A runtime extent of the grid, or a constant.
struct Extent {
  std::int64_t value = 1;  // when `expr` is none
  ExprId expr = {};
  [[nodiscard]] bool is_constant() const { return !expr.valid(); }
};

struct LaunchShape {
  std::array<Extent, 3> grid;                    // CTAs, x first; clusters included
  std::array<std::int64_t, 3> cluster{1, 1, 1};  // CTAs of a cluster
  std::array<std::int64_t, 3> block{1, 1, 1};    // threads of a CTA
  bool has_clusters = false;
  bool is_cooperative = false;   // all CTAs run at once
  bool is_programmatic = false;  // it may start before the kernel in front of it has ended
  [[nodiscard]] std::int64_t threads() const { return block[0] * block[1] * block[2]; }
  [[nodiscard]] std::int64_t cluster_ctas() const { return cluster[0] * cluster[1] * cluster[2]; }
  [[nodiscard]] std::int64_t warps() const { return (threads() + 31) / 32; }
};

/// Attributes of a function, True or False, that say how it is launched.
constexpr std::string_view kCooperativeAttribute = "tirx.cooperative";
constexpr std::string_view kProgrammaticAttribute = "tirx.programmatic_stream_serialization";

/// Works out the launch. Fails with BadScopeIds: contradicting or indivisible extents, extents that
/// do not follow from anything, more dimensions than there are, more than 1024 threads, threads
/// that are not a multiple of 32 where warps are counted; each names the declarations with their
/// places. BadArgument for an attribute of the launch that is neither True nor False. A lowered function's LaunchThread statements say the same directly.
Result<LaunchShape> launch_shape(const Function& function);

/// A thread of a launch: linear id in its CTA, and the CTA's coordinates.
struct ThreadPlace {
  std::int64_t thread = 0;
  std::array<std::int64_t, 3> cta{0, 0, 0};
};
/// The value of dimension `dim` of a scope id in a thread. `grid` gives the launched grid
/// (constant).
std::int64_t scope_id_value(const LaunchShape& shape, ScopeIdKind kind, std::size_t dim,
                            std::size_t dims, const std::array<std::int64_t, 3>& grid,
                            const ThreadPlace& place);

/// The statement and position that bind each ScopeId or Launch variable.
struct IdBinding {
  StmtId stmt = {};
  std::size_t dim = 0;
};
std::vector<IdBinding> id_bindings(const Function& function);  // by VarId index

}  // namespace ww::ir
