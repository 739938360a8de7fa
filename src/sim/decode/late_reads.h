// SPDX-License-Identifier: Apache-2.0
// Loads of shared memory that may end late. A barrier or an arrival does not wait for the loads before it:
// only an instruction that needs a value does. Without one in between, a copy engine that refills
// the memory can overtake the load (seen on an H200).
#pragma once

namespace ww::sim {

struct Program;

/// Fills in Program::late_reads: ops that load shared memory and after which, on some path, no instruction
/// needs or replaces the value and no `fence.proxy.async` stands before the thread meets others, arrives,
/// or starts a bulk copy. Ops that end such a load get the flag kSettlesReads.
void find_late_reads(Program& program);

}  // namespace ww::sim
