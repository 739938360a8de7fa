// SPDX-License-Identifier: Apache-2.0
// One CTA while it runs. Threads stand at operations of the program; those of them that stand at
// the same one form a group, and expressions are evaluated for a whole group at once.
//
// The parts, each in a file of its own:
//
//   cta.cpp          threads, groups, whose turn it is   cta_ops.cpp       operations
//   cta_expr.cpp     expressions                         cta_call.cpp      intrinsics
//   cta_memory.cpp   places, reads, writes, checks       cta_exchange.cpp  between lanes
//   cta_barrier.cpp  barriers and mbarriers              cta_async.cpp     asynchronous copies
//   cta_tile.cpp     operands of tile primitives         cta_tile_ops.cpp  the primitives
//   cta_gemm.cpp     the matrix product                  cta_text.cpp      messages
//   cta_ptx.cpp      instructions of threads             cta_matrix.cpp    those of warps
//   cta_tensor.cpp   work of the tensor core             cta_overflow.cpp  index arithmetic
//   cta_limits.cpp   what a run may take
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "eval/eval.h"
#include "eval/findings.h"
#include "eval/kernel.h"
#include "eval/order.h"
#include "eval/storage.h"
#include "eval/support.h"
#include "eval/words.h"
#include "ir/settings.h"

namespace ww::eval {

using Thread = std::uint16_t;
using Threads = std::span<const Thread>;

/// What all CTAs of a run share.
struct Run {
  Run(const Kernel& k, const Options& o)
      : kernel(k), options(o), findings(o.max_findings), random(o.seed) {}
  const Kernel& kernel;
  const Options& options;
  Findings findings;
  std::vector<Storage> globals;  // by root; empty for the others
  std::uint64_t steps = 0;
  std::uint64_t instructions = 0;  // as Limits counts them
  std::uint64_t products = 0;      // that are not yet an instruction
  std::uint64_t watched = 0;       // instructions and turns since somebody looked at the clock
  std::uint64_t held = 0;          // bytes of all CTAs
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  std::string printed;
  std::optional<Diag> stop;  // why the run cannot go on
  WordPool pool;
  std::uint64_t random;
};

/// Where bits are: memory and place in it. For local memory the owner says whose.
struct Place {
  std::int32_t root = kNoRoot;
  std::int64_t bit = 0;
};
/// Something that is read or written, with its name for messages.
struct Element {
  Place place;
  Thread owner = 0;
  const BufferInfo* info = nullptr;  // none: by address
  std::int64_t flat = 0;
};

class Cta {
 public:
  Cta(Run& run, Clock& clock, std::uint32_t number, std::array<std::int64_t, 3> at);
  Cta(const Cta&) = delete;
  Cta& operator=(const Cta&) = delete;
  ~Cta() { run_.held -= held_; }

  /// Runs until nobody can go on without the other CTAs.
  void advance();
  [[nodiscard]] bool is_done() const { return alive_ == 0; }
  /// All threads that have not exited wait for the cluster.
  [[nodiscard]] bool waits_for_cluster() const;
  void release_cluster();
  /// Some thread can run.
  [[nodiscard]] bool can_run() const;
  /// Nobody will ever go on: says who waits for whom.
  void report_stuck();
  /// What must not be left over at the end.
  void report_leftovers();

 private:
  enum class Status : std::uint8_t { Ready, Gathering, AtBarrier, AtMbarrier, Exited };

  /// The threads that execute a tile primitive together.
  struct UnitInstance {
    Agent agent;
    Thread first = 0;
    std::int64_t size = 1;
    Threads threads;
  };
  /// An operand of a tile primitive: its elements in row-major order, each with its copies.
  struct Tile {
    const BufferInfo* info = nullptr;
    layout::Shape extents = {};
    std::size_t count = 0;
    std::size_t copies = 1;
    std::vector<Element> elements = {};  // [element][copy]
    std::vector<bool> outside = {};      // elements outside the buffer; empty: none is
  };
  struct Values {
    num::DType type = num::DType::Float32;
    std::vector<Word> bits;
    std::vector<Word> undefined;  // which bits are not defined; empty: all are
    bool is_by_copy = false;      // one for each copy of each element, not for each element
  };

