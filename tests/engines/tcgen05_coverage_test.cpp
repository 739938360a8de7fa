// SPDX-License-Identifier: Apache-2.0
// copy_async between tensor memory and registers: the grid that any lowering of it is measured by
// (264 cases).
#include "engines/tensor_family.h"

namespace ww::test::tcgen05_coverage_test {
namespace {

const std::vector<std::string> kSlabShapes = {"16x64b", "16x128b", "16x256b"};
const std::vector<std::string> kShapes = {"32x32b", "16x64b", "16x128b", "16x256b"};
const std::vector<std::string> kHalves = {"float16", "bfloat16"};

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

}  // namespace
}  // namespace ww::test::tcgen05_coverage_test
