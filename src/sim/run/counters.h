// SPDX-License-Identifier: Apache-2.0
// The counters of a run. Only sums, so the order in which blocks ran does not matter.
#pragma once

#include <cstdint>
#include <vector>

namespace ww::sim {

/// Of one op.
struct OpCount {
  std::uint64_t executed = 0;  // warp instructions
  std::uint64_t lanes = 0;     // lanes that took part, summed
  // Shared memory: turns that the banks needed, and the fewest that would do for as many words.
  std::uint64_t wavefronts = 0, ideal_wavefronts = 0;
  // Global memory: 32-byte sectors touched, and the fewest that hold as many bytes.
  std::uint64_t sectors = 0, ideal_sectors = 0;

  OpCount& operator+=(const OpCount& other);
};

struct Counters {
  std::uint64_t instructions = 0;
  std::uint64_t engine_steps =
      0;  // what tensor cores and copy engines cost the host, in instructions

  /// They multiply numbers, or move bytes under a race check.
  void add_products(std::uint64_t count) { engine_steps += count / 256; }
  void add_moved(std::uint64_t bytes) { engine_steps += bytes / 16; }
  std::vector<OpCount> ops;  // by op; empty unless asked for

  void merge(const Counters& other);
};

/// Wavefronts of a shared-memory access. `address` of each lane of the mask, `bytes` per lane.
/// Accesses of 8 bytes go in halves of the warp, of 16 in quarters, as the hardware does.
struct Wavefronts {
  unsigned needed = 0, ideal = 0;
};
Wavefronts shared_wavefronts(const std::uint64_t* address, std::uint32_t lanes, unsigned bytes);
/// The same for rows of 16 bytes, eight at a time: ldmatrix and stmatrix.
Wavefronts row_wavefronts(const std::uint64_t* address, unsigned rows);

struct Sectors {
  unsigned needed = 0, ideal = 0;
};
Sectors global_sectors(const std::uint64_t* address, std::uint32_t lanes, unsigned bytes);

}  // namespace ww::sim