  /// A matrix product: `turns_…` operands are transposed first.
  struct Product {
    bool turns_a = false;
    bool turns_b = false;
    double alpha = 1;
    double beta = 0;
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::size_t depth = 0;
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
    std::uint32_t op = 0;
  };
  struct Mbarrier {
    std::uint32_t expected = 0;
    std::uint32_t missing = 0;
    std::uint32_t phase = 0;
    Order::Knowledge gathering;
    Order::Knowledge complete;
  };

  enum class AsyncKind : std::uint8_t { Group, Bulk, TmemLoad, TmemStore, Tensor };
  struct Transfer {
    Element to;
    int bits = 0;
    Word value = 0;
    Word undefined = 0;
  };
  struct Copy {
    AsyncKind kind{};
    Agent agent;
    std::uint32_t op = 0;
    std::size_t missing = 0;  // threads that have not waited for it
    std::size_t bytes = 0;    // of the host
    std::vector<Transfer> transfers = {};
    std::vector<std::pair<Element, int>> sources = {};
  };
  using CopyId = std::uint32_t;
  struct AsyncGroups {
    std::vector<CopyId> open;
    std::deque<std::vector<CopyId>> committed;
  };
  struct AsyncState {
    std::array<AsyncGroups, 2> groups;        // Group, Bulk
    std::array<std::vector<CopyId>, 2> tmem;  // loads, stores
    // Of the tensor core: what it has not done yet, in order, each with its number.
    std::deque<std::pair<std::uint32_t, CopyId>> tensor;
    std::uint32_t tensor_issued = 0;
  };
  /// An mbarrier will be arrived at when the tensor core has done a thread's work up to a number.
  struct TensorCommit {
    Thread thread = 0;
    std::uint32_t before = 0;
    Order::Knowledge knowledge;
  };

  // --- limits (cta_limits.cpp); false: one is reached, and the run ends ---
  bool spend(std::size_t threads);
  bool spend_elements(std::uint64_t elements);
  bool spend_products(std::uint64_t products);
  bool add_instructions(std::uint64_t count);
  bool watch();
  bool watch_memory();
  /// Whether so many bytes may be taken for a moment.
  bool may_take(std::uint64_t bytes);
  [[nodiscard]] std::uint64_t own_bytes() const;
  void stop_at(std::string_view limit, std::string text);

  // --- threads and operations (cta.cpp) ---
  [[nodiscard]] std::size_t thread_count() const { return pcs_.size(); }
  bool pick(std::vector<Thread>& group, std::uint32_t& limit);
  std::optional<std::uint32_t> random_pc();
  void run_group(std::vector<Thread>& group, std::uint32_t limit);
  bool execute(const Op& op, Threads ts);
  bool branch(const Op& op, Threads ts, bool may_spin);
  bool loop_begin(const Op& op, const ir::Stmt& stmt, Threads ts);
  bool loop_test(const Op& op, Threads ts);
  void loop_next(const Op& op, const ir::Stmt& stmt, Threads ts);
  void bind_ids(const ir::Stmt& stmt, Threads ts);
  [[nodiscard]] Word hardware_id(std::string_view tag, Thread t) const;
  void store(const ir::Stmt& stmt, Threads ts);
  void check_assert(const ir::Stmt& stmt, Threads ts);
  bool evaluate(const ir::Stmt& stmt, Threads ts);
  void exit(Threads ts);
  void go_on(Threads ts);  // to the next operation
  std::vector<Thread> gather(const Op& op, Threads ts);
  bool is_complete(const Op& op, std::size_t first, std::size_t last, std::span<const Word> masks,
                   Threads ts, std::vector<char>& here);

  // --- messages ---
  [[nodiscard]] std::string thread_text(Thread t) const;
  [[nodiscard]] std::string agent_text(Agent agent) const;
  [[nodiscard]] std::string cta_text() const;
  [[nodiscard]] std::string unit_text(const UnitInstance& unit) const;
  [[nodiscard]] std::string element_text(const Element& element) const;
  [[nodiscard]] static std::string value_text(num::DType type, Word value);
  [[nodiscard]] std::string threads_text(Threads ts) const;
  [[nodiscard]] Span span_of(std::uint32_t op) const;
  Finding* finding(Check check, std::uint32_t buffer = ir::BufferId::kNone);
  Finding* finding(Check check, const Element& element);
  void stop(DiagKind kind, std::string text);

