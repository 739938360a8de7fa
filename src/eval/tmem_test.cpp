// SPDX-License-Identifier: Apache-2.0
// tcgen05.ld and .st against cells that tile copies have written, or read afterwards.
#include "eval/test_kernel.h"

namespace ww::eval::test::tmem_test {
namespace {

using ir::test::mem;
using ir::test::value;
using testing::HasSubstr;

constexpr std::int64_t kColumns = 512;
constexpr std::uint32_t kLane = 1U << 16U;

// As the PTX manual has it.
struct Spot {
  std::size_t lane, column;
};
Spot spot_of(const std::string& shape, std::size_t l, std::size_t r) {
  const std::size_t g = l / 4;
  const std::size_t t = l % 4;
  if (shape == "32x32b") return {l, r};
  if (shape == "16x64b") return {g + 8 * (l & 1), 2 * r + ((l >> 1) & 1)};
  if (shape == "16x128b") return {g + 8 * (r & 1), 4 * (r >> 1) + t};
  if (shape == "16x256b") return {g + 8 * ((r >> 1) & 1), 8 * (r >> 2) + 2 * t + (r & 1)};
  return {l & 15, r};
}

struct Shape {
  std::string name;
  std::size_t registers;  // of one repetition
  std::size_t most;       // repetitions
};
const Shape kShapes[] = {{"32x32b", 1, 128},
                         {"16x64b", 1, 128},
                         {"16x128b", 2, 64},
                         {"16x256b", 4, 32},
                         {"16x32bx2", 1, 128}};

enum class TmemFault : std::uint8_t { None, NoFree, NoStoreWait, NoLoadWait };

/// Four warps that own columns of tensor memory; `tile` is all of it, a row in each thread.
class TensorKernel : public TestKernel {
 public:
  explicit TensorKernel(std::int64_t allocated = kColumns) : allocated_(allocated) {}

  void begin() {
    start(128);
    addr_ = alloc("addr", {1}, DType::Uint32, Scope::Shared);
    when(lt(tid(), 32));
    allocate(u32(allocated_));
    end();
    sync();
    ir::Buffer t =
        buffer("t", {128, kColumns}, DType::Uint32, Scope::Tmem, "S[(128,512):(1@TLane,1@TCol)]");
    t.allocated_addr = base();
    cells_ = declare(std::move(t));
    tile_ =
        alloc("tile", {128, kColumns}, DType::Uint32, Scope::Local, "S[(128,512):(1@tid_in_wg,1)]");
    words_ = alloc("words", {128}, DType::Uint32, Scope::Local);
  }
  void allocate(ExprId columns) {
    ptx("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32",
        {mem(address(addr_, {n(0)})), value(columns)});
  }
  ExprId base() { return at(addr_, {n(0)}); }
  ExprId moved(ExprId by) { return op(ExprOp::Add, base(), by); }
  ir::PtxOperand word(std::size_t r) {
    return value(at(words_, {n(static_cast<std::int64_t>(r))}));
  }
  BufferId words() { return words_; }

  void fill(BufferId from) {
    tile(TileOp::Copy, Unit::Warpgroup, {full(tile_), full(from)});
    tile(TileOp::CopyAsync, Unit::Warpgroup, {full(cells_), full(tile_)});
    wait("st");
  }
  void show(BufferId to) {
    tile(TileOp::CopyAsync, Unit::Warpgroup, {full(tile_), full(cells_)});
    wait("ld");
    tile(TileOp::Copy, Unit::Warpgroup, {full(to), full(tile_)});
  }
  void wait(const std::string& what) { ptx("tcgen05.wait::" + what + ".sync.aligned", {}); }

