// SPDX-License-Identifier: Apache-2.0
// A warp: 32 lanes that execute together while they can. Where lanes part ways (a branch that only
// some take), the warp has several `Split`s, each a set of lanes with a place in the program. The
// split furthest behind runs first, so that the others wait where the ways meet, and splits that
// come to the same place are one again.
//
// The members at the top are those of the split that runs now; ops work on them directly.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/checks/findings.h"
#include "sim/lanes.h"
#include "sim/memory/memory.h"
#include "sim/op.h"
#include "sim/program.h"

namespace ww::sim {

class Cta;
class Unit;

enum class SplitState : std::uint8_t {
  Running,
  Meeting,    // at a collective instruction whose other lanes are not there yet
  AtBarrier,  // at a barrier of the CTA
  AtClusterBarrier,
  Asleep,   // at an mbarrier that is not done
  AtAlloc,  // waits for columns of tensor memory
};

/// Lanes of a warp at one place of the program.
struct Split {
  std::uint32_t pc = 0;
  Mask lanes = 0;
  std::uint32_t frame = 0;  // where the function's registers start
  std::uint32_t local = 0;  // where its local memory starts
  std::uint32_t call = 0;   // who called it: index into the warp's call nodes
  std::uint32_t depth = 0;
  SplitState state = SplitState::Running;
  bool is_granted = false;    // what it waited for has happened; the op at `pc` takes note
  std::uint32_t value = 0;    // barrier number, or the result of a barrier's reduction
  std::uint64_t address = 0;  // of the mbarrier; Meeting: the lanes it waits for
  std::uint64_t last_run = 0;
};

/// A call that has not returned: same caller and call give the same node.
struct CallNode {
  std::uint32_t caller = 0;            // node of the calling function
  std::uint32_t op = 0;                // the call
  std::uint32_t frame = 0, local = 0;  // of the caller
};

/// Copies of one cp.async instruction that have not arrived.
struct PendingCopy {
  std::uint32_t op = 0;
  std::uint32_t number = 0;  // in the order of issue
  Mask lanes = 0;            // still to be delivered
  unsigned bytes = 0;
  std::uint64_t to[kLanes];
  std::uint32_t group[kLanes];  // of the lane
  std::byte data[kLanes][16];
  std::uint8_t undefined[kLanes][16];
};

/// One cell of tensor memory for each of these lanes.
struct TouchedCells {
  Mask lanes = 0;
  std::array<std::uint32_t, kLanes> cell{};
};

/// Cells of tensor memory that a tcgen05.st writes once it is waited for.
struct PendingStore {
  struct Cell {
    std::uint32_t value = 0;
    std::uint16_t lane = 0, column = 0;
    std::uint8_t bytes = 0;  // bit b: byte b is written
    std::uint8_t undefined = 0;
  };
  std::uint32_t op = 0;
  std::vector<Cell> cells;
  std::vector<TouchedCells> touched;  // the same cells, where races are looked for
};

/// A tcgen05.cp or tcgen05.shift of one lane that no tcgen05.commit has completed.
struct TensorWork {
  std::uint32_t op = 0;
  std::uint32_t number = 0;  // in the order of issue
  unsigned lane = 0;
  std::function<void()> deliver;
};

/// Registers of a tcgen05.ld that has not been waited for.
struct PendingLoad {
  std::uint32_t op = 0;
  Mask lanes = 0;
  std::uint32_t frame = 0;
  std::vector<std::uint32_t> values;  // register by register, 32 lanes each
  std::vector<std::uint8_t> undefined;
  std::vector<TouchedCells> cells;  // that it reads, where races are looked for
};

class Warp {
 public:
  // --- the split that runs -----------------------------------------------------------------------
  Mask exec = 0;           // lanes that execute this op: the active ones whose guard holds
  Mask active = 0;         // lanes of the split
  std::uint32_t pc = 0;    // of the next op
  std::uint32_t stop = 0;  // at this pc or beyond it the loop asks who runs next
  std::byte* frame = nullptr;
  const std::byte* constants = nullptr;
  std::uint8_t* undefined =
      nullptr;              // for each byte of the frame's first lane bytes; null: untracked
  std::uint32_t local = 0;  // where the function's local memory starts
  const Program* program = nullptr;
  Cta* cta = nullptr;
  Unit* unit = nullptr;
  unsigned index = 0;  // in the CTA
  Mask live = 0;       // lanes that exist and have not ended
  Mask born = 0;       // lanes that exist

