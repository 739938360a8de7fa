// SPDX-License-Identifier: Apache-2.0
// What the evaluator executes. Asked before anything runs, so that a kernel is refused at once and
// not in its middle.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/function.h"

namespace ww::eval {

/// Fails with NotEvaluated at the statement's place; says nothing about the statements inside it.
Result<void> require_evaluated(const ir::Function& function, const ir::Stmt& stmt);
/// Does that hold for every statement of the kernel?
bool is_evaluated(const ir::Function& function);

/// What an instruction does, as far as the evaluator is concerned.
enum class PtxKind : std::uint8_t {
  Unknown,
  Nothing,  // orders or hints: fences, prefetches, register counts
  BarSync,
  BarArrive,
  WarpSync,
  CopyAsync,
  CommitGroup,
  WaitGroup,
  WaitAll,
  CommitBulk,
  WaitBulk,
  MbarInit,
  MbarInval,
  MbarArrive,
  MbarTest,
  Elect,
  LoadMatrix,
  StoreMatrix,
  Mma,
  TmemAlloc,
  TmemFree,
  TmemRelinquish,
  TmemLoad,
  TmemStore,
  TmemWaitLoad,
  TmemWaitStore,
  TensorCopy,
  TensorCommit,
  Load,
  Store,
  Move,
  Add,
};
PtxKind ptx_kind(std::string_view opcode);
/// All lanes of a warp execute it together.
bool is_warp_collective(std::string_view opcode);

/// The parts between the dots: "ld", "global", "v4", "f32".
std::vector<std::string_view> parts_of(std::string_view opcode);
bool has_part(std::string_view opcode, std::string_view part);
/// Width of the type that an opcode ends with, in bits: 32 for "ld.global.v4.f32"; 0 when there is
/// none.
int type_bits(std::string_view opcode);
/// 4 of "v4" or "x4"; 1 when there is none.
int count_of(std::string_view opcode, char letter);

}  // namespace ww::eval
