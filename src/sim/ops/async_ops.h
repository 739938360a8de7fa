// SPDX-License-Identifier: Apache-2.0
// Shared by the asynchronous instructions. The hardware may do their work any time between the
// instruction and the wait for it; the virtual GPU does it as late as the rules allow, so that a
// program that forgets to wait always sees old data. Until then
//
//   - the shared memory concerned is marked: an access to it is reported (see `check_async`)
//   - the data, read when the instruction was issued, is kept by the warp or in Unit::jobs
//
// Findings of work that is done late name the instruction that started it (`ActingFor`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/decode/decoder.h"
#include "sim/memory/access.h"
#include "sim/ops/memory_ops.h"
#include "sim/run/unit.h"
#include "sim/run/warp.h"

namespace ww::sim {

/// While it lives, the warp acts for an op that it executed earlier.
class ActingFor {
 public:
  ActingFor(Warp& warp, std::uint32_t op) : warp_(warp), before_(std::exchange(warp.current, op)) {}
  ~ActingFor() { warp_.current = before_; }
  ActingFor(const ActingFor&) = delete;
  ActingFor& operator=(const ActingFor&) = delete;

 private:
  Warp& warp_;
  std::uint32_t before_;
};

// --- shared memory that asynchronous work is under way in ----------------------------------------

enum class AsyncUse : std::uint8_t { Read, Write };
/// The running op uses these bytes from now on, for that lane; and does so no longer. Does nothing
/// for regions other than shared memory and while such uses are not checked.
void mark_shared(Warp& warp, const Region& region, std::uint64_t address, std::uint64_t bytes,
                 unsigned lane, AsyncUse use);
void unmark_shared(Warp& warp, const Region& region, std::uint64_t address, std::uint64_t bytes,
                   AsyncUse use);
/// The same for the eight bytes of an mbarrier.
void mark_mbarrier(Warp& warp, const Region& region, std::uint64_t address, unsigned lane);
void unmark_mbarrier(Warp& warp, const Region& region, std::uint64_t address);

// --- runs of bytes -------------------------------------------------------------------------------

/// Bytes that were read, and which of them are undefined (empty: none).
struct Bytes {
  std::vector<std::byte> data;
  std::vector<std::uint8_t> undefined;
};

/// A run of memory that one lane names.
struct ByteRun {
  Region* region = nullptr;  // null: nothing of it is accessible
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;  // that are accessible
};

/// Finds a run that starts at a multiple of `unit`; what lies outside is reported and left out.
ByteRun find_run(Warp& warp, std::uint64_t address, unsigned lane, std::uint32_t bytes,
                 AccessKind touch, Space space, unsigned unit = 16);
/// Reads the run through the async proxy as an access of that lane. `undefined` may be null.
void read_run(Warp& warp, const ByteRun& run, unsigned lane, std::byte* data,
              std::uint8_t* undefined);
/// The same as a value; zeros up to `bytes` beyond what is accessible.
Bytes read_run(Warp& warp, const ByteRun& run, unsigned lane, std::uint32_t bytes);
/// Of bytes in shared memory that the running op copies to global memory, those that nothing has
/// written.
struct Unwritten {
  std::uint64_t first = 0;  // address of one of them
  std::uint32_t count = 0;

