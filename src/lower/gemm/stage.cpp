// SPDX-License-Identifier: Apache-2.0
// `stage=True` of a gemm call: factors in shared memory are copied into fragments first.
//
//     Tx.warp.gemm(D, A_smem[0:64, 0:16], B_smem[0:16, 0:64], D, beta=1.0, stage=True)
//
// becomes two copies and a gemm, each lowered by the variants of its own. The fragments are those
// that D's layout asks for: lanes that hold rows of D get the same rows of A, lanes that hold
// columns of D such columns of B that an instruction adds to them, all of K in its natural order.
#include "lower/lowered_op.h"

#include <algorithm>
#include <optional>

#include "layout/fit.h"
#include "lower/as_index.h"
#include "lower/call.h"
#include "lower/gemm/problem.h"

namespace ww::lower {
namespace {

constexpr std::size_t kA = 1, kB = 2;

bool is_staged(const Call& call, std::size_t argument) {
  return ir::is_shared(call.memory(argument));
}

/// Where the elements of one factor go: for each the threads of the unit that get it, and the place
/// in their registers.
class FragmentMaker {
 public:
  /// `lines`: which row of A (column of B) lane group g = lane / 4 has in which part of a warp's
  /// registers, by warp, part and g.
  using Lines = std::vector<std::vector<std::vector<std::int64_t>>>;

  FragmentMaker(const Call& call, std::int64_t depth, int per_word)
      : call_(call), depth_(depth), per_word_(per_word) {}

  /// Words that lie side by side: so many parts of one group of k.
  Match<layout::TileLayout> make(const Lines& lines, std::int64_t count, std::size_t side_by_side,
                                 bool is_depth_last, std::string_view role) {
    std::vector<std::vector<Holder>> holders(as_index(count));
    for (std::size_t warp = 0; warp < lines.size(); ++warp)
      for (std::size_t part = 0; part < lines[warp].size(); ++part)
        for (std::size_t g = 0; g < 8; ++g)
          holders[as_index(lines[warp][part][g])].push_back({warp, part, g});
    const std::size_t copies = holders[0].size();
    for (const auto& each : holders)
      if (each.size() != copies || copies == 0)
        return decline("stage", "{} of D's warps hold one line of {}, {} another", copies, role,
                       each.size());
    layout::Image image = blank(count, static_cast<std::int64_t>(copies));
    for (std::int64_t x = 0; x < image.size; ++x) {
      const std::int64_t line = is_depth_last ? x / depth_ : x % count;
      const std::int64_t k = is_depth_last ? x % depth_ : x / count;
      for (std::size_t c = 0; c < copies; ++c)
        put(image, static_cast<std::int64_t>(c) * image.size + x, holders[as_index(line)][c], k,
            side_by_side);
    }
    auto fitted = layout::fit_image(image);
    if (!fitted)
      return decline("stage", "no layout expresses the fragments of {} that go with D: {}", role,
                     fitted.error().text);
    return *std::move(fitted);
  }

 private:
  struct Holder {
    std::size_t warp, part, g;
  };

  [[nodiscard]] bool has_warps() const { return call_.tile.scope != ir::Unit::Warp; }
  [[nodiscard]] layout::Image blank(std::int64_t count, std::int64_t copies) const {
    layout::Image image{.size = count * depth_, .copies = copies, .axes = {}, .values = {}};
    image.axes = {layout::axes::laneid(), layout::axes::m()};
    if (has_warps())
      image.axes.push_back(call_.tile.scope == ir::Unit::Cta ? layout::axes::warpid()
                                                             : layout::axes::wid_in_wg());
    image.values.assign(image.axes.size(),
                        std::vector<std::int64_t>(as_index(image.size * copies)));
    return image;
  }
  void put(layout::Image& image, std::int64_t at, const Holder& holder, std::int64_t k,
           std::size_t side_by_side) const {
    const std::int64_t groups = depth_ / (4 * per_word_);
    const std::int64_t group = k / (4 * per_word_), t = k / per_word_ % 4, j = k % per_word_;
    const auto beside = static_cast<std::int64_t>(side_by_side);
    const auto part = static_cast<std::int64_t>(holder.part);
    const std::int64_t word = (part / beside * groups + group) * beside + part % beside;
    const auto i = as_index(at);
    image.values[0][i] = static_cast<std::int64_t>(holder.g) * 4 + t;
    image.values[1][i] = word * per_word_ + j;
    if (has_warps()) image.values[2][i] = static_cast<std::int64_t>(holder.warp);
  }

