// SPDX-License-Identifier: Apache-2.0
// copy_async between tensor memory and registers: the grid that any lowering of it is measured by
// (264 cases), and what lies beside it. Every case runs on all engines with the cells of tensor
// memory in view; the instructions in the PTX, with their shapes, counts and registers, are those
// that are expected; and ptxas assembles them for sm_100a and sm_103a.
#include <tuple>

#include "lower/family.h"
#include "lower/tensor_programs.h"

namespace ww::test {
namespace {

const std::vector<std::string> kSlabShapes = {"16x64b", "16x128b", "16x256b"};
const std::vector<std::string> kShapes = {"32x32b", "16x64b", "16x128b", "16x256b"};
const std::vector<std::string> kHalves = {"float16", "bfloat16"};

std::int64_t per_column(const std::string& dtype) { return 32 / bits_of(dtype); }

// 32-bit columns of a repetition.
std::int64_t factor_of(std::string_view shape) {
  return shape == "32x32b" ? 1 : shape == "16x64b" ? 2 : shape == "16x128b" ? 4 : 8;
}

class TensorFamily {
 public:
  explicit TensorFamily(const std::string& name, Nvcc nvcc = Nvcc::WhenAsked)
      : name_(name), family_(name, nvcc) {}
  ~TensorFamily() {
    std::string skipped;
    EXPECT_EQ(also_.assemble(skipped), "");
    fmt::print("{}, for sm_103a: {} programs by ptxas {}\n", name_,
               skipped.empty() ? also_.count() : 0, skipped);
  }
  TensorFamily(const TensorFamily&) = delete;
  TensorFamily& operator=(const TensorFamily&) = delete;

  Checked run(const Program& program, const Moves& expected) {
    Checked checked = family_.run(program);
    family_.count();
    if (!checked.right()) return checked;
    EXPECT_EQ(text_of(moves_of(checked.ptx)), text_of(expected)) << checked.source << checked.ptx;
    EXPECT_EQ(wrong_registers(checked.ptx), "") << checked.ptx;
    for (const lower::CallReport& call : checked.report.calls)
      if (call.op == "copy_async") {
        EXPECT_EQ(call.chosen, "tcgen05_ldst") << checked.explain();
      }
    Program other = program;
    other.target = "sm_103a";
    const Checked compiled = compile_only(other);
    EXPECT_TRUE(compiled.right()) << compiled.explain();
    if (compiled.right()) also_.add(other.target, compiled.ptx);
    return checked;
  }
  Checked run(const TensorProgram& program, const Moves& expected) {
    return run(program_of(program), expected);
  }