  // --- index arithmetic ---
  void report_overflow(ir::ExprId id, Thread t, num::DType type, const std::string& numbers);
  void check_overflow(ir::ExprId id, const Words& a, const Words& b, Threads ts);
  void check_cast(ir::ExprId id, const Words& values, Threads ts);
  void check_last(const ir::Stmt& stmt, Thread t, Word first, std::int64_t trips);

  // --- expressions ---
  Words eval(ir::ExprId id, Threads ts);
  Words eval_copied(ir::ExprId id, Threads ts, Words& undefined);
  Words eval_binary(ir::ExprId id, Threads ts);
  Words eval_logic(const ir::Expr& expr, Threads ts);
  Words eval_choice(const ir::Expr& expr, Threads ts);
  Words eval_load(const ir::Expr& expr, Threads ts, Words* undefined);
  Words eval_address(const ir::Expr& expr, Threads ts);
  Words eval_ramp(ir::ExprId id, Threads ts);
  Words eval_reinterpret(const ir::Expr& expr, Threads ts);
  Words eval_shuffle(const ir::Expr& expr, Threads ts);
  Words constant(Word value, std::size_t size);
  /// The value of what must be the same in all threads of the unit; a finding where it is not. It
  /// is `what`, of a dimension of a buffer if that is given.
  Word uniform(ir::ExprId id, const UnitInstance& unit, std::string_view what,
               const ir::Buffer* about = nullptr, std::size_t dim = 0);
  std::int64_t uniform_int(ir::ExprId id, const UnitInstance& unit, std::string_view what,
                           const ir::Buffer* about = nullptr, std::size_t dim = 0);
  [[nodiscard]] num::DType type_of(ir::ExprId id) const { return (*f_)[id].type.dtype; }

  // --- intrinsics ---
  Words call(const ir::Expr& expr, Threads ts);
  Words call_pure(const ir::Expr& expr, Threads ts);
  Words call_exchange(const ir::Expr& expr, Threads ts);
  Words shuffle_lanes(const ir::Expr& expr, Threads ts);
  Words vote(const ir::Expr& expr, Threads ts);
  Words elect(Threads ts);
  Words warp_reduce(const ir::Expr& expr, Threads ts);
  Words cta_reduce(const ir::Expr& expr, Threads ts);
  Words reduce_lanes(std::string_view op, num::DType type, const Words& values, Threads ts,
                     std::int64_t width);
  Words atomic(const ir::Expr& expr, Threads ts);
  Words load_pointer(const ir::Expr& expr, Threads ts);
  void copy_bytes(const ir::Expr& expr, Threads ts);
  void print(const ir::Expr& expr, Threads ts);

  // --- memory ---
  [[nodiscard]] Access access_of(Agent agent, bool is_atomic = false) const;
  [[nodiscard]] static Agent thread_agent(Thread t) { return {AgentKind::Thread, t}; }
  Storage& storage_of(std::int32_t root);
  [[nodiscard]] std::int64_t absolute(const Element& element) const;
  bool is_reachable(const Element& element, int bits);
  Word read(const Element& element, int bits, const Access& by, Word& undefined);
  Word read_defined(const Element& element, int bits, const Access& by);
  void write(const Element& element, int bits, Word value, Word undefined, const Access& by);
  /// Puts it there; with whom it races, if with anybody.
  std::optional<Conflict> put(const Element& element, int bits, Word value, Word undefined,
                              const Access& by);
  std::optional<Conflict> note_write(const Element& element, int bits, const Access& by);
  void report_undefined(const Element& element, Agent agent);
  void report_race(const Element& element, const Conflict& conflict, const Access& by,
                   bool is_write);
  std::vector<Place> bases_of(const BufferInfo& info, Threads ts);
  std::vector<Element> locate(const BufferInfo& info, std::span<const ir::ExprId> indices,
                              int lanes, Threads ts);
  [[nodiscard]] Word pointer_to(Place place) const;
  [[nodiscard]] Place place_at(Word pointer) const;
  [[nodiscard]] Place shared_at(std::uint32_t address) const;
  [[nodiscard]] Place address_place(ir::Type type, Word value) const;
  Element element_at(Place place, Thread t) const;

