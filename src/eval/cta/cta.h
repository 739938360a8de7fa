// SPDX-License-Identifier: Apache-2.0
// The data of a running CTA, which everything else works on. Each thread is at a step of the
// launch; threads at the same step form a group, and expressions are evaluated for a whole group at
// once.
//
// What happens to it is in functions that take it first, by topic:
//
//   cta/     whose turn it is, statements, limits, messages
//   expr/    expressions, intrinsics, values exchanged between lanes
//   memory/  addresses, reads and writes, who is ordered before whom
//   sync/    barriers, mbarriers, asynchronous copies
//   tile/    tile primitives
//   ptx/     PTX instructions
#pragma once

#include <array>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "eval/eval.h"
#include "eval/launch/launch.h"
#include "eval/memory/order.h"
#include "eval/memory/storage.h"
#include "eval/value/arithmetic.h"
#include "ir/box_reduce.h"

namespace ww::eval {

// Names of the program that all files here use.
using ir::Expr;
using ir::ExprId;
using ir::ExprOp;
using ir::Intrinsic;
using ir::Region;
using ir::Stmt;
using ir::StmtKind;
using ir::TileOp;
using num::DType;

// --- words ---------------------------------------------------------------------------------------
//
// The evaluator needs millions of short-lived vectors of words; this pool reuses their memory.

/// Keeps the memory; must outlive what is taken from it.
struct WordPool {
  struct Block {
    std::unique_ptr<Word[]> words;  // NOLINT(modernize-avoid-c-arrays): a vector would set them
    std::size_t size = 0;
  };
  std::vector<Block> free;
};

/// A vector of words with unspecified contents.
class Words {
 public:
  Words(WordPool& pool, std::size_t size) : pool_(&pool), size_(size) {
    if (!pool.free.empty()) {
      block_ = std::move(pool.free.back());
      pool.free.pop_back();
    }
    if (block_.size < size) block_ = {std::make_unique_for_overwrite<Word[]>(size), size};
  }
  Words(Words&& other) noexcept
      : pool_(std::exchange(other.pool_, nullptr)),
        block_(std::move(other.block_)),
        size_(other.size_) {}
  Words& operator=(Words&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(block_, other.block_);
    std::swap(size_, other.size_);
    return *this;
  }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;
  ~Words() {
    if (pool_ != nullptr) pool_->free.push_back(std::move(block_));
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  Word& operator[](std::size_t i) { return block_.words[i]; }
  Word operator[](std::size_t i) const { return block_.words[i]; }
  Word* begin() { return block_.words.get(); }
  Word* end() { return begin() + size_; }
  [[nodiscard]] const Word* begin() const { return block_.words.get(); }
  [[nodiscard]] const Word* end() const { return begin() + size_; }

 private:
  WordPool* pool_;
  WordPool::Block block_;
  std::size_t size_;
};

/// Bits of a value, and which of them nothing has written.
struct Content {
  Word value = 0;
  Word undefined = 0;
  [[nodiscard]] Content part(unsigned shift, int bits) const {
    return {value >> shift & low_mask(bits), undefined >> shift & low_mask(bits)};
  }
};

/// The same for a vector of them.
struct Contents {
  Words value;
  Words undefined;
  [[nodiscard]] std::size_t size() const { return value.size(); }
  Content operator[](std::size_t i) const { return {value[i], undefined[i]}; }
  void set(std::size_t i, Content content) {
    value[i] = content.value;
    undefined[i] = content.undefined;
  }
  void add(std::size_t i, Content content, unsigned shift) {
    value[i] |= content.value << shift;
    undefined[i] |= content.undefined << shift;
  }
};

// --- elements ------------------------------------------------------------------------------------
//
// What is read and written: bits at an address, and the element they are.

inline constexpr std::int32_t kOwnCta = -1;

/// A bit of one of the launch's memories. For local memory the owner of the element says whose.
struct Address {
  std::int32_t root = kNoRoot;
  std::int64_t bit = 0;
  std::int32_t rank = kOwnCta;  // of the CTA in the cluster whose shared memory it is
  [[nodiscard]] bool exists() const { return root != kNoRoot; }
  /// For the CTA whose memory it is.
  [[nodiscard]] Address at_home() const { return {root, bit}; }
  Address operator+(std::int64_t bits) const { return {root, bit + bits, rank}; }
  friend auto operator<=>(const Address&, const Address&) = default;
};

/// Something that is read or written, with its name for messages.
struct Element {
  Address at;
  Thread owner = 0;
  const BufferInfo* info = nullptr;  // none: by address
  std::int64_t flat = 0;
};

inline Element element_at(Address at, Thread t) {
  return {.at = at, .owner = t, .info = nullptr, .flat = 0};
}

/// Findings, collected: one for each check, step and buffer, with a count.
class Findings {
 public:
  explicit Findings(std::size_t most) : most_(most) {}

