// SPDX-License-Identifier: Apache-2.0
#include "lower/lower.h"

#include "ir/launch/active_set.h"
#include "ir/launch/launch.h"
#include "ir/name_parts.h"
#include "ir/shared_size.h"
#include "ir/verify/verify.h"
#include "ir/visit.h"
#include "lower/background_proofs.h"
#include "lower/copy_async/prefetch_maps.h"
#include "lower/dispatch.h"
#include "lower/engine_fallback.h"
#include "lower/flatten.h"
#include "lower/launch_ids.h"
#include "lower/promote.h"
#include "lower/unroll.h"
#include "lower/vectorize.h"

namespace ww::lower {

Lowered lower(const ir::Function& tile, const Options& options) {
  Lowered out;
  if (options.proofs != nullptr) options.proofs->expect(tile);
  ir::Function f = tile;
  if (const auto named = ir::name_parts(f); !named) {
    out.errors.push_back(named.error());
    return out;
  }
  if (tile.level == ir::Level::Tile) {
    const auto shape = ir::launch_shape(f);
    if (!shape) {
      out.errors.push_back(shape.error());
      return out;
    }
    const EngineFallback fallback = replace_engine(f, *shape, options.target, out.errors);
    if (!out.errors.empty()) return out;
    promote_scalars(f);
    const ir::ActiveSets active = ir::ActiveSets::of(f, *shape);
    const LaunchVars ids = resolve_scope_ids(f, *shape);
    ir::Facts facts = ir::facts_of(f);
    const ir::Definitions definitions = ir::definitions_of(f);
    ir::ThreadValues values(f, *shape, definitions);
    Context context{f, *shape, ids, facts, values, options.target};
    check_replaced(fallback, context, active, out.errors);
    dispatch(context, active, options, out);
    note_replaced(fallback, context, out.report);
    if (!out.errors.empty()) return out;
    prefetch_maps(context);
    // Addresses repeat the indices that they are made of.
    auto flat = flatten(f);
    if (flat) vectorize_loops(context, out.report);
    if (flat) flat = ir::name_parts(f);
    if (!flat) {
      out.errors.push_back(flat.error());
      return out;
    }
  }
  settle_loops(f, out.report);
  if (options.proofs == nullptr) check_lowered(f, options.target);
  out.function = std::move(f);
  return out;
}

void check_lowered(const ir::Function& lowered, const target::Target& target) {
  for (const Diag& broken : ir::verify(lowered, {.target = target, .check_uniform = false}))
    WW_CHECK(false, "lowering wrote a broken program: {}", broken.text);
}

// nvcc reads the last bytes of an array in whole words.
std::int64_t dynamic_shared_bytes(const ir::Function& lowered) {
  return (ir::dynamic_shared_bytes(lowered) + 15) / 16 * 16;
}

}  // namespace ww::lower