  // --- barriers ---
  bool barrier_call(const ir::Expr& expr, Threads ts);
  void arrive(const BarrierKey& key, std::size_t count, Threads ts, bool waits);
  void check_barriers();
  bool is_complete(const BarrierKey& key, const Barrier& barrier) const;
  void release(const Barrier& barrier);
  void meet(Threads ts);
  void arrive_warps(Threads ts);
  void arrive_named(std::uint32_t id, std::size_t count, Threads ts, bool waits);
  void wait_mbarrier(const ir::Expr& expr, Threads ts);
  Mbarrier* find_mbarrier(Place place, Thread t);
  void init_mbarrier(Place place, std::uint32_t count, Thread t);
  void arrive_mbarrier(Place place, std::uint32_t count, Thread t);
  void arrive_mbarrier(Mbarrier& barrier, std::uint32_t count);
  bool test_mbarrier(Place place, std::uint32_t parity, Thread t);

  // --- asynchronous copies ---
  void start_copy(Copy copy, Threads ts);
  void commit(AsyncKind kind, Threads ts);
  void wait_group(AsyncKind kind, std::size_t keep, bool open_too, Threads ts);
  void wait_tmem(AsyncKind kind, Threads ts);
  void waited(std::vector<CopyId>& ids);
  void check_free(const Transfer& transfer, const Copy& copy);
  void check_start(const Transfer& transfer, const Copy& copy);
  void deliver(Copy& copy);

  // --- work of the tensor core ---
  void commit_tensor(Place mbarrier, Thread t);
  bool finish_commit(Place mbarrier, Mbarrier& barrier);
  [[nodiscard]] bool is_own_target(const Transfer& transfer, const Copy& copy);
  void ptx_tensor_commit(const ir::PtxCall& call, Threads ts);
  void ptx_tensor_copy(const ir::PtxCall& call, Threads ts);
  void add_tensor_chunk(Copy& copy, Place from, std::int64_t lane, std::int64_t column, Thread t);

  // --- tile primitives ---
  void tile_call(const ir::Stmt& stmt, Threads ts);
  void tile_instance(const ir::TileCall& call, const UnitInstance& unit);
  /// `may_leave`: the region may leave its buffer.
  bool make_tile(const ir::Region& region, const UnitInstance& unit, Tile& tile,
                 bool may_leave = false);
  bool may_hold(const Tile& tile);
  void place_elements(Tile& tile, std::span<const std::int64_t> mins, Place base,
                      const UnitInstance& unit);
  void place_owned(Tile& tile, std::span<const std::int64_t> flats, Place base,
                   const UnitInstance& unit);
  Values read_tile(const Tile& tile, const UnitInstance& unit, bool is_copy,
                   const Tile* readers = nullptr);
  Word read_copy(const Element& element, std::size_t x, int bits, const UnitInstance& unit,
                 const Tile* readers, Word& undefined);
  void write_tile(const Tile& tile, const UnitInstance& unit, const Values& values);
  bool read_operand(const ir::TileArg& arg, const UnitInstance& unit, const Tile& like,
                    Values& out);
  /// A scalar operand of a primitive: in registers each copy of an element takes the value of the
  /// thread that holds it, elsewhere it is one value.
  void read_scalar(ir::ExprId expr, const UnitInstance& unit, const Tile& like, Values& out);
  [[nodiscard]] bool is_given(const ir::TileArg& arg) const;
  bool broadcast_to(const Tile& like, const Tile& from, Values& values);
  bool tile_copy(const ir::TileCall& call, const UnitInstance& unit, bool is_async);
  /// Does the unit's predicate hold?
  bool does_copy(const ir::CopySettings& settings, const UnitInstance& unit);
  void copy_async(const Tile& to, const Tile& from, const UnitInstance& unit);
  void tile_elementwise(const ir::TileCall& call, const UnitInstance& unit);
  /// Which copies of an element get different values, because a scalar differs between threads.
  void check_copies(const ir::TileCall& call, const Tile& tile, const std::vector<Values>& operands,
                    const Values& out);
  void tile_reduce(const ir::TileCall& call, const UnitInstance& unit);
  void tile_gemm(const ir::TileCall& call, const UnitInstance& unit);
  void multiply_reals(const Product& p, const Values& a, const Values& b, const Values& c,
                      Values& out);
  void multiply_ints(const Product& p, const Values& a, const Values& b, const Values& c,
                     Values& out);
  void end_with_barrier(const ir::TileCall& call, const UnitInstance& unit);
  double factor(const ir::TileArg& arg, const UnitInstance& unit, std::string_view what,
                double otherwise);
  void tile_unsupported(const ir::TileCall& call, std::string_view why);

