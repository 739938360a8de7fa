// SPDX-License-Identifier: Apache-2.0
// Lowering: from a tile program to a *lowered program* of plain loops, flat buffers and PTX
// instructions, with a report of what was chosen and why.
//
//     tile IR ── promote ── launch_ids ── dispatch ── flatten ──> lowered IR
//
// where each step is a header of that name. Loops over registers stay loops; emitters take what `unroll` makes
// of the program. On targets without a copy engine, engine_fallback goes first.
//
// What a lowered program looks like (beyond what ir/verify/verify.h says of the level); emitters
// rely on exactly this:
//
//   parameters   those of the tile program in their order, then one scalar for each extent that is
//                known at launch only (`n = T.int32()`), by its name
//   launch       LaunchThread statements at the start of the body: `blockIdx.x` …, `threadIdx.x` …,
//                and for clusters `clusterCtaIdx.x` …; what scope ids were is bound by T.let from
//                these, under the names of the source
//   buffers      one dimension, layout None. Param and Pointer buffers are global memory (or what
//                the pointer leads to), Alloc ones shared, shared.dyn or local; a View has its
//                storage's scope and stands for other elements there (another type, an offset).
//                tmem buffers are gone; what uses tensor memory are PTX instructions
//   registers    local Alloc buffers. Where every index is constant once loops over them are expanded, they are
//                registers; the rest lives in local memory
//   loops        Serial and Unroll
//   memory       element loads and stores, vector ones (n elements from an index on),
//                T.cuda.copy_bytes of 1, 2, 4, 8, 16 or 32 bytes between two pointers of which each
//                is aligned to as many bytes, and PTX instructions
//   provenance   what came out of a primitive stands in the body of an Attr named "primitive", whose
//                text says which: "Tx.warp.copy(R[0:8], A[0:8]) by ldstmatrix"
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/diag.h"
#include "ir/function.h"
#include "lower/lowering_report.h"
#include "target/target.h"

namespace ww::lower {

class CodeObserver;      // code_observer.h
class BackgroundProofs;  // background_proofs.h

struct Options {
  target::Target target = {};
  CodeObserver* observer = nullptr;  // sees code before it is proven; for tests
};

struct Lowered {
  std::optional<ir::Function> function;  // when there are no errors
  LoweringReport report;                 // of all primitives, refused ones too
  std::vector<Diag> errors;              // in the order of the source
};

/// Lowers a verified tile program (a lowered one comes back as it is). Errors: NoVariant
/// where no variant takes a primitive, with every reason; NotLowered for what has no lowering.
Lowered lower(const ir::Function& tile, const Options& options);

/// The same for a caller who has work that can begin before the code is proven.
class Lowering {
 public:
  Lowering(const ir::Function& tile, const Options& options);
  ~Lowering();
  Lowering(const Lowering&) = delete;
  Lowering& operator=(const Lowering&) = delete;

  /// The lowered program, of which nothing may leave before `proven` has returned one; null where there
  /// are errors.
  [[nodiscard]] const ir::Function* unproven() const;
  /// Waits for the proofs.
  [[nodiscard]] Lowered proven() &&;

 private:
  void run(const ir::Function& tile, const Options& options);

  Lowered out_;
  std::unique_ptr<BackgroundProofs> proofs_;  // the last: they read the program
};

/// Throws when lowering wrote a program that `ir::verify` rejects.
void check_lowered(const ir::Function& lowered, const target::Target& target);

/// Bytes of dynamic shared memory that a lowered program must be launched with.
std::int64_t dynamic_shared_bytes(const ir::Function& lowered);

}  // namespace ww::lower
