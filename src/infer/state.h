// SPDX-License-Identifier: Apache-2.0
// What inference knows while it works: the calls that use tiles, and the layouts so far.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "infer/infer.h"
#include "ir/function.h"
#include "ir/launch/launch.h"
#include "layout/ready_made.h"
#include "num/dtype.h"

namespace ww::infer {

// --- named ---------------------------------------------------------------------------------------
//
// The layouts that inference picks from: those with names in the language, each with the text that
// can be written in its place.

struct Named {
  layout::Layout layout = {};
  std::string text = {};  // `coalesced_layout((64, 64), 128, "float32")`
};

/// The threads that share a tile: how many, and the axis on which they are counted.
struct Sharers {
  std::int64_t count = 1;
  layout::Axis axis = layout::axes::tx();
};

/// `mma_tile_layout(…)`: operand 'A', 'B', 'C' or 'D' of a product.
Result<Named> mma_named(char operand, const layout::Shape& shape, num::DType dtype,
                        const layout::WarpGrid& warps, bool is_transposed);
/// `wgmma_tile_layout(…)`: operand 'A' or 'D' of an asynchronous product.
Result<Named> wgmma_named(char operand, const layout::Shape& shape, num::DType dtype,
                          std::int64_t warpgroups);
/// `mma_shared_layout(…, "auto", …)`.
Result<Named> shared_named(const layout::Shape& shape, num::DType dtype);
/// `coalesced_layout(…)`, `row_layout(…)`.
Result<Named> coalesced_named(const layout::Shape& shape, const Sharers& by, num::DType dtype);
Result<Named> row_named(const layout::Shape& shape, const Sharers& by);
/// `wg_local_layout(…)`: a row in each thread of a warpgroup.
Result<Named> wg_named(std::int64_t columns);
/// `reduced_layout(…)` of a tile of this shape.
Result<Named> reduced_named(const Named& whole, const layout::Shape& shape,
                            const layout::Shape& dims);
/// A layout that the source gives, written out.
Named given_named(const layout::Layout& layout);

/// A region that a call reads or writes.
struct Operand {
  std::size_t arg = 0;  // its place among the arguments
  ir::BufferId buffer = {};
  layout::Shape extents = {};
  bool is_whole = false;  // all of the buffer
};

enum class UseKind : std::uint8_t { Elementwise, Copy, Product, Reduction, Scan, Indexed, Other };

/// A call whose regions have constant extents; regions of other extents are left out.
struct Use {
  UseKind kind = UseKind::Other;
  ir::StmtId stmt = {};
  ir::TileCallId call = {};
  std::vector<Operand> operands = {};

  [[nodiscard]] const Operand* at(std::size_t arg) const;
  [[nodiscard]] bool has(ir::BufferId buffer) const;
};

struct Decision {
  Named named;
  std::string reason;
  Span because;
};

struct State {
  ir::Function& f;
  ir::LaunchShape launch = {};
  std::vector<ir::BufferId> autos = {};  // but for views by `.local()`
  std::vector<ir::BufferId> views = {};  // those
  std::vector<Use> uses = {};            // in the order of the program
  std::map<std::uint32_t, Decision> decided = {};
  /// Tiles that elementwise calls and copies need in the same places, by their least member.
  std::vector<std::uint32_t> groups = {};
  std::vector<Diag> errors = {};

  [[nodiscard]] const ir::TileCall& call(const Use& use) const { return f[use.call]; }
  [[nodiscard]] Span span(const Use& use) const { return f[use.stmt].span; }
  /// "`Tx.cta.copy`"
  [[nodiscard]] std::string name(const Use& use) const;
  [[nodiscard]] bool is_local(ir::BufferId id) const { return f[id].scope == ir::Scope::Local; }
  /// In registers, to be inferred, and not yet decided.
  [[nodiscard]] bool is_open(ir::BufferId id) const;
  /// The layout of a tile in registers, if it has one that says which threads hold what.
  [[nodiscard]] std::optional<Named> known(ir::BufferId id) const;
  /// Empty if an extent is a run-time value.
  [[nodiscard]] layout::Shape shape(ir::BufferId id) const;
  /// 0 where there is no such number, or none that a tile can have.
  [[nodiscard]] std::int64_t elements(ir::BufferId id) const;
  [[nodiscard]] std::uint32_t group(ir::BufferId id) const { return groups[id.index]; }
};

/// Launch, buffers, calls, groups.
Result<State> read_state(ir::Function& function);

/// Fixes the layout of a buffer; false where it has another number of elements.
bool decide(State& state, ir::BufferId id, Named named, std::string reason, Span because);
/// Row-major storage, which each thread has for itself or all threads share.
void decide_default(State& state, ir::BufferId id, std::string reason, Span because);

/// The threads of a unit.
std::optional<Sharers> sharers_of(const State& state, ir::Unit unit);

// --- the steps -----------------------------------------------------------------------------------

/// Is it an operand or accumulator of a product of registers? Then nothing but a product decides.
bool is_of_product(const State& state, ir::BufferId id);
/// Why no grid of warps has fragments for the product, in words.
std::string product_problem(const State& state, const Use& use);
/// Is a tile of its group reduced along its last dimension?
bool is_row_reduced(const State& state, ir::BufferId id);
/// Registers of products.
void decide_products(State& state);
/// The same for products of `gemm_async`.
bool is_of_async_product(const State& state, ir::BufferId id);
std::string async_product_problem(const State& state, const Use& use);
void decide_async_products(State& state);
/// The fragment that a product needs for its operand to match the accumulator, if the operand is in
/// other threads.
std::optional<Named> missing_fragment(const State& state, const Use& use, const Operand& operand);
/// Is it copied to or from tensor memory? Then only that copy decides.
bool meets_tensor_memory(const State& state, ir::BufferId id);
/// Registers that tensor memory is copied to or from.
void decide_tensor(State& state);
/// Shared memory.
void decide_shared(State& state);
/// Spreads what is known along the calls until nothing changes.
void follow(State& state);
/// Tiles that meet memory, the largest first.
void decide_by_memory(State& state);
/// Tiles that threads have for themselves, and errors for tiles of several units.
void decide_units(State& state);
/// Errors for what is still open, with the uses and what to write.
void refuse_open(State& state);
/// Copies for uses that need tiles in other threads.
void add_conversions(State& state, std::vector<Conversion>& report);
/// Views by `.local()`: their layout and size.
void settle_views(State& state, const InferOptions& options);

}  // namespace ww::infer
