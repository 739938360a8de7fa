// SPDX-License-Identifier: Apache-2.0
#include "lower/lower.h"

#include "ir/launch/active_set.h"
#include "ir/launch/launch.h"
#include "ir/name_parts.h"
#include "ir/shared_size.h"
#include "ir/unroll/unroll.h"
#include "ir/verify/verify.h"
#include "ir/visit.h"
#include "lower/background_proofs.h"
#include "lower/copy_async/prefetch_maps.h"
#include "lower/dispatch.h"
#include "lower/engine_fallback.h"
#include "lower/flatten.h"
#include "lower/launch_ids.h"
#include "lower/promote.h"
#include "lower/vectorize.h"

namespace ww::lower {

Lowered lower(const ir::Function& tile, const Options& options) {
  return Lowering(tile, options).proven();
}

Lowering::Lowering(const ir::Function& tile, const Options& options)
    : proofs_(std::make_unique<BackgroundProofs>()) {
  run(tile, options);
}

Lowering::~Lowering() = default;

void Lowering::run(const ir::Function& tile, const Options& options) {
  proofs_->expect(tile);
  ir::Function f = tile;
  if (const auto named = ir::name_parts(f); !named) {
    out_.errors.push_back(named.error());
    return;
  }
  if (tile.level == ir::Level::Tile) {
    const auto shape = ir::launch_shape(f);
    if (!shape) {
      out_.errors.push_back(shape.error());
      return;
    }
    const EngineFallback fallback = replace_engine(f, *shape, options.target, out_.errors);
    if (!out_.errors.empty()) return;
    promote_scalars(f);
    const ir::ActiveSets active = ir::ActiveSets::of(f, *shape);
    const LaunchVars ids = resolve_scope_ids(f, *shape);
    ir::Facts facts = ir::facts_of(f);
    const ir::Definitions definitions = ir::definitions_of(f);
    ir::ThreadValues values(f, *shape, definitions);
    Context context{f, *shape, ids, facts, values, options.target};
    check_replaced(fallback, context, active, out_.errors);
    dispatch(context, active, options, *proofs_, out_);
    note_replaced(fallback, context, out_.report);
    if (!out_.errors.empty()) return;
    prefetch_maps(context);
    // Addresses repeat the indices that they are made of.
    auto flat = flatten(f);
    if (flat) vectorize_loops(context, out_.report);
    if (flat) flat = ir::name_parts(f);
    if (!flat) {
      out_.errors.push_back(flat.error());
      return;
    }
  }
  out_.report.spilled = ir::settle_loops(f);
  out_.function = std::move(f);
  proofs_->check(*out_.function, options.target);
}

const ir::Function* Lowering::unproven() const { return out_.function ? &*out_.function : nullptr; }

Lowered Lowering::proven() && {
  const std::vector<Diag> errors = proofs_->settle();
  out_.errors.insert(out_.errors.end(), errors.begin(), errors.end());
  if (!out_.errors.empty()) out_.function.reset();
  return std::move(out_);
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