  // --- instructions ---
  bool ptx(const ir::Stmt& stmt, Threads ts);
  bool run_ptx(PtxKind kind, const ir::PtxCall& call, Threads ts);
  Words ptx_value(const ir::PtxOperand& operand, Threads ts, int bits, Words* undefined);
  Words ptx_int(const ir::PtxOperand& operand, Threads ts);
  std::vector<Place> ptx_address(const ir::PtxOperand& operand, Threads ts);
  void ptx_put(const ir::PtxOperand& operand, Threads ts, int bits, const Words& values,
               const Words* undefined);
  void ptx_load(const ir::PtxCall& call, Threads ts);
  void ptx_store(const ir::PtxCall& call, Threads ts);
  void ptx_move(const ir::PtxCall& call, Threads ts, bool adds);
  void ptx_copy_async(const ir::PtxCall& call, Threads ts);
  void ptx_mbarrier(PtxKind kind, const ir::PtxCall& call, Threads ts);
  void ptx_elect(const ir::PtxCall& call, Threads ts);
  bool ptx_barrier(PtxKind kind, const ir::PtxCall& call, Threads ts);
  void ptx_load_matrix(const ir::PtxCall& call, Threads ts);
  void ptx_store_matrix(const ir::PtxCall& call, Threads ts);
  void ptx_mma(const ir::PtxCall& call, Threads ts);
  void ptx_tmem_alloc(const ir::PtxCall& call, Threads ts);
  void ptx_tmem_free(const ir::PtxCall& call, Threads ts);
  std::uint32_t tmem_address(const ir::PtxOperand& operand, std::int64_t step, Threads warp);
  Element tmem_cell(std::uint32_t address, std::int64_t lane, std::int64_t column, Thread t);
  void ptx_tmem_move(const ir::PtxCall& call, Threads ts, bool is_load);
  void add_register_transfers(Copy& copy, const ir::PtxOperand& operand, Threads warp,
                              const Words& values, const Words& undefined);

  Run& run_;
  const Kernel& k_;
  const ir::Function* f_;
  std::uint32_t number_;  // in the grid; CTAs of a cluster follow each other
  std::array<std::int64_t, 3> at_;

  Order order_;
  RaceCheck races_;
  std::uint32_t op_ = 0;  // being executed

  std::vector<std::uint32_t> pcs_;
  std::vector<Status> status_;
  std::vector<char> parked_;          // lets others pass
  std::vector<std::uint32_t> spins_;  // trips of `while` loops without a pause
  std::size_t alive_;
  std::vector<std::size_t> var_base_;  // first row of a variable: one for each lane of its type
  std::vector<Word> vars_;             // [row][thread]
  std::vector<std::int64_t> left_;     // [loop][thread]: trips left

  std::vector<Storage> memory_;  // by root; global ones are in run_
  std::map<BarrierKey, Barrier> barriers_;
  std::map<std::pair<std::int32_t, std::int64_t>, Mbarrier> mbarriers_;
  std::vector<std::optional<Copy>> copies_;
  std::uint64_t pending_ = 0;  // bytes of copies and commits that nobody has waited for
  std::uint64_t held_ = 0;     // part of run_.held
  std::vector<AsyncState> async_;
  std::map<std::pair<std::int32_t, std::int64_t>, std::deque<TensorCommit>> tensor_commits_;
  std::array<bool, kTmemColumns> tmem_used_{};
  bool tmem_relinquished_ = false;
  std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>>
      tmem_allocations_;  // column: columns, op
};

}  // namespace ww::eval