  const Call& call_;
  std::int64_t depth_;
  std::int64_t per_word_;
};

// After the buffer; also after the role where both factors are in one.
std::string fragment_name(const Call& call, std::size_t argument) {
  const auto name = [&](std::size_t i) { return call.buffer(i).name; };
  const bool is_shared = is_staged(call, kA) && is_staged(call, kB) && name(kA) == name(kB);
  return fmt::format("{}_frag{}{}", name(argument), is_shared ? "_" : "",
                     is_shared ? kRoleNames[argument] : "");
}

void add_fragment(const Call& call, std::size_t argument, layout::TileLayout layout,
                  const layout::Shape& shape, ir::TileCall& gemm, Expansion& out) {
  ir::Function& f = call.f();
  const ir::Buffer& of = f[call.region(argument).buffer];
  ir::Buffer fragment;
  fragment.name = fragment_name(call, argument);
  fragment.dtype = of.dtype;
  fragment.scope = ir::Scope::Local;
  fragment.span = call.span;
  fragment.layout_kind = ir::LayoutKind::Explicit;
  fragment.layout = layout::Layout(std::move(layout));
  fragment.origin = ir::BufferOrigin::Alloc;
  for (const std::int64_t extent : shape)
    fragment.shape.push_back(ir::int_imm(f, num::DType::Int32, extent));
  const ir::BufferId id = f.add(std::move(fragment));
  out.buffers.push_back(id);
  ir::TileCall copy;
  copy.op = ir::TileOp::Copy;
  copy.scope = call.tile.scope;
  copy.args = {ir::TileArg(whole_region(f, id)), call.tile.args[argument], ir::TileArg()};
  out.calls.push_back(std::move(copy));
  gemm.args[argument] = whole_region(f, id);
}

// The two quads of a register of B, interleaved, for every pair of quads.
Match<std::vector<std::vector<std::int64_t>>> columns_of(const WarpLines& warp) {
  if (warp.quads.size() % 2 != 0)
    return decline("fragment", "a warp holds {} groups of 4 columns of D, expected pairs",
                   warp.quads.size());
  std::vector<std::vector<std::int64_t>> out(warp.quads.size() / 2);
  for (std::size_t i = 0; i < warp.quads.size(); i += 2)
    for (std::size_t t = 0; t < 4; ++t)
      for (const std::size_t r : {0U, 1U}) out[i / 2].push_back(warp.quads[i + r][t]);
  return out;
}

}  // namespace

// The copies and the gemm; nothing where the call does not ask for them, or has no factor in
// shared memory. Declines where D is no fragment of matrix instructions.
Match<std::optional<Expansion>> staged_gemm(const Call& call) {
  const bool is_asked = flag_of(call, "stage").value_or(false);
  if (!is_asked || !(is_staged(call, kA) || is_staged(call, kB))) return std::nullopt;
  WW_TRY_VOID(check_warps(call, kFullLanes, kFullLanes));
  WW_TRY_VOID(check_in_registers(call, 0));
  const GemmSizes sizes = WW_TRY(gemm_sizes(call));
  const bool may_cut = WW_TRY(flag_of(call, "allow_tf32"));
  WW_TRY_VOID(check_sizes(sizes, WW_TRY(atoms_of(sizes.types, may_cut, call.context.target))));
  FragmentMaker::Lines rows, columns;
  for (const WarpLines& warp : WW_TRY(lines_of(call, sizes))) {
    rows.push_back(warp.octets);
    columns.push_back(WW_TRY(columns_of(warp)));
  }
  const bool has_pairs =
      std::ranges::all_of(rows, [](const auto& octets) { return octets.size() % 2 == 0; });
  const auto [m, n, k] = std::tuple(sizes.m, sizes.n, sizes.k);
  Expansion out;
  ir::TileCall gemm = call.tile;
  FragmentMaker maker(call, k, sizes.types.per_word());
  if (is_staged(call, kA)) {
    auto layout = WW_TRY(maker.make(rows, m, has_pairs ? 2 : 1, !sizes.turns_a, "A"));
    const layout::Shape shape = sizes.turns_a ? layout::Shape{k, m} : layout::Shape{m, k};
    add_fragment(call, kA, std::move(layout), shape, gemm, out);
  }
  if (is_staged(call, kB)) {
    auto layout = WW_TRY(maker.make(columns, n, 1, sizes.turns_b, "B"));
    const layout::Shape shape = sizes.turns_b ? layout::Shape{n, k} : layout::Shape{k, n};
    add_fragment(call, kB, std::move(layout), shape, gemm, out);
  }
  out.calls.push_back(std::move(gemm));
  return out;
}

}  // namespace ww::lower