 private:
  std::string name_;
  Family family_;
  Assembly also_;
};

// --- programs ------------------------------------------------------------------------------------

TensorCopy copy_of(Operand tensor, Operand local, std::int64_t column = 0) {
  return {.tensor = std::move(tensor), .local = std::move(local), .address = base_plus(column)};
}

// One load or store.
TensorProgram one_way(TensorCopy copy, bool is_load, const std::string& dtype,
                      std::int64_t columns) {
  copy.is_load = is_load;
  return {.dtype = dtype, .columns = allocation_of(columns), .copies = {std::move(copy)}};
}

// A store, and a load of the same.
TensorProgram round_trip(TensorCopy copy, const std::string& dtype, std::int64_t columns) {
  TensorProgram out = one_way(std::move(copy), false, dtype, columns);
  out.copies.push_back(out.copies.front());
  out.copies.back().is_load = true;
  return out;
}

Moves both(const std::string& move, int count = 1) {
  return {{"st " + move, count}, {"ld " + move, count}};
}
std::string times(std::string_view shape, std::int64_t num) {
  return fmt::format("{}.x{}", shape, num);
}

// The tile of `num` repetitions whose rows are as few as the shape has.
TensorCopy atom_copy(const std::string& shape, std::int64_t num, const std::string& dtype) {
  const std::int64_t columns = factor_of(shape) * num * per_column(dtype);
  if (shape == "32x32b")
    return copy_of(datapath('D', 128, columns), fragment(shape, 128, columns, dtype));
  return copy_of(datapath('F', 64, columns), fragment(shape, 64, columns, dtype));
}

// Rows of 128 threads, `words` columns from a column and a register on.
TensorCopy rows_copy(const std::string& dtype, std::int64_t words, std::int64_t column,
                     std::int64_t first_register = 0) {
  const std::int64_t n = per_column(dtype);
  const auto part = [&](std::int64_t start) { return box({0, start * n}, {128, words * n}); };
  return copy_of(datapath('D', 128, (column + words) * n, 0, part(column)),
                 row_registers((first_register + words) * n, part(first_register)));
}

// --- the grid ------------------------------------------------------------------------------------

TEST(Tcgen05Grid, LoadsOfEveryShape) {
  TensorFamily family("tcgen05 loads of float32", Nvcc::Always);
  const auto load = [&](const std::string& shape, std::int64_t num) {
    family.run(one_way(atom_copy(shape, num, "float32"), true, "float32", factor_of(shape) * num),
               {{"ld " + times(shape, num), 1}});
  };
  for (const std::string& shape : kShapes)
    for (const int num : {1, 2, 4, 8, 16, 32}) load(shape, num);
  load("32x32b", 64);
  load("32x32b", 128);
  load("16x64b", 64);
  load("16x64b", 128);
  load("16x128b", 64);
}

TEST(Tcgen05Grid, RoundTripsOfHalves) {
  TensorFamily family("tcgen05 round trips of 16 bits");
  for (const std::string& shape : kShapes)
    for (const int num : {1, 2, 4, 8, 16, 32})
      for (const std::string& dtype : kHalves)
        family.run(round_trip(atom_copy(shape, num, dtype), dtype, factor_of(shape) * num),
                   both(times(shape, num)));
}

TEST(Tcgen05Grid, TwoSlabs) {
  TensorFamily family("tcgen05, 128 rows by shapes of 16");
  for (const std::string& shape : kSlabShapes)
    for (const int num : {1, 4, 16})
      for (const std::string dtype : {"float32", "float16"}) {
        const std::int64_t columns = factor_of(shape) * num * per_column(dtype);
        const TensorCopy copy =
            copy_of(datapath('D', 128, columns), fragment(shape, 128, columns, dtype));
        family.run(round_trip(copy, dtype, factor_of(shape) * num), both(times(shape, num), 2));
      }
}

TEST(Tcgen05Grid, HalfSlabs) {
  TensorFamily family("tcgen05, datapath F");
  for (const std::string& shape : kSlabShapes)
    for (const int num : {1, 4, 16})
      for (const int slab : {0, 1}) {
        const std::int64_t columns = factor_of(shape) * num;
        const TensorCopy copy =
            copy_of(datapath('F', 64, columns, slab), fragment(shape, 64, columns, "float32"));
        family.run(round_trip(copy, "float32", columns), both(times(shape, num)));
      }
}

TEST(Tcgen05Grid, DatapathB) {
  TensorFamily family("tcgen05, datapath B");
  for (const int columns : {32, 64, 128, 256})
    for (const int column : {0, 32}) {
      const TensorCopy copy =
          copy_of(datapath('B', 64, columns), fragment("32x32b", 64, columns, "float32"), column);
      family.run(round_trip(copy, "float32", columns / 2 + column),
                 both(times("32x32b", columns / 2)));
    }
}

TEST(Tcgen05Grid, Stores) {
  TensorFamily family("tcgen05 stores of float32", Nvcc::Always);
  for (const std::string& shape : kShapes)
    for (const int num : {1, 4, 16})
      family.run(
          one_way(atom_copy(shape, num, "float32"), false, "float32", factor_of(shape) * num),
          {{"st " + times(shape, num), 1}});
}

TEST(Tcgen05Grid, FragmentWrapper) {
  TensorFamily family("tcgen05, alloc_tcgen05_ldst_frag");
  struct Row {
    std::string shape;
    std::int64_t rows, columns;
    std::string dtype, move;
    int count;
  };
  const std::vector<Row> rows = {{"32x32b", 128, 16, "float32", "32x32b.x16", 1},
                                 {"16x64b", 64, 16, "float32", "16x64b.x8", 1},
                                 {"16x128b", 64, 32, "float16", "16x128b.x4", 1},
                                 {"16x256b", 64, 32, "bfloat16", "16x256b.x2", 1},
                                 {"16x256b", 128, 32, "float32", "16x256b.x4", 2}};
  for (const Row& row : rows) {
    TensorCopy copy = copy_of(datapath(row.rows == 128 ? 'D' : 'F', row.rows, row.columns),
                              fragment(row.shape, row.rows, row.columns, row.dtype));
    copy.made = fmt::format("T.alloc_tcgen05_ldst_frag(\"{}\", ({}, {}), \"{}\")", row.shape,
                            row.rows, row.columns, row.dtype);
    family.run(round_trip(copy, row.dtype, row.columns), both(row.move, row.count));
  }
  TensorCopy rows_of_threads = copy_of(datapath('D', 128, 8), row_registers(8));
  rows_of_threads.made = "T.wg_reg_tile(8, \"float32\")";
  family.run(round_trip(rows_of_threads, "float32", 8), both("32x32b.x8"));
}

TEST(Tcgen05Grid, Addresses) {
  TensorFamily family("tcgen05, addresses of tiles");
  for (const std::string address :
       {"T.uint32(0)", "0", "base[0] + T.uint32(3)", "T.uint32(5) + base[0]", "base[0] + 7",
        "T.cuda.get_tmem_addr(base[0], 0, 9)", "base[0] + T.cast(stage * 4, \"uint32\")"}) {
    TensorCopy copy = copy_of(datapath('D', 128, 8), row_registers(8));
    copy.address = address;
    family.run(round_trip(copy, "float32", 32), both("32x32b.x8"));
  }
}

TEST(Tcgen05Grid, ColumnSlices) {
  TensorFamily family("tcgen05, slices of columns");
  struct Row {
    std::string shape, dtype;
    std::int64_t rows, columns;              // of the tile
    std::int64_t start, own_start, extents;  // of the slice, there and in registers
    std::string move;
    int count;
  };
  const std::vector<Row> rows = {{"16x64b", "float32", 64, 32, 0, 0, 16, "16x64b.x8", 1},
                                 {"16x64b", "float32", 64, 32, 16, 16, 16, "16x64b.x8", 1},
                                 {"16x128b", "float32", 64, 32, 8, 8, 16, "16x128b.x4", 1},
                                 {"16x256b", "float32", 64, 64, 32, 32, 32, "16x256b.x4", 1},
                                 {"16x256b", "float16", 64, 64, 16, 16, 32, "16x256b.x2", 1},
                                 {"16x64b", "float32", 128, 32, 16, 16, 8, "16x64b.x4", 2},
                                 // Other columns there than in registers, and columns of no slab.
                                 {"16x64b", "float32", 64, 32, 20, 8, 8, "16x64b.x4", 1},
                                 {"16x128b", "float16", 64, 32, 22, 0, 8, "16x128b.x1", 1},
                                 {"16x256b", "float32", 64, 64, 5, 24, 32, "16x256b.x4", 1},
                                 {"32x32b", "float32", 128, 32, 7, 3, 8, "32x32b.x8", 1}};
  for (const Row& row : rows) {
    const auto part = [&](std::int64_t start) { return box({0, start}, {row.rows, row.extents}); };
    const TensorCopy copy =
        copy_of(datapath(row.rows == 128 ? 'D' : 'F', row.rows, row.columns, 0, part(row.start)),
                fragment(row.shape, row.rows, row.columns, row.dtype, part(row.own_start)));
    family.run(round_trip(copy, row.dtype, row.columns), both(row.move, row.count));
  }
}

TEST(Tcgen05Grid, RowsOfThreads) {
  TensorFamily family("tcgen05, rows of threads", Nvcc::Always);
  for (const std::string dtype : {"float16", "float32"})
    for (const int words : {4, 8, 16, 32})
      family.run(round_trip(rows_copy(dtype, words, 0), dtype, words),
                 both(times("32x32b", words)));
}

TEST(Tcgen05Grid, WidthsAndOffsets) {
  TensorFamily family("tcgen05, widths and columns");
  for (const std::string dtype : {"uint8", "float16", "float32"})
    for (const int words : {1, 2, 4, 8, 16, 32, 64})
      for (const int column : {0, 3, 10})
        family.run(round_trip(rows_copy(dtype, words, column), dtype, column + words),
                   both(times("32x32b", words)));
  family.run(round_trip(rows_copy("float32", 128, 10), "float32", 138), both("32x32b.x128"));
}

TEST(Tcgen05Grid, SlicesOfRegisters) {
  TensorFamily family("tcgen05, slices of registers");
  for (const std::string dtype : {"float16", "float32"})
    for (const int words : {4, 8, 16, 32})
      for (const int first : {0, 2, 4, 5})
        family.run(round_trip(rows_copy(dtype, words, 1, first), dtype, 1 + words),
                   both(times("32x32b", words)));
}

// Fragments written out iter by iter are the fragments of the constructors.
TEST(Tcgen05Grid, FragmentsInNotation) {
  TensorFamily family("tcgen05, fragments in notation");
  struct Row {
    std::int64_t rows, columns;
    std::string dtype, notation, move;
    int count;
  };
  const std::string w = "1 @ wid_in_wg", l = "@ laneid";
  const std::vector<Row> rows = {
      {128, 16, "float32", "S[(128, 16) : (1 @ tid_in_wg, 1)]", "32x32b.x16", 1},
      {128, 16, "float32", "S[(4, 32, 16) : (1 @ wid_in_wg, 1 @ laneid, 1)]", "32x32b.x16", 1},
      {128, 16, "float16", "S[(4, 32, 16) : (32 @ tid_in_wg, 1 @ tid_in_wg, 1)]", "32x32b.x8", 1},
      {128, 16, "uint8", "S[(128, 16) : (1 @ tid_in_wg, 1)]", "32x32b.x4", 1},
      {64, 64, "float32",
       fmt::format("S[(4, 2, 8, 32, 2) : ({}, 1 {}, 4 {}, 1, 2 {})]", w, l, l, l), "16x64b.x32", 1},
      {64, 64, "float16",
       fmt::format("S[(4, 2, 8, 16, 2, 2) : ({}, 1 {}, 4 {}, 2, 2 {}, 1)]", w, l, l, l),
       "16x64b.x16", 1},
      {128, 64, "float32",
       fmt::format("S[(4, 2, 2, 8, 32, 2) : ({}, 32, 1 {}, 4 {}, 1, 2 {})]", w, l, l, l),
       "16x64b.x32", 2},
      {64, 64, "float32", fmt::format("S[(4, 2, 8, 16, 4) : ({}, 1, 4 {}, 2, 1 {})]", w, l, l),
       "16x128b.x16", 1},
      {64, 256, "float16",
       fmt::format("S[(4, 2, 8, 32, 4, 2) : ({}, 2, 4 {}, 4, 1 {}, 1)]", w, l, l), "16x128b.x32",
       1},
      {128, 32, "float32",
       fmt::format("S[(4, 2, 2, 8, 8, 4) : ({}, 16, 1, 4 {}, 2, 1 {})]", w, l, l), "16x128b.x8", 2},
      {64, 64, "float32", fmt::format("S[(4, 2, 8, 8, 4, 2) : ({}, 2, 4 {}, 4, 1 {}, 1)]", w, l, l),
       "16x256b.x8", 1},
      {64, 64, "float16",
       fmt::format("S[(4, 2, 8, 4, 4, 2, 2) : ({}, 4, 4 {}, 8, 1 {}, 2, 1)]", w, l, l),
       "16x256b.x4", 1},
      {128, 32, "float32",
       fmt::format("S[(4, 2, 2, 8, 4, 4, 2) : ({}, 16, 2, 4 {}, 4, 1 {}, 1)]", w, l, l),
       "16x256b.x4", 2},
      {64, 8, "float32", "S[(4, 2, 32, 2) : (32 @ tid_in_wg, 2, 1 @ tid_in_wg, 1)]", "16x256b.x1",
       1},
      {64, 8, "bfloat16", fmt::format("S[(4, 2, 8, 1, 4, 2) : ({}, 2, 4 {}, 4, 1 {}, 1)]", w, l, l),
       "16x128b.x1", 1},
      {64, 16, "uint8", fmt::format("S[(4, 2, 8, 1, 4, 4) : ({}, 4, 4 {}, 8, 1 {}, 1)]", w, l, l),
       "16x128b.x1", 1}};
  for (const Row& row : rows) {
    const TensorCopy copy =
        copy_of(datapath(row.rows == 128 ? 'D' : 'F', row.rows, row.columns),
                registers({row.rows, row.columns}, row.notation, row.rows * row.columns / 128));
    family.run(round_trip(copy, row.dtype, row.columns), both(row.move, row.count));
  }
}

// One half of the 32 lanes of each warp, as a part of a tile that has both.
TEST(Tcgen05Grid, SubSlabViews) {
  TensorFamily family("tcgen05, slabs as parts of tiles");
  const std::string lanes =
      tile("S[(4, 2, 16, 16) : (32 @ TLane, 16 @ TLane, 1 @ TLane, 1 @ TCol)]");
  const std::string own =
      tile("S[(4, 2, 8, 8, 2) : (1 @ wid_in_wg, 1 @ laneid, 4 @ laneid, 1, 2 @ laneid)]");
  for (const int slab : {0, 1}) {
    TensorCopy copy =
        copy_of(tensor({4, 2, 16, 16}, lanes, fmt::format("[0:4, {}, 0:16, 0:16]", slab)),
                {.memory = "local", .shape = {4, 16, 16}, .layout = own, .registers = 8});
    family.run(round_trip(copy, "float32", 16), both("16x64b.x8"));
  }
  TensorCopy chosen =
      copy_of(tensor({4, 2, 16, 16}, lanes, "[0:4, 1, 0:16, 8:16]"), {.memory = "local",
                                                                      .shape = {4, 16, 16},
                                                                      .layout = own,
                                                                      .region = "[0:4, 0:16, 0:8]",
                                                                      .registers = 8});
  family.run(round_trip(chosen, "float32", 16), both("16x64b.x4"));
}

// --- beside the grid -----------------------------------------------------------------------------

// Rows of 16 lanes twice, a constant number of columns apart.
TensorCopy split_copy(std::int64_t num, std::int64_t apart, int slab = 0,
                      const std::string& dtype = "float32") {
  const std::int64_t n = per_column(dtype);
  const std::string offset = slab == 0 ? "" : " + 16 @ TLane";
  return copy_of(
      tensor({4, 16, 2, num * n},
             tile(fmt::format("S[(4, 16, 2, {}) : (32 @ TLane, 1 @ TLane, {} @ TCol, 1 @ TCol)]{}",
                              num * n, apart * n, offset))),
      registers(
          {4, 16, 2, num * n},
          fmt::format("S[(4, 16, 2, {}) : (1 @ wid_in_wg, 1 @ laneid, 16 @ laneid, 1)]", num * n),
          num * n));
}

TEST(Tcgen05, SplitRows) {
  TensorFamily family("tcgen05, 16x32bx2", Nvcc::Always);
  for (const int num : {1, 2, 4, 8, 16, 32, 64, 128})
    family.run(round_trip(split_copy(num, num), "float32", 2 * num), both(times("16x32bx2", num)));
  family.run(round_trip(split_copy(4, 11), "float32", 15), both("16x32bx2.x4"));
  family.run(round_trip(split_copy(4, 11, 1), "float32", 15), both("16x32bx2.x4"));
  family.run(round_trip(split_copy(4, 5, 1, "float16"), "float16", 9), both("16x32bx2.x4"));
  family.run(round_trip(split_copy(2, 2, 0, "uint8"), "uint8", 4), both("16x32bx2.x2"));
}

// 16-bit elements with a column each.
TEST(Tcgen05, PackedColumns) {
  TensorFamily family("tcgen05, pack and unpack", Nvcc::Always);
  const auto packed = [](const std::string& move, int count = 1) {
    return Moves{{"ld " + move + ".pack::16b", count}, {"st " + move + ".unpack::16b", count}};
  };
  for (const std::string& dtype : kHalves)
    for (const int num : {1, 4, 32}) {
      const std::int64_t n = 2 * num;
      const TensorCopy copy =
          copy_of(tensor({128, n}, tile(fmt::format("S[(128, {}) : (1 @ TLane, 2 @ TCol)]", n))),
                  row_registers(n));
      family.run(round_trip(copy, dtype, n), packed(times("32x32b", num)));
    }
  for (const std::string& shape : kSlabShapes) {
    const std::int64_t n = factor_of(shape) * 4 * 2;
    const TensorCopy copy =
        copy_of(tensor({64, n}, tile(fmt::format("S[(4, 16, {}) : (32 @ TLane, 1 @ TLane, 2 @ "
                                                 "TCol)]",
                                                 n))),
                fragment(shape, 64, n, "float16"), 3);
    family.run(round_trip(copy, "float16", n + 3), packed(times(shape, 4)));
  }
}

TEST(Tcgen05, SeveralInstructions) {
  TensorFamily family("tcgen05, several instructions");
  family.run(
      round_trip(rows_copy("float32", 24, 0), "float32", 24),
      {{"ld 32x32b.x16", 1}, {"ld 32x32b.x8", 1}, {"st 32x32b.x16", 1}, {"st 32x32b.x8", 1}});
  family.run(round_trip(rows_copy("float16", 7, 2), "float16", 9), {{"ld 32x32b.x4", 1},
                                                                    {"ld 32x32b.x2", 1},
                                                                    {"ld 32x32b.x1", 1},
                                                                    {"st 32x32b.x4", 1},
                                                                    {"st 32x32b.x2", 1},
                                                                    {"st 32x32b.x1", 1}});
  // Columns in two groups, with others between them.
  const TensorCopy groups =
      copy_of(tensor({128, 2, 8}, tile("S[(128, 2, 8) : (1 @ TLane, 12 @ TCol, 1 @ TCol)]")),
              registers({128, 2, 8}, "S[(128, 2, 8) : (1 @ tid_in_wg, 8, 1)]", 16));
  family.run(round_trip(groups, "float32", 20), both("32x32b.x8", 2));
}

// Registers in any order, with gaps, from a register on.
TEST(Tcgen05, RegisterOrders) {
  TensorFamily family("tcgen05, orders of registers", Nvcc::Always);
  const std::vector<std::pair<std::string, std::int64_t>> orders = {
      {"S[(128, 4, 4) : (1 @ tid_in_wg, 1, 4)]", 16},
      {"S[(128, 4, 4) : (1 @ tid_in_wg, 5, 1)]", 19},
      {"S[(128, 4, 4) : (1 @ tid_in_wg, 4, 1)] + 3", 19},
      {"S[(128, 2, 8) : (1 @ tid_in_wg, 1, 2)]", 16}};
  for (const auto& [notation, count] : orders) {
    const Operand own = registers({128, 16}, notation, count);
    family.run(round_trip(copy_of(datapath('D', 128, 16), own), "float32", 16), both("32x32b.x16"));
  }
}

TEST(Tcgen05, StagesAtRunTime) {
  TensorFamily family("tcgen05, stages", Nvcc::Always);
  for (const std::string dtype : {"float32", "float16", "uint8"})
    for (const std::string stage : {"stage", "it", "1 - stage"}) {
      const std::int64_t n = 8 * per_column(dtype);
      TensorCopy copy = copy_of(
          tensor({3, 128, n},
                 tile(fmt::format("S[(3, 128, {}) : ({} @ TCol, 1 @ TLane, 1 @ TCol)]", n, n)),
                 fmt::format("[{}, 0:128, 0:{}]", stage, n)),
          row_registers(n));
      if (stage == "it") copy.around = "for it in range(2):";
      family.run(round_trip(copy, dtype, 24), both("32x32b.x8"));
    }
  // A start in columns of the tile.
  TensorCopy start = copy_of(datapath('F', 64, 64, 1, "[0:64, stage * 16:stage * 16 + 16]"),
                             fragment("16x128b", 64, 16, "float32"));
  family.run(round_trip(start, "float32", 64), both("16x128b.x4"));
}

TEST(Tcgen05, Units) {
  TensorFamily family("tcgen05, warps, warpgroups and CTAs", Nvcc::Always);
  // The second warpgroup: warps 4 to 7 reach what 0 to 3 do.
  for (const int group : {0, 1}) {
    TensorProgram second = round_trip(atom_copy("16x256b", 4, "float32"), "float32", 32);
    second.threads = 256;
    for (TensorCopy& copy : second.copies) copy.around = fmt::format("if wg == {}:", group);
    family.run(second, both("16x256b.x4"));
  }
  // What the first stores is loaded by both.
  TensorProgram pair = round_trip(rows_copy("float16", 8, 3), "float16", 11);
  pair.threads = 256;
  pair.copies.front().around = "if wg == 0:";
  family.run(pair, both("32x32b.x8"));
  // A warp by itself, in its quarter.
  for (const int warp : {0, 3}) {
    TensorCopy quarter = copy_of(datapath('D', 128, 8, 0, box({32 * warp, 0}, {32, 8})),
                                 registers({32, 8}, "S[(32, 8) : (1 @ laneid, 1)]", 8));
    quarter.scope = "warp";
    quarter.around = fmt::format("if warp == {}:", warp);
    family.run(round_trip(quarter, "float32", 8), both("32x32b.x8"));
  }
  // A CTA of four warps.
  TensorCopy whole =
      copy_of(datapath('D', 128, 8), registers({128, 8}, "S[(128, 8) : (1 @ tx, 1)]", 8));
  whole.scope = "cta";
  family.run(round_trip(whole, "float32", 8), both("32x32b.x8"));
}

// Where many threads share the register file, an instruction has no more registers than fit.
TEST(Tcgen05, ManyThreads) {
  TensorFamily family("tcgen05, many threads");
  const std::vector<std::tuple<int, int, int>> rows = {{256, 128, 1}, {512, 64, 2}, {1024, 32, 4}};
  for (const auto& [threads, num, count] : rows) {
    TensorProgram program = one_way(rows_copy("float32", 128, 0), true, "float32", 128);
    program.threads = threads;
    program.copies.front().around = fmt::format("if wg == {}:", threads / 128 - 1);
    family.run(program, {{"ld " + times("32x32b", num), count}});
  }
}

// Elements of four bits, eight to a column: registers come from and go to global memory by copies,
// as single ones have no address.
TEST(Tcgen05, ElementsSmallerThanBytes) {
  TensorFamily family("tcgen05, elements of 4 bits");
  for (const std::string dtype : {"float4_e2m1fn", "int4"})
    for (const std::int64_t words : {1, 4, 16}) {
      const std::int64_t n = 8 * words;
      KernelText text(128, dtype);
      text.param("A", {128, n});
      text.param("B", {128, n});
      text.line("base = T.alloc_shared([1], \"uint32\")");
      text.line("if warp == 0:");
      text.line("    T.ptx.tcgen05.alloc(T.address_of(base), n_cols=32, cta_group=1)");
      text.sync();
      text.line(
          fmt::format("t = T.decl_buffer((128, {0}), \"{1}\", scope=\"tmem\", "
                      "allocated_addr=base[0], layout=TileLayout(S[(128, {0}) : (1 @ TLane, "
                      "1 @ TCol)]))",
                      n, dtype));
      for (const char* name : {"r", "q"})
        text.line(
            fmt::format("{0} = T.alloc_buffer((128, {1}), \"{2}\", scope=\"local\", "
                        "layout=TileLayout(S[(128, {1}) : (1 @ tid_in_wg, 1)]))",
                        name, n, dtype));
      text.line("Tx.wg.copy(r[:, :], A[:, :])");
      text.line("Tx.wg.copy_async(t[:, :], r[:, :])");
      text.line("T.ptx.tcgen05.wait.st()");
      text.line("Tx.wg.copy_async(q[:, :], t[:, :])");
      text.line("T.ptx.tcgen05.wait.ld()");
      text.line("Tx.wg.copy(B[:, :], q[:, :])");
      text.sync();
      text.line("if warp == 0:");
      text.line("    T.ptx.tcgen05.dealloc(base[0], n_cols=32, cta_group=1)");
      family.run(Program{.source = text.text(), .target = "sm_100a"}, both(times("32x32b", words)));
    }
}

// Each quarter of the lanes holds the tile, as scale factors are held: a warp takes its own.
TEST(Tcgen05, Replicas) {
  TensorFamily family("tcgen05, tiles that every quarter holds");
  KernelText text(128, "float32");
  text.param("A", {32, 8});
  text.param("B", {128, 8});
  text.line("base = T.alloc_shared([1], \"uint32\")");
  text.line("if warp == 0:");
  text.line("    T.ptx.tcgen05.alloc(T.address_of(base), n_cols=32, cta_group=1)");
  text.sync();
  text.line(
      "t = T.decl_buffer((32, 8), \"float32\", scope=\"tmem\", allocated_addr=base[0], "
      "layout=TileLayout(S[(32, 8) : (1 @ TLane, 1 @ TCol)] + R[4 : 32 @ TLane]))");
  for (const char* name : {"r", "q"})
    text.line(
        fmt::format("{} = T.alloc_buffer((32, 8), \"float32\", scope=\"local\", "
                    "layout=TileLayout(S[(32, 8) : (1 @ laneid, 1)] + R[4 : 1 @ wid_in_wg]))",
                    name));
  text.line("Tx.wg.copy(r[:, :], A[:, :])");
  text.line("Tx.wg.copy_async(t[:, :], r[:, :])");
  text.line("T.ptx.tcgen05.wait.st()");
  text.line("Tx.wg.copy_async(q[:, :], t[:, :])");
  text.line("T.ptx.tcgen05.wait.ld()");
  text.line("own = q.local(8)");
  text.for_registers("B", "own", 8, true);
  text.sync();
  text.line("if warp == 0:");
  text.line("    T.ptx.tcgen05.dealloc(base[0], n_cols=32, cta_group=1)");
  family.run(Program{.source = text.text(), .target = "sm_100a"}, both("32x32b.x8"));
}

// Loads into other registers may be under way together; one wait is for all.
TEST(Tcgen05, SeveralUnderWay) {
  TensorFamily family("tcgen05, several loads under way", Nvcc::Always);
  TensorProgram program;
  for (const int column : {0, 8, 16})
    program.copies.push_back(copy_of(datapath('D', 128, 8), row_registers(8), column));
  Program text = program_of(program);
  const std::string between =
      "    T.ptx.tcgen05.wait.ld()\n    T.ptx.tcgen05.fence.before_thread_sync()\n"
      "    T.cuda.cta_sync()\n    T.ptx.tcgen05.fence.after_thread_sync()\n";
  for (int i = 0; i < 2; ++i) text.source.erase(text.source.find(between), between.size());
  const Checked checked = family.run(text, {{"ld 32x32b.x8", 3}});
  EXPECT_EQ(count_of(checked.ptx, "tcgen05.wait::ld"), 1U) << checked.ptx;
}

// Registers that are taken at a run-time index are in local memory, where nothing is put before the
// load has been waited for.
TEST(Tcgen05, RegistersInLocalMemory) {
  TensorFamily family("tcgen05, registers in local memory", Nvcc::Always);
  TensorProgram program =
      one_way(copy_of(datapath('D', 128, 8), row_registers(8)), true, "float32", 8);
  Program text = program_of(program);
  const std::string dump = "r0_out[tid, i] = r0_d[i]";
  text.source.replace(text.source.find(dump), dump.size(), "r0_out[tid, i] = r0_d[(tid + i) % 8]");
  family.run(text, {{"ld 32x32b.x8", 1}});
}

// Other letters of the datapaths, and their images in registers.
TEST(Tcgen05, OtherDatapaths) {
  TensorFamily family("tcgen05, datapaths A, C, E, G");
  family.run(round_trip(copy_of(datapath('A', 128, 8), row_registers(8)), "float32", 8),
             both("32x32b.x8"));
  family.run(round_trip(copy_of(datapath('C', 64, 16, 1), fragment("16x128b", 64, 16, "float32")),
                        "float32", 16),
             both("16x128b.x4"));
  family.run(round_trip(copy_of(datapath('E', 64, 32), fragment("32x32b", 64, 32, "float32")),
                        "float32", 16),
             both("32x32b.x16"));
  const Operand image = registers({32, 32}, "S[(32, 4, 8) : (1 @ laneid, 1 @ wid_in_wg, 1)]", 8);
  family.run(round_trip(copy_of(datapath('G', 32, 32), image), "float32", 8), both("32x32b.x8"));
  // Halves on datapath B, for which there is no constructor of registers.
  const Operand halves =
      registers({64, 32}, "S[(64, 2, 16) : (1 @ tid_in_wg, 64 @ tid_in_wg, 1)]", 16);
  family.run(round_trip(copy_of(datapath('B', 64, 32), halves), "float16", 8), both("32x32b.x8"));
}

// --- what is declined ----------------------------------------------------------------------------

struct Decline {
  TensorProgram program;
  std::string verdict;
};

TensorProgram one_load(Operand there, Operand own, const std::string& dtype = "float32") {
  return one_way(copy_of(std::move(there), std::move(own)), true, dtype, 64);
}
TensorProgram with_unit(TensorProgram program, const std::string& scope,
                        const std::string& around = {}) {
  program.copies.front().scope = scope;
  program.copies.front().around = around;
  return program;
}

std::vector<Decline> declines() {
  const Operand d = datapath('D', 128, 16), rows = row_registers(16);
  const Operand warp_rows = registers({32, 8}, "S[(32, 8) : (1 @ laneid, 1)]", 8);
  return {
      // Rows 0 to 63 are lanes 0 to 63: two warps reach them, and the fragment is of four.
      {one_load(datapath('D', 128, 16, 0, "[0:64, 0:16]"), fragment("16x64b", 64, 16, "float32")),
       "[lanes] thread 32 of the unit holds an element of lane 16 of tensor memory; its warp "
       "reaches lanes 32 to 63"},
      // One row per thread, in another order of threads.
      {one_load(d, registers({128, 16}, "S[(32, 4, 16) : (1 @ laneid, 1 @ wid_in_wg, 1)]", 16)),
       "[lanes] thread 8 of the unit holds an element of lane 32 of tensor memory; its warp "
       "reaches lanes 0 to 31"},
      {one_load(d, registers({128, 16},
                             "S[(4, 2, 16, 16) : (1 @ wid_in_wg, 1 @ laneid, 2 @ laneid, 1)]", 16)),
       "[shape] no shape gives the word at register element 0 of warp 0 the cells (lane of the "
       "quarter, column) that it holds: lane 0: (0, 0), lane 1: (16, 0), lane 2: (1, 0), lane 4: "
       "(2, 0), lane 16: (8, 0)"},
      // Halves of words.
      {one_load(datapath('D', 128, 16, 0, "[0:128, 0:8]"), row_registers(16, "[0:128, 1:9]"),
                "float16"),
       "[registers] the 32-bit word at register element 0 of thread 0 of the unit has 1 of its 2 "
       "elements in the tile"},
      {one_load(datapath('D', 128, 16, 0, "[0:128, 1:9]"), row_registers(16, "[0:128, 0:8]"),
                "float16"),
       "[columns] register element 0 of thread 0 of the unit goes with element 1 of lane 0, which "
       "is not part 0 of the 32-bit column of its word"},
      {one_load(datapath('D', 128, 16, 0, "[0:128, 0:7]"), row_registers(7), "float16"),
       "[registers] the 32-bit word at register element 6 of thread 0 of the unit has 1 of its 2 "
       "elements in the tile"},
      {one_load(datapath('D', 128, 16, 0, "[0:128, 4:6]"), row_registers(2), "uint8"),
       "[registers] the 32-bit word at register element 0 of thread 0 of the unit has 2 of its 4 "
       "elements in the tile"},
      {one_load(datapath('D', 128, 32, 0, "[0:128, stage:stage + 8]"), row_registers(8), "float16"),
       "[columns] `t0` begins at `T.Cast(\"int64\", stage)` elements of 16 bits, known at run time "
       "only and not known to be whole 32-bit columns"},
      // A slice that begins inside of an atom, and one that is less than an atom.
      {one_load(datapath('F', 64, 16, 0, "[0:64, 1:9]"),
                fragment("16x64b", 64, 16, "float32", "[0:64, 1:9]")),
       "[shape] the 32-bit word at register element 0 is held by 16 of the 32 lanes of warp 0, "
       "expected all or none"},
      {one_load(datapath('F', 64, 16, 0, "[0:64, 0:4]"),
                fragment("16x256b", 64, 16, "float32", "[0:64, 0:4]")),
       "[shape] the 32-bit word at register element 0 is held by 16 of the 32 lanes of warp 0, "
       "expected all or none"},
      // Datapath F is for shapes of 16 lanes.
      {one_load(datapath('F', 64, 16), registers({64, 16}, "S[(64, 16) : (1 @ tid_in_wg, 1)]", 16)),
       "[lanes] thread 16 of the unit holds an element of lane 32 of tensor memory; its warp "
       "reaches lanes 0 to 31"},
      // B has its columns in two halves of the lanes, and registers in rows do not.
      {one_load(datapath('B', 64, 16), registers({64, 16}, "S[(64, 16) : (1 @ tid_in_wg, 1)]", 16)),
       "[lanes] thread 0 of the unit holds an element of lane 64 of tensor memory; its warp "
       "reaches lanes 0 to 31"},
      {one_load(d, rows, "float64"), "[dtype] elements of 64 bits, expected 4, 8, 16 or 32"},
      {with_unit(one_load(datapath('D', 128, 16, 0, "[tid, 0:16]"), registers({16}, "S[16]", 16)),
                 "thread"),
       "[scope] thread scope, expected warp, warpgroup or cta"},
      // Every warp would load the same lanes.
      {with_unit(one_load(datapath('D', 128, 8, 0, "[0:32, 0:8]"), warp_rows), "warp"),
       "[lanes] warps 0 and 1 come here, which reach different lanes of tensor memory"},
      {with_unit(one_load(datapath('D', 128, 8, 0, "[0:32, 0:8]"), warp_rows), "warp",
                 "if warp == 1:"),
       "[lanes] thread 0 of the unit holds an element of lane 0 of tensor memory; its warp reaches "
       "lanes 32 to 63"},
      {one_load(tensor({128, 16},
                       "ComposeLayout(2, 2, 2, TileLayout(S[(128, 16) : (1 @ TLane, 1 @ "
                       "TCol)]))"),
                rows),
       "[swizzle] `t0` in tensor memory is swizzled"},
      // Lanes that no warp with the elements reaches.
      {with_unit(one_way(copy_of(tensor({32, 8}, tile("S[(32, 8) : (1 @ TLane, 1 @ TCol)] + R[4 : "
                                                      "32 @ TLane]")),
                                 warp_rows),
                         false, "float32", 8),
                 "warp", "if warp == 2:"),
       "[replica] `t0` holds each element at 4 places, 256 of the 1024 cells are reached by a warp "
       "that has them in registers"}};
}

TEST(Tcgen05, DeclinesWithReasons) {
  for (const Decline& row : declines()) {
    const Checked checked = check(program_of(row.program));
    EXPECT_EQ(checked.stage, Stage::Lower) << checked.explain();
    EXPECT_EQ(verdict_on(checked, 0, "tcgen05_ldst"), row.verdict) << checked.explain();
  }
  fmt::print("declines of tcgen05_ldst: {} cases\n", declines().size());
}

TEST(Tcgen05, ForcedByName) {
  TensorFamily family("tcgen05 by its names");
  for (const std::string name : {"tcgen05_ldst", "tmem<->local"}) {
    TensorProgram program = round_trip(rows_copy("float32", 8, 0), "float32", 8);
    for (TensorCopy& copy : program.copies) copy.settings = fmt::format("dispatch=\"{}\"", name);
    family.run(program, both("32x32b.x8"));
  }
}

// Without allocation, which those targets do not have either.
TEST(Tcgen05, NeedsTensorMemory) {
  constexpr std::string_view kSource =
      "from tvm.script import tirx as T\nfrom tvm.script.tirx import tile as Tx\n"
      "from tvm.tirx.layout import S, TileLayout, TLane, TCol, tid_in_wg\n\n"
      "@T.prim_func\ndef kernel(A_ptr: T.handle):\n"
      "    A = T.match_buffer(A_ptr, (128, 8), \"float32\")\n"
      "    T.device_entry()\n    T.warpgroup_id([1])\n    T.thread_id([128])\n"
      "    t = T.decl_buffer((128, 8), \"float32\", scope=\"tmem\", allocated_addr=0, "
      "layout=TileLayout(S[(128, 8) : (1 @ TLane, 1 @ TCol)]))\n"
      "    r = T.alloc_buffer((128, 8), \"float32\", scope=\"local\", "
      "layout=TileLayout(S[(128, 8) : (1 @ tid_in_wg, 1)]))\n"
      "    Tx.wg.copy_async(r[:, :], t[:, :])\n"
      "    Tx.wg.copy(A[:, :], r[:, :])\n";
  for (const std::string target : {"sm_90a", "sm_100", "sm_120a", "sm_80"}) {
    const Checked checked = compile_only({.source = std::string(kSource), .target = target});
    EXPECT_EQ(checked.stage, Stage::Lower) << checked.explain();
    EXPECT_TRUE(verdict_on(checked, 0, "tcgen05_ldst").starts_with("[arch] tcgen05.ld needs "))
        << checked.explain();
    EXPECT_TRUE(verdict_on(checked, 0, "tcgen05_ldst").ends_with(", the target is " + target))
        << checked.explain();
  }
  for (const std::string target : {"sm_100a", "sm_103a", "sm_100f"}) {
    const Checked checked = compile_only({.source = std::string(kSource), .target = target});
    EXPECT_TRUE(checked.right()) << checked.explain();
    EXPECT_EQ(verdict_on(checked, 0, "tcgen05_ldst"), "chosen");
  }
}

// --- how inputs change the algorithm -------------------------------------------------------------

// The rows of the table that describes this copy, one test each.

TEST(Tcgen05Inputs, RegisterLayout) {
  TensorFamily family("the register layout sets the shape");
  for (const std::string& shape : kSlabShapes)
    family.run(one_way(atom_copy(shape, 4, "float32"), true, "float32", 32),
               {{"ld " + times(shape, 4), 1}});
  // A row per thread has the shape of 32 lanes.
  family.run(one_way(rows_copy("float16", 4, 0), true, "float16", 4), {{"ld 32x32b.x4", 1}});
}

TEST(Tcgen05Inputs, ColumnWidthAndType) {
  TensorFamily family("width and element type set the number of repetitions");
  const std::vector<std::pair<std::string, std::int64_t>> types = {
      {"float32", 1}, {"int32", 1}, {"float16", 2}, {"bfloat16", 2}, {"uint8", 4}};
  for (const auto& [dtype, per] : types)
    for (const std::int64_t columns : {8, 16, 32}) {
      const std::int64_t words = columns / per;
      const Checked checked = family.run(
          one_way(copy_of(datapath('D', 128, columns), row_registers(columns)), true, dtype, words),
          {{"ld " + times("32x32b", words), 1}});
      EXPECT_EQ(checked.call(0).plan.rounds, 1);
    }
}

TEST(Tcgen05Inputs, Direction) {
  TensorFamily family("the direction sets the instruction");
  for (const std::string& shape : kShapes)
    for (const bool is_load : {true, false})
      family.run(one_way(atom_copy(shape, 2, "float16"), is_load, "float16", 16),
                 {{(is_load ? "ld " : "st ") + times(shape, 2), 1}});
}

TEST(Tcgen05Inputs, Datapath) {
  TensorFamily family("the datapath sets the slabs");
  for (const std::string& shape : kSlabShapes) {
    const std::int64_t columns = 2 * factor_of(shape);
    const Operand whole = fragment(shape, 128, columns, "float32");
    const Operand half = fragment(shape, 64, columns, "float32");
    family.run(one_load(datapath('D', 128, columns), whole), {{"ld " + times(shape, 2), 2}});
    for (const int slab : {0, 1})
      family.run(one_load(datapath('F', 64, columns, slab), half), {{"ld " + times(shape, 2), 1}});
  }
  family.run(one_load(datapath('D', 128, 8), row_registers(8)), {{"ld 32x32b.x8", 1}});
}

// The caller waits.
TEST(Tcgen05Inputs, NoWait) {
  const Program program = program_of(round_trip(rows_copy("float16", 4, 0), "float16", 4));
  const Checked checked = check(program);
  ASSERT_TRUE(checked.right()) << checked.explain();
  EXPECT_EQ(count_of(checked.ptx, "tcgen05.wait"), count_of(program.source, "tcgen05.wait"));
}

}  // namespace
}  // namespace ww::test