  /// The finding to fill in when it is the first of its kind and there is room; null otherwise, and
  /// then it has been counted. The pointer is good until the next call.
  Finding* add(Check check, std::uint32_t step, std::uint32_t buffer);

  /// Moves everything into the report.
  void move_to(Report& report);

 private:
  using Key = std::tuple<Check, std::uint32_t, std::uint32_t>;
  std::size_t most_;
  std::map<Key, std::size_t> known_;  // number in findings_, or most_ when it was dropped
  std::vector<Finding> findings_;
  std::uint64_t dropped_ = 0;
};

/// What all CTAs of a run share.
struct Run {
  Run(const Launch& l, const Options& o)
      : launch(l),
        options(o),
        findings(o.max_findings),
        used(l.steps.steps.size()),
        random(o.seed) {}
  const Launch& launch;
  const Options& options;
  Findings findings;
  std::vector<Storage> globals;  // by root; empty for the others
  std::uint64_t steps = 0;
  std::uint64_t instructions = 0;   // as Limits counts them
  std::vector<std::uint64_t> used;  // of the instructions, by step
  std::uint64_t products = 0;       // that are not yet an instruction
  std::uint64_t watched = 0;        // instructions and turns since the last look at the clock
  std::uint64_t held = 0;           // bytes of all CTAs
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  std::string printed;
  std::optional<Diag> stop;  // why the run cannot go on
  WordPool pool;
  std::uint64_t random;
};

enum class Status : std::uint8_t { Ready, Gathering, AtBarrier, AtMbarrier, Exited };

/// Variables, one row of values for each lane of a variable's type, and loops.
struct Variables {
  std::size_t threads = 0;
  std::vector<std::size_t> first_row;  // by VarId
  std::vector<Word> values;            // [row][thread]
  std::vector<std::int64_t> trips;     // [loop][thread]: trips left

  Word* row(ir::VarId var, std::size_t lane = 0) {
    return values.data() + (first_row[var.index] + lane) * threads;
  }
  std::int64_t& trips_left(std::uint32_t loop, Thread t) { return trips[loop * threads + t]; }
};

struct BarrierKey {
  enum class Kind : std::uint8_t { Named, Warpgroup, Warp, Cluster } kind{};
  std::uint32_t id = 0;
  std::uint32_t unit = 0;
  friend auto operator<=>(const BarrierKey&, const BarrierKey&) = default;
};
struct Barrier {
  std::size_t count = 0;  // threads it waits for; 0: all of its unit
  std::vector<Thread> arrived;
  std::vector<Thread> waiting;
  std::size_t holds = 0;                                          // voters whose condition holds
  std::vector<std::pair<Thread, const ir::PtxOperand*>> counted;  // where the sum is wanted
  bool is_relaxed = false;                                        // orders nothing
};
struct Mbarrier {
  std::uint32_t expected = 0;
  std::uint32_t missing = 0;
  std::uint32_t copying = 0;  // arrivals that come when copies have landed
  std::int64_t bytes = 0;     // expected and not yet there; below 0: there and not yet expected
  std::uint32_t phase = 0;
  Order::Knowledge gathering;
  Order::Knowledge complete;
};

struct Cta;

/// How threads wait for a copy, or for a product of matrices: by groups (Group, Bulk, Product), with
/// tcgen05.wait, or through an mbarrier, at which a commit arrives (Tensor) or which counts the bytes, or
/// the copies of a thread (Counted).
enum class AsyncKind : std::uint8_t { Group, Bulk, Product, TmemLoad, TmemStore, Tensor, Counted };
struct Transfer {
  Element to;
  int bits = 0;
  Content content = {};
};
struct AsyncCopy {
  AsyncKind kind{};
  Agent agent;
  Cta* cta = nullptr;                        // of the agent
  std::uint32_t step = 0, time = 0;          // of its start
  std::size_t missing = 0;                   // threads that have not waited for it
  std::size_t bytes = 0;                     // of the host
  std::int64_t counted = 0;                  // Counted: bytes that complete on the mbarrier
  std::optional<ir::BoxReduce> reduce = {};  // Bulk: what is done to the elements that are there
  num::DType dtype{};                        // of a reduction
  std::vector<Transfer> transfers = {};
  std::vector<std::pair<Element, int>> sources = {};
};
using CopyId = std::uint32_t;
/// Operations that a thread has started and not yet waited for. Vectors, although they work as
/// queues: they hold few elements, and a deque would allocate memory at construction, in every
/// thread of every CTA.
struct ThreadCopies {
  struct Groups {
    std::vector<CopyId> open;
    std::vector<std::vector<CopyId>> committed;
  };
  std::array<Groups, 3> groups;             // Group, Bulk, Product
  std::array<std::vector<CopyId>, 2> tmem;  // TmemLoad, TmemStore
  // Tensor: pending work of the tensor core, in order, each with its number.
  std::vector<std::pair<std::uint32_t, CopyId>> tensor;
  std::uint32_t tensor_issued = 0;
};
/// An mbarrier will be arrived at when the tensor core has done a thread's work up to a number.
struct TensorCommit {
  Thread thread = 0;
  std::uint32_t before = 0;
  Order::Knowledge knowledge;
};
/// An mbarrier will be arrived at when copies of a thread by cp.async have landed.
struct CopyArrival {
  Thread thread = 0;
  std::vector<CopyId> copies;
  Order::Knowledge knowledge;
};
/// A copy whose bytes an mbarrier counts.
struct CountedCopy {
  CopyId id = 0;
  Order::Knowledge knowledge;  // of the thread that has started it
};
struct AsyncWork {
  std::vector<std::optional<AsyncCopy>> in_flight;  // by CopyId
  std::vector<ThreadCopies> threads;
  std::map<Address, std::deque<TensorCommit>> tensor_commits;  // by mbarrier
  std::map<Address, std::deque<CopyArrival>> arrivals;         // by mbarrier
  std::map<Address, std::deque<CountedCopy>> counted;          // by mbarrier
  std::uint64_t bytes = 0;  // of the host: copies and commits that are not waited for
};

/// What threads promised to be the same, in the order in which they came by.
struct Promise {
  struct Value {
    Word word = 0;
    Thread first = 0;
  };
  std::vector<Value> values;         // of the n-th time that a thread came by
  std::vector<std::uint32_t> times;  // by thread
};

struct TensorMemory {
  struct Allocation {
    std::uint32_t columns = 0;
    std::uint32_t step = 0;
  };
  std::array<bool, kTmemColumns> is_used{};
  std::map<std::uint32_t, Allocation> allocations;  // by first column
  bool is_relinquished = false;
};

struct Cta {
  Cta(Run& shared, Clock& clock, std::uint32_t cta_number, std::array<std::int64_t, 3> where);
  Cta(const Cta&) = delete;
  Cta& operator=(const Cta&) = delete;
  ~Cta() { run.held -= held; }