  /// The 32 lanes of a register.
  template <typename T>
  [[nodiscard]] T* lanes(Place place) {
    return reinterpret_cast<T*>(frame + place.offset());  // NOLINT: raw bits by design
  }
  /// The 32 lanes of a register or constant that is only read.
  template <typename T>
  [[nodiscard]] const T* source(Place place) const {
    const std::byte* base = place.is_constant() ? constants : frame;
    return reinterpret_cast<const T*>(base + place.offset());  // NOLINT
  }
  /// Predicates: bit l is lane l.
  [[nodiscard]] Mask pred(Place place) const { return *source<Mask>(place); }
  void set_pred(Place place, Mask value) {
    Mask& bits = *lanes<Mask>(place);
    bits = (bits & ~exec) | (value & exec);
  }
  /// to = value in the executing lanes.
  template <typename T>
  void write(Place place, const T* value) {
    blend(lanes<T>(place), value, exec);
  }
  /// Undefined bytes of a register: bit b of lane l's byte is byte b of its value; of a 128-bit
  /// register, bytes 8 to 15 are in the 32 bytes that follow. For predicates a mask of lanes in the
  /// first four bytes. Only while undefined bytes are tracked.
  [[nodiscard]] const std::uint8_t* undefined_lanes(Place place) const {
    return undefined + place.offset();
  }
  /// The same to be written anew, in these lanes.
  [[nodiscard]] std::uint8_t* mark_lanes(Place place, Mask who) {
    forget_bits(frame_offset_ + place.offset(), who);
    return undefined + place.offset();
  }
  /// Shifts and masks may leave a byte undefined of which some bits are known: these, of a lane's
  /// value of up to 64 bits. To be set after the undefined bytes, in the executing lanes.
  [[nodiscard]] std::uint64_t known_bits(Place place, unsigned lane) const;
  void set_known_bits(Place place, const std::uint64_t* bits);
  /// The register at that place of the frames is written in some other way.
  void forget_bits(std::uint64_t at, Mask who) {
    if (!known_bits_.empty()) drop_known_bits(at, who);
  }
  [[nodiscard]] std::uint32_t this_op() const { return current_; }
  /// Until the next op, what is done and found counts as done by `op`, which started it earlier.
  /// Returns the op before, to be put back the same way.
  std::uint32_t act_for(std::uint32_t op) { return std::exchange(current_, op); }
  /// Where the registers of the running function start; and registers of a frame by that number,
  /// with their undefined bytes (null while those are not tracked).
  [[nodiscard]] std::uint32_t frame_offset() const { return frame_offset_; }
  [[nodiscard]] std::byte* frame_at(std::uint32_t offset) { return frames_.get() + offset; }
  [[nodiscard]] std::uint8_t* undefined_at(std::uint32_t offset) {
    return frames_undefined_ != nullptr ? frames_undefined_.get() + offset : nullptr;
  }
  [[nodiscard]] bool tracks() const { return undefined != nullptr; }

