// SPDX-License-Identifier: Apache-2.0
// Random kernels over thread ids, and who comes where when they run: each thread is executed on its
// own, by an interpreter that shares nothing with the analyses of src/ir.
#pragma once

#include <array>
#include <bitset>
#include <optional>
#include <string>
#include <unordered_map>

#include "harness/tape.h"
#include "ir/function.h"

namespace ww::test {

constexpr std::size_t kCtas = 4;
constexpr std::size_t kClusterCtas = 2;

/// A kernel for four CTAs in two clusters, with its ids, a parameter and some memory.
struct Program {
  ir::Function f;
  std::int64_t threads = 32;
  ir::VarId tid, lane, warp, cta, cluster, param;
  ir::BufferId memory;  // written by any thread at any time
  ir::BufferId table;   // never written
};

/// The kernel that the tape tells. `exact`: with nothing in it that the analysis cannot know.
Program random_program(Tape& tape, bool exact);
/// The program as text, with a mark at a statement.
std::string text(const Program& program, ir::StmtId marked);

constexpr std::size_t kMaxThreads = 256;
using Who = std::array<std::bitset<kMaxThreads>, kCtas>;

/// Who came to a statement, in one combination of rounds of the loops around it.
struct Arrival {
  ir::StmtId stmt;
  Who who;
};
using Arrivals = std::unordered_map<std::uint64_t, Arrival>;  // by statement and rounds, scrambled

/// Runs every thread; `draw` chooses what the program does not say: parameters, memory, the lanes
/// that are elected. Nothing when some thread does not end.
std::optional<Arrivals> executed(const Program& program, std::uint64_t draw);

}  // namespace ww::test
