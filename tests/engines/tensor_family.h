// SPDX-License-Identifier: Apache-2.0
// Cases of copies between tensor memory and registers, and what each is measured by: it runs on all
// engines with the cells of tensor memory in view; the instructions in the PTX, with their shapes,
// counts and registers, are those that are expected; and ptxas assembles it for sm_100a and
// sm_103a.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "engines/family.h"
#include "engines/tensor_programs.h"

namespace ww::test {

inline std::int64_t per_column(const std::string& dtype) { return 32 / bits_of(dtype); }

/// 32-bit columns of a repetition.
inline std::int64_t factor_of(std::string_view shape) {
  return shape == "32x32b" ? 1 : shape == "16x64b" ? 2 : shape == "16x128b" ? 4 : 8;
}

/// Programs of one kind, each held against the instructions that it should become.
class TensorFamily {
 public:
  explicit TensorFamily(const std::string& name, Nvcc nvcc = Nvcc::WhenAsked)
      : name_(name), family_(name, nvcc) {}
  ~TensorFamily() {
    fmt::print("{}, for sm_103a: {} programs for ptxas\n", name_, also_.count());
    assemble_later(std::move(also_));
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

inline TensorCopy copy_of(Operand tensor, Operand local, std::int64_t column = 0) {
  return {.tensor = std::move(tensor), .local = std::move(local), .address = base_plus(column)};
}

/// One load or store.
inline TensorProgram one_way(TensorCopy copy, bool is_load, const std::string& dtype,
                             std::int64_t columns) {
  copy.is_load = is_load;
  return {.dtype = dtype, .columns = allocation_of(columns), .copies = {std::move(copy)}};
}

/// One load, with 64 columns allocated.
inline TensorProgram one_load(Operand there, Operand own, const std::string& dtype = "float32") {
  return one_way(copy_of(std::move(there), std::move(own)), true, dtype, 64);
}

/// A store, and a load of the same.
inline TensorProgram round_trip(TensorCopy copy, const std::string& dtype, std::int64_t columns) {
  TensorProgram out = one_way(std::move(copy), false, dtype, columns);
  out.copies.push_back(out.copies.front());
  out.copies.back().is_load = true;
  return out;
}

inline Moves both(const std::string& move, int count = 1) {
  return {{"st " + move, count}, {"ld " + move, count}};
}
inline std::string times(std::string_view shape, std::int64_t num) {
  return fmt::format("{}.x{}", shape, num);
}

/// The tile of `num` repetitions whose rows are as few as the shape has.
inline TensorCopy atom_copy(const std::string& shape, std::int64_t num, const std::string& dtype) {
  const std::int64_t columns = factor_of(shape) * num * per_column(dtype);
  if (shape == "32x32b")
    return copy_of(datapath('D', 128, columns), fragment(shape, 128, columns, dtype));
  return copy_of(datapath('F', 64, columns), fragment(shape, 64, columns, dtype));
}

/// Rows of 128 threads, `words` columns from a column and a register on.
inline TensorCopy rows_copy(const std::string& dtype, std::int64_t words, std::int64_t column,
                            std::int64_t first_register = 0) {
  const std::int64_t n = per_column(dtype);
  const auto part = [&](std::int64_t start) { return box({0, start * n}, {128, words * n}); };
  return copy_of(datapath('D', 128, (column + words) * n, 0, part(column)),
                 row_registers((first_register + words) * n, part(first_register)));
}

}  // namespace ww::test