  // --- what ops ask for --------------------------------------------------------------------------
  /// Goes to `target` in the executing lanes.
  void branch(std::uint32_t target);
  /// Ends the executing lanes.
  void end_lanes();
  void call(std::uint32_t site, std::uint32_t function);
  void ret();
  /// Executes the op again later, in the executing lanes; the others go on.
  void wait(SplitState state, std::uint32_t value = 0, std::uint64_t address = 0);
  /// Whether what this split waited for has happened; takes note of it.
  bool take_grant(std::uint32_t* value = nullptr);
  [[nodiscard]] bool is_granted() const { return granted_; }
  /// Whether that was to go on without the lanes it waited for.
  [[nodiscard]] bool is_meeting_grant() const { return granted_ && grant_value_ == kMeetingGrant; }
  /// Whether all of `wanted` (less ended lanes) execute this op now. If not, the lanes wait for the
  /// rest to come, and where nobody can come it is reported and they go on as they are. Lanes that
  /// end instead of coming are fine, unless the instruction is `aligned`.
  bool meet(Mask wanted, bool aligned = false);
  /// The same for the lanes of a member mask in a register, which all executing lanes must agree on
  /// and be members of; `mask` gets it, less ended lanes.
  bool meet_mask(Place place, Mask& mask);
  /// The same for all lanes of the warp, for instructions that are `.aligned`.
  bool meet_all();
  /// Ends the run of this warp's turn after this op.
  void yield() {
    stop = 0;
    yields_ = true;
  }
  /// Stops the whole run: `trap`, an exhausted stack.
  void trap(const char* reason);

  /// Its number among all warps of the unit.
  [[nodiscard]] unsigned unit_warp() const;
  /// Adds a finding about the op that runs, in these lanes.
  void report(Check check, Mask who, std::string text);
  void report_at(Check check, Mask who, std::uint64_t address, std::string text,
                 const Party& other = {});
  [[nodiscard]] bool checks(Check check) const;

  /// A source of the running op, or the whole op's: reports undefined bytes as used.
  void use(Place place, Mask who, unsigned bytes = 8, bool is_pred = false);
  /// A source of a store, which may hold undefined bytes but not those of a load under way.
  void pass_on(Place place, Mask who);
  /// Marks a register as defined in the executing lanes.
  void define(Place place, bool is_pred = false);

  // --- memory ------------------------------------------------------------------------------------
  /// Generic addresses of the operand in all lanes, shared ones with the CTA's rank.
  void addresses(const Address& address, std::uint64_t* out) const;
  enum class Touch : std::uint8_t { Read, Write, Atomic };
  /// Calls visit(Region&, Mask) for the lanes of each region; lanes whose address is bad are
  /// reported and left out. `space` is what the instruction names.
  template <typename Visit>
  void access(const std::uint64_t* address, Mask who, unsigned bytes, Touch touch, Space space,
              Visit&& visit) {
    while (who != 0) {
      Mask group = 0;
      Region* region = resolve(address, who, bytes, touch, space, group);
      if (region == nullptr) continue;
      if (region->owners != nullptr) note_touch(*region, address, group, bytes, touch);
      visit(*region, group);
    }
  }

  // --- asynchronous work -------------------------------------------------------------------------
  std::vector<PendingCopy> copies;
  std::uint32_t committed[kLanes] = {};  // cp.async groups that each lane has closed
  std::uint32_t copies_issued = 0;
  std::uint32_t bulk_committed[kLanes] = {};  // the same of bulk copies
  std::vector<PendingLoad> loads;
  std::vector<PendingStore> stores;
  std::vector<TensorWork> tensor_work;
  std::uint32_t tensor_issued = 0;
  std::uint32_t cluster_phase[kLanes] = {};  // of the cluster's barrier, when each lane arrived

  // --- running, used by Unit ---------------------------------------------------------------------
  void start(const Code& code, Mask lanes_born);
  /// Runs up to `budget` ops; returns how many it did. 0: nothing can run now.
  std::uint32_t run(std::uint32_t budget);
  [[nodiscard]] bool done() const { return live == 0; }
  [[nodiscard]] bool can_run() const;
  std::vector<Split>& splits() { return splits_; }
  [[nodiscard]] const std::vector<Split>& splits() const { return splits_; }
  /// Lets splits that meet nobody go on, with a finding. Whether there were any.
  bool break_meetings();
  /// Makes every split in that state run again.
  bool wake(SplitState state, bool granted, std::uint32_t value = 0);