  /// Byte `i` of `undefined` (null: all are written) goes there from that address.
  void look(const std::uint8_t* undefined, std::uint32_t i, std::uint64_t address) {
    if (undefined != nullptr && undefined[i] != 0 && count++ == 0) first = address;
  }
};
/// Reports them, if there are any.
void report_unwritten(Warp& warp, unsigned lane, const Unwritten& bytes);

/// How an asynchronous write is done.
struct WriteMode {
  bool combines = false;  // such writes may meet each other
  bool is_async_proxy = true;
};
/// An asynchronous write to the run begins: it is checked and marked.
void begin_write(Warp& warp, const ByteRun& run, unsigned lane, const WriteMode& mode);
/// The write to the run is done; the bytes are put there by the caller.
void end_write(Warp& warp, const ByteRun& run, unsigned lane, bool combines);

/// Replaces the element at `at` by its combination with the one at `with`.
using Combine = void (*)(std::byte* at, const std::byte* with);
/// What happens to bytes at their destination.
struct Effect {
  Combine combine = nullptr;    // null: they replace what is there
  unsigned element = 1;         // bytes, of what is combined
  std::uint16_t mask = 0xFFFF;  // which bytes of every 16 are written
};
/// An asynchronous write ends: the bytes are put where they belong. `undefined` may be null: all are
/// defined.
void land(Warp& warp, unsigned lane, const ByteRun& run, const std::byte* data,
          const std::uint8_t* undefined, const Effect& effect);

// --- mbarriers -----------------------------------------------------------------------------------

/// The mbarrier at a shared address with rank; reports where there is none and gives nullptr.
Mbarrier* mbarrier_at(Warp& warp, std::uint64_t address, Mask who);
/// A lane starts what is going to signal the mbarrier at that address: reports where there is none, where
/// nothing orders the lane behind its `mbarrier.init`, and where no fence has made it known to the async
/// proxy.
void check_signalled(Warp& warp, std::uint64_t address, Mask who, bool is_async_proxy = true);
/// How a thread arrives.
struct Arrival {
  Mask lanes = 0;  // whose past it publishes; of several that arrive at once, only the first does
  std::int64_t count = 1;
  bool drops = false;            // for good
  bool must_not_end = false;     // the phase
  bool releases = true;          // waiters know what the warp did before
  Scope scope = Scope::Cluster;  // and is in there
  bool fences_tensor = false;    // as tcgen05.commit does
};
void arrive_on(Warp& warp, Mbarrier& barrier, std::uint64_t address, unsigned lane,
               const Arrival& arrival);
/// Expects bytes (or, with fewer than 0, counts them as arrived).
void add_tx(Warp& warp, Mbarrier& barrier, std::uint64_t address, unsigned lane,
            std::int64_t bytes);
/// Bytes of asynchronous work of that lane have arrived; waiting for the mbarrier makes them known.
/// Skips an mbarrier that no longer exists.
void complete_tx(Warp& warp, std::uint64_t address, unsigned lane, std::uint32_t bytes);
/// Reports data for one CTA of the cluster with an mbarrier in another; `or_peer`: it may be in the
/// other CTA of its pair.
void check_same_cta(Warp& warp, unsigned lane, std::uint64_t to, std::uint64_t mbarrier,
                    bool or_peer = false);
/// The same place in the shared memory of another CTA.
inline std::uint64_t in_cta(std::uint64_t address, std::uint64_t rank) {
  return shared_start(rank) + shared_offset(address);
}

// --- work that threads wait for ------------------------------------------------------------------

/// The running op starts work for that lane, which `deliver` completes. It signals the mbarrier, or
/// is of the lane's open bulk group.
void start_job(Warp& warp, unsigned lane, PendingJob job);
/// The work of a bulk group reads these sources until its BulkRead is delivered.
void start_group_read(Warp& warp, unsigned lane, const std::vector<ByteRun>& sources);
/// Where a copy to shared memory lands: there, or with a mask in each CTA of it. `for_pair`: the
/// mbarrier may be in the other CTA of the pair.
std::vector<CopyTarget> copy_targets(Warp& warp, unsigned lane, Place mask, const CopyTarget& to,
                                     bool for_pair = false);

// --- decoding ------------------------------------------------------------------------------------

/// Adds an address of shared memory in the cluster. Where the opcode names no state space, 64-bit
/// registers hold generic addresses.
std::uint32_t cluster_address(Decode& in, std::size_t i);

/// Copies of cp.async land that the lanes issued before the one of that number.
void deliver_copies(Warp& warp, Mask lanes, std::uint32_t before);

/// Rows of other families: the forms of st.async and red.async that signal an mbarrier.
bool decode_st_async(Decode& in);
bool decode_red_async(Decode& in);

// --- combining -----------------------------------------------------------------------------------

/// nullptr: there is no such operation.
Combine pick_combine(Word op, isa::Type type);
/// The sum of 32-bit floats with subnormal numbers as they are, which tensor copies have.
void combine_f32_add_unflushed(std::byte* at, const std::byte* with);

}  // namespace ww::sim