  void load(const std::string& shape, std::size_t registers, const std::string& num, ExprId address,
            std::int64_t split = 0) {
    std::vector<ir::PtxOperand> operands;
    for (std::size_t r = 0; r < registers; ++r) operands.push_back(word(r));
    operands.push_back(mem(address));
    if (shape == "16x32bx2") operands.push_back(value(n(split)));
    ptx("tcgen05.ld.sync.aligned." + shape + "." + num + ".b32", operands);
  }
  void put(const std::string& shape, std::size_t registers, const std::string& num, ExprId address,
           std::int64_t split = 0) {
    std::vector<ir::PtxOperand> operands = {mem(address)};
    if (shape == "16x32bx2") operands.push_back(value(n(split)));
    for (std::size_t r = 0; r < registers; ++r) operands.push_back(word(r));
    ptx("tcgen05.st.sync.aligned." + shape + "." + num + ".b32", operands);
  }
  void finish() {
    sync();
    when(lt(tid(), 32));
    ptx("tcgen05.dealloc.cta_group::1.sync.aligned.b32", {value(base()), value(u32(allocated_))});
    end();
  }

 private:
  std::int64_t allocated_;
  BufferId addr_;
  BufferId cells_;
  BufferId tile_;
  BufferId words_;
};

// --- every shape ---------------------------------------------------------------------------------

std::string num_text(std::size_t num, bool is_packed, const std::string& word) {
  return "x" + std::to_string(num) + (is_packed ? "." + word + "::16b" : "");
}
// Cell (lane, column).
double cell(std::size_t lane, std::size_t column) {
  return static_cast<double>(0xA50000U + 512 * lane + column);
}
Numbers all_cells() {
  Numbers out;
  for (std::size_t i = 0; i < 128 * kColumns; ++i) out.push_back(cell(i / 512, i % 512));
  return out;
}
// Column of part `part` of a register: lanes from 16 on may have their own.
std::size_t column_of(const Shape& shape, std::size_t l, std::size_t r, bool is_packed,
                      std::size_t part, std::size_t first, std::size_t split) {
  const std::size_t column = spot_of(shape.name, l, r).column;
  return first + (is_packed ? 2 * column + part : column) +
         (shape.name == "16x32bx2" && l >= 16 ? split : 0);
}

// One kernel for all repetitions of a shape. Packed ones need all columns, others begin at
// column 3.
void expect_loads(const Shape& shape, bool is_packed, std::uint32_t lane) {
  const std::size_t first = is_packed ? 0 : 3;
  const std::size_t all = (2 * shape.most - 1) * shape.registers;
  TensorKernel k;
  const BufferId in = k.matched("in", {128, kColumns}, DType::Uint32);
  const BufferId out = k.matched("out", {128, static_cast<std::int64_t>(all)}, DType::Uint32);
  k.begin();
  k.fill(in);
  std::size_t before = 0;
  for (std::size_t num = 1; num <= shape.most; num *= 2) {
    const std::size_t registers = num * shape.registers;
    k.load(shape.name, registers, num_text(num, is_packed, "pack"),
           k.moved(k.u32(static_cast<std::int64_t>(lane * kLane + first))),
           static_cast<std::int64_t>(7 + num));
    k.wait("ld");
    const ir::VarId i = k.loop("i", static_cast<std::int64_t>(registers));
    k.store(out, {k.tid(), k.add(k.var(i), k.n(static_cast<std::int64_t>(before)))},
            k.at(k.words(), {k.var(i)}));
    k.end();
    before += registers;
  }
  k.finish();
  const Outcome o = k.run({all_cells(), {}});
  EXPECT_EQ(o.checks(), "") << o.text();
  before = 0;
  for (std::size_t num = 1; num <= shape.most; num *= 2) {
    for (std::size_t thread = 0; thread < 128; ++thread) {
      const std::size_t l = thread % 32;
      for (std::size_t r = 0; r < num * shape.registers; ++r) {
        const std::size_t row = thread / 32 * 32 + lane + spot_of(shape.name, l, r).lane;
        const auto at = [&](std::size_t part) {
          return cell(row, column_of(shape, l, r, is_packed, part, first, 7 + num));
        };
        const double wanted = is_packed ? (at(0) - 0xA50000U) + 65536 * (at(1) - 0xA50000U) : at(0);
        ASSERT_EQ(o.arrays[1][thread * all + before + r], wanted)
            << shape.name << " x" << num << " thread " << thread << " register " << r;
      }
    }
    before += num * shape.registers;
  }
}

TEST(EvalTensorMove, LoadsOfEveryShape) {
  for (const Shape& shape : kShapes) {
    expect_loads(shape, false, 0);
    expect_loads(shape, true, 0);
    if (shape.name != "32x32b") expect_loads(shape, false, 16);
  }
}

// A register of thread t: two halves that occur once.
double register_value(std::size_t thread, std::size_t r) {
  const std::size_t half = 2 * (128 * thread + r);
  return static_cast<double>(half + 65536 * (half + 1));
}

void expect_stores(const Shape& shape, std::size_t num, bool is_packed) {
  const std::size_t registers = num * shape.registers;
  const std::size_t split = 2 * num;
  TensorKernel k;
  const BufferId in = k.matched("in", {128, kColumns}, DType::Uint32);
  const BufferId given = k.matched("given", {128, 128}, DType::Uint32);
  const BufferId out = k.matched("out", {128, kColumns}, DType::Uint32);
  k.begin();
  k.fill(in);
  const ir::VarId i = k.loop("i", 128);
  k.store(k.words(), {k.var(i)}, k.at(given, {k.tid(), k.var(i)}));
  k.end();
  k.put(shape.name, registers, num_text(num, is_packed, "unpack"), k.base(),
        static_cast<std::int64_t>(split));
  k.wait("st");
  k.show(out);
  k.finish();
  Numbers words;
  for (std::size_t w = 0; w < 128 * 128; ++w) words.push_back(register_value(w / 128, w % 128));
  const Outcome o = k.run({all_cells(), words, {}});
  EXPECT_EQ(o.checks(), "") << o.text();
  Numbers wanted = all_cells();
  for (std::size_t thread = 0; thread < 128; ++thread)
    for (std::size_t r = 0; r < registers; ++r)
      for (std::size_t part = 0; part < (is_packed ? 2U : 1U); ++part) {
        const std::size_t l = thread % 32;
        const std::size_t row = thread / 32 * 32 + spot_of(shape.name, l, r).lane;
        const double half = static_cast<double>(2 * (128 * thread + r) + part);
        wanted[row * kColumns + column_of(shape, l, r, is_packed, part, 0, split)] =
            is_packed ? 0xA50000U + half : register_value(thread, r);
      }
  EXPECT_EQ(o.arrays[2], wanted) << shape.name << " x" << num;
}

TEST(EvalTensorMove, StoresOfEveryShape) {
  for (const Shape& shape : kShapes)
    for (const bool is_packed : {false, true}) {
      expect_stores(shape, 1, is_packed);
      expect_stores(shape, 4, is_packed);
    }
  expect_stores(kShapes[0], 128, false);
  expect_stores(kShapes[1], 128, true);
  expect_stores(kShapes[2], 64, true);
  expect_stores(kShapes[3], 32, true);
  expect_stores(kShapes[4], 128, true);
}

// --- what is wrong -------------------------------------------------------------------------------

// Stores and loads one register of each lane at addresses of its own.
Outcome moved(const std::function<ExprId(TensorKernel&)>& store_at,
              const std::function<ExprId(TensorKernel&)>& load_at,
              TmemFault fault = TmemFault::None, const std::string& shape = "32x32b",
              std::int64_t split = 0) {
  TensorKernel k(64);
  const BufferId out = k.matched("out", {128}, DType::Uint32);
  k.begin();
  k.store(k.words(), {k.n(0)}, k.to(DType::Uint32, k.tid()));
  k.put(shape, 1, "x1", store_at(k), split);
  if (fault != TmemFault::NoStoreWait) k.wait("st");
  k.load(shape, 1, "x1", load_at(k), split);
  if (fault != TmemFault::NoLoadWait) k.wait("ld");
  k.store(out, {k.tid()}, k.at(k.words(), {k.n(0)}));
  if (fault != TmemFault::NoFree) k.finish();
  return k.run({{}});
}

ExprId plain(TensorKernel& k) { return k.base(); }
ExprId own_quarter(TensorKernel& k) {
  return k.moved(k.to(DType::Uint32, k.mul(k.div(k.tid(), 32), k.n(32 * kLane))));
}
std::function<ExprId(TensorKernel&)> plus(std::uint32_t by) {
  return [by](TensorKernel& k) { return k.moved(k.u32(by)); };
}

TEST(EvalTensorMove, TheFirstQuarterStandsForTheWarpsOwn) {
  for (const auto& [there, back] :
       {std::pair(&plain, &own_quarter), std::pair(&own_quarter, &plain)}) {
    const Outcome o = moved(there, back);
    EXPECT_EQ(o.checks(), "") << o.text();
    EXPECT_EQ(o.arrays[0], count_to(128));
  }
}

TEST(EvalTensorMove, Faults) {
  const Outcome other = moved(plus(32 * kLane), plain);
  EXPECT_EQ(other.checks(), "tensor");
  EXPECT_THAT(other.text(), HasSubstr("warp 0 of CTA (0,0,0) names lane 32 of tensor memory: its "
                                      "lanes begin at 0"));
  const Outcome between = moved(plain, plus(16 * kLane));
  EXPECT_THAT(between.text(), HasSubstr("names lane 16 of tensor memory, expected a multiple of "
                                        "32"));
  const Outcome odd = moved(plain, plus(8 * kLane), TmemFault::None, "16x64b");
  EXPECT_THAT(odd.text(), HasSubstr("names lane 8 of tensor memory, expected a multiple of 16"));
  const Outcome beyond = moved(plus(64), plain);
  EXPECT_THAT(beyond.checks(), HasSubstr("tensor"));
  EXPECT_THAT(beyond.text(), HasSubstr("column 64, which is not allocated"));
  const Outcome differing =
      moved([](TensorKernel& k) { return k.moved(k.to(DType::Uint32, k.mod(k.tid(), 2))); }, plain);
  EXPECT_THAT(differing.text(), HasSubstr("names different addresses in its lanes"));
  const Outcome leaving =
      moved(plus(16 * kLane), plus(16 * kLane), TmemFault::None, "16x32bx2", 16 * kLane);
  EXPECT_THAT(leaving.text(), HasSubstr("thread 16 of CTA (0,0,0) reaches for lane 32, column 0"));
  const Outcome last = moved(plus(511), plus(511), TmemFault::None, "16x64b");
  EXPECT_THAT(last.text(), HasSubstr("column 511, which is not allocated"));
  EXPECT_THAT(moved(plain, plain, TmemFault::NoStoreWait).checks(), HasSubstr("async"));
  EXPECT_THAT(moved(plain, plain, TmemFault::NoLoadWait).checks(), HasSubstr("async"));
  EXPECT_EQ(moved(plain, plain, TmemFault::NoFree).checks(), "tensor");
}

// --- allocation ----------------------------------------------------------------------------------

enum class Permit : std::uint8_t { Kept, GivenUp };

// Allocates as many columns as an argument says.
Outcome allocated(double columns, Permit permit = Permit::Kept) {
  TestKernel k;
  const BufferId count = k.matched("count", {1}, DType::Uint32);
  k.start(32);
  const BufferId addr = k.alloc("addr", {1}, DType::Uint32, Scope::Shared);
  if (permit == Permit::GivenUp)
    k.ptx("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned", {});
  k.ptx("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32",
        {mem(k.address(addr, {k.n(0)})), value(k.at(count, {k.n(0)}))});
  if (permit == Permit::Kept)
    k.ptx("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned", {});
  k.sync();
  k.ptx("tcgen05.dealloc.cta_group::1.sync.aligned.b32",
        {value(k.at(addr, {k.n(0)})), value(k.at(count, {k.n(0)}))});
  return k.run({{columns}});
}

TEST(EvalTensorAlloc, CountsAndThePermit) {
  EXPECT_EQ(allocated(32).checks(), "");
  EXPECT_EQ(allocated(512).checks(), "");
  for (const double columns : {0.0, 16.0, 48.0, 1024.0}) {
    const Outcome o = allocated(columns);
    EXPECT_THAT(o.checks(), HasSubstr("tensor"));
    EXPECT_THAT(o.text(), HasSubstr("columns of tensor memory, expected 32, 64, 128, 256 or 512"));
  }
  const Outcome late = allocated(64, Permit::GivenUp);
  EXPECT_EQ(late.checks(), "tensor");
  EXPECT_EQ(late.text(),
            "CTA (0,0,0) asks for 64 columns of tensor memory after "
            "`tcgen05.relinquish_alloc_permit`");
}

}  // namespace
}  // namespace ww::eval::test::tmem_test