  std::uint64_t executed = 0;
  std::uint32_t ended_at = kNoOp;  // the op that ended the last of its lanes
  /// Registers and local memory that calls have needed, if there were any.
  [[nodiscard]] std::uint64_t stack_bytes() const;
  /// A clock that goes on with every op.
  [[nodiscard]] std::uint64_t clock() const { return executed + current_ + turn_; }
  Region local_region;

 private:
  friend class Unit;
  static constexpr std::uint32_t kMeetingGrant = ~std::uint32_t{0};

  template <bool kWatched>
  std::uint32_t loop(std::uint32_t budget);
  void watch(const Op& op, Mask mask);
  void switch_to(std::size_t split);
  void save();
  bool choose();
  void merge();
  void set_stop();
  void grow_frame(std::uint64_t bytes);
  void grow_local(std::uint64_t bytes);
  void fill_specials(const Code& code);
  std::uint32_t node_of(const CallNode& node);
  void forget_call();
  Region* resolve(const std::uint64_t* address, Mask& who, unsigned bytes, Touch touch, Space space,
                  Mask& group);
  Region* region_of(std::uint64_t address);
  void note_touch(const Region& region, const std::uint64_t* address, Mask lanes, unsigned bytes,
                  Touch touch);
  void bad_address(std::uint64_t address, unsigned lane, unsigned bytes, Touch touch, Space space);
  void check_heap(const Heap& heap, const std::uint64_t* address, unsigned bytes, Touch touch,
                  Mask& group);
  void default_track();
  void drop_known_bits(std::uint64_t at, Mask who);
  [[nodiscard]] Mask finite_lanes(bool results);
  void report_numbers(Mask lanes);
  void report_undefined(Place place, Mask bad);
  [[nodiscard]] std::string_view name_of(Place place) const;
  [[nodiscard]] const PendingLoad* pending_load(Place place) const;
  void report_pending(const PendingLoad& load, Mask bad, std::string_view name);
  void move_values(const std::vector<ValueMove>& moves, std::uint32_t from_frame,
                   std::uint32_t from_local, std::uint32_t to_frame, std::uint32_t to_local);
  void move_predicate(std::uint64_t from, std::uint64_t to);
  void forget_frame(std::uint32_t to_frame, const Code& code, std::uint32_t to_local);
  [[nodiscard]] std::string whereabouts(Mask who) const;

  std::uint32_t current_ = 0;  // the op that runs
  std::size_t running_ = 0;    // index of the split that runs
  bool is_loaded_ = false;     // whether the members at the top are those of splits_[running_]
  bool yields_ = false;        // the warp gives up its turn
  bool tracing_ = false;
  bool checks_numbers_ = false;
  Mask finite_ = 0;  // lanes whose numbers going into the op are all finite
  std::uint32_t frame_offset_ = 0, call_ = 0, depth_ = 0;
  bool granted_ = false;
  std::uint32_t grant_value_ = 0;
  std::uint64_t grant_address_ = 0;
  std::uint64_t turn_ = 0;
  std::uint32_t crowded_turns_ = 0;
  std::vector<Split> splits_;
  std::vector<CallNode> calls_;
  struct FrameFree {
    void operator()(std::byte* bytes) const { ::operator delete (bytes, std::align_val_t{64}); }
  };
  std::unique_ptr<std::byte[], FrameFree> frames_;
  std::uint64_t frames_size_ = 0;
  std::uint64_t most_frame_ = 0, most_local_ = 0;  // that calls have needed so far
  std::unique_ptr<std::uint8_t[]> frames_undefined_;
  std::unordered_map<std::uint64_t, std::array<std::uint64_t, kLanes>> known_bits_;  // see above
  std::vector<std::byte> local_data_;
  std::vector<std::uint8_t> local_undefined_;
  Region* last_region_ = nullptr;
};

}  // namespace ww::sim