  Run& run;
  const Launch& launch;
  const ir::Function& f;
  std::uint32_t number;  // in the grid; CTAs of a cluster follow each other
  std::array<std::int64_t, 3> at;
  std::array<std::int64_t, 3> in_cluster;  // its coordinates
  std::deque<Cta>* cluster = nullptr;      // all its CTAs
  Order order;
  RaceCheck races;
  std::uint32_t step = 0;  // being executed

  // By thread.
  std::vector<std::uint32_t> pc;  // the step it stands at
  std::vector<Status> status;
  std::vector<char> parked;          // lets others pass
  std::vector<std::uint32_t> spins;  // trips of `while` loops without a pause
  std::size_t alive;                 // threads that have not exited

  Variables vars;
  std::vector<Storage> memory;  // by root; global ones are in `run`
  std::map<BarrierKey, Barrier> barriers;
  std::vector<char>
      met_cluster;  // by thread: has arrived at a barrier that is complete, not waited
  std::map<Address, Mbarrier> mbarriers;
  std::map<Thread, Address> mbarrier_waits;  // where a thread has last found no complete phase
  AsyncWork async;
  TensorMemory tmem;
  // By step and call; each by warp, or 0 where it is about the CTA.
  std::map<std::pair<std::uint32_t, const ir::Expr*>, std::map<Thread, Promise>> promises;
  std::uint64_t held = 0;  // part of run.held

  [[nodiscard]] std::size_t thread_count() const { return pc.size(); }
  [[nodiscard]] num::DType type_of(ir::ExprId id) const { return f[id].type.dtype; }
};

/// Calls `visit` with each run of threads that are in one unit of `size` threads, and its number.
template <typename Visit>
void each_unit(Threads ts, std::size_t size, const Visit& visit) {
  for (std::size_t i = 0; i < ts.size();) {
    const std::size_t unit = ts[i] / size;
    std::size_t j = i;
    while (j < ts.size() && ts[j] / size == unit) ++j;
    visit(static_cast<std::uint32_t>(unit), ts.subspan(i, j - i));
    i = j;
  }
}
template <typename Visit>
void each_warp(Threads ts, const Visit& visit) {
  each_unit(ts, kWarp, [&](std::uint32_t, Threads lanes) { visit(lanes); });
}

}  // namespace ww::eval
