// SPDX-License-Identifier: Apache-2.0
// For tests of ops: a few instructions of PTX text, one warp with nothing around it, and registers
// to look into. Registers are named by width: %b 8, %h 16, %r 32, %d 64, %q 128 bits, %p
// predicates.
//
//     OpsUnderTest ops("add.u32 %r0, %r1, %r2;");
//     ops.lanes<std::uint32_t>("%r1")[5] = 7;
//     ops.run();
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sim/program.h"
#include "sim/run/warp.h"

namespace ww::sim {

class OpsUnderTest {
 public:
  explicit OpsUnderTest(std::string_view instructions, bool tracks = false) {
    std::string text =
        ".version 8.8\n.target sm_100a\n.address_size 64\n.visible .entry k() {\n"
        ".reg .pred %p<8>;\n.reg .b8 %b<8>;\n.reg .b16 %h<8>;\n.reg .b32 %r<8>;\n"
        ".reg .b64 %d<8>;\n.reg .b128 %q<8>;\n";
    text.append(instructions).append("\n}\n");
    LoadResult loaded = load(text, "test");
    for (const Diag& error : loaded.errors) ADD_FAILURE() << instructions << ": " << error.text;
    program_ = loaded.program;
    if (program_ == nullptr) return;
    const std::size_t bytes = program_->functions[0].frame_bytes;
    frame_.resize(bytes / sizeof(std::uint64_t) + 1);
    undefined_.resize(bytes);
    warp.frame = reinterpret_cast<std::byte*>(frame_.data());
    warp.constants = program_->constants.data();
    if (tracks) warp.undefined.begin(undefined_.data(), nullptr);
    warp.program = program_.get();
  }
  [[nodiscard]] bool ok() const { return program_ != nullptr; }

  /// All instructions, in these lanes.
  void run(Mask exec = kAllLanes) {
    const Code& code = program_->functions[0];
    for (std::uint32_t i = code.first_op; i + 1 < code.end_op;
         ++i) {  // the last one ends the kernel
      const Op& op = program_->ops[i];
      warp.exec = exec;
      if (warp.undefined.are_kept() && op.track != nullptr) op.track(warp, op);
      op.run(warp, op);
    }
  }

  [[nodiscard]] Place place(std::string_view name) const {
    for (const OperandInfo& operand : program_->operands) {
      if (operand.name != ptx::kNoName && program_->module.text(operand.name) == name) {
        return operand.place;
      }
    }
    ADD_FAILURE() << name << " is not used";
    return Place::in_frame(0);
  }
  template <typename T>
  T* lanes(std::string_view name) {
    return warp.lanes<T>(place(name));
  }
  Mask& pred(std::string_view name) { return *lanes<Mask>(name); }
  std::uint8_t* undefined(std::string_view name) { return warp.undefined.write(place(name), 0); }

  Warp warp;

 private:
  std::shared_ptr<const Program> program_;
  std::vector<std::uint64_t> frame_;
  std::vector<std::uint8_t> undefined_;
};

/// Numbers that make trouble, and others.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed = 1) : random_(seed) {}
  std::uint64_t bits() { return random_(); }
  template <typename T>
  T next() {
    using Bits = std::conditional_t<
        sizeof(T) == 8, std::uint64_t,
        std::conditional_t<sizeof(T) == 4, std::uint32_t,
                           std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>;
    return std::bit_cast<T>(static_cast<Bits>(pattern(8 * sizeof(T))));
  }

 private:
  std::uint64_t pattern(unsigned width) {
    const std::uint64_t x = random_();
    switch (random_() % 8) {
      case 0:
        return x % 3 - 1;  // -1, 0, 1
      case 1:
        return (std::uint64_t{1} << (width - 1)) + x % 3 - 1;  // about the sign bit
      case 2:
        return x % 70;  // a bit number, and beyond
      case 3:
        return x >> (random_() % 64);
      case 4:
        return std::uint64_t{1} << (x % 64);
      case 5:
        return 0 - (x % 300);
      default:
        return x;
    }
  }
  std::mt19937_64 random_;
};

template <typename T>
std::string register_name(std::size_t index) {
  const char prefix = sizeof(T) == 8 ? 'd' : sizeof(T) == 4 ? 'r' : sizeof(T) == 2 ? 'h' : 'b';
  return std::string("%") + prefix + std::to_string(index);
}

/// Runs `opcode d, s1, s2, …` with registers of these types (tail: further operands, ", 3") and
/// compares every lane with `expected(s…)`: all lanes, some lanes, and with the result in the place
/// of a source.
template <typename D, typename... S, typename Expected>
void expect_lanes(const std::string& opcode, Expected expected, const std::string& tail = "") {
  SCOPED_TRACE(opcode + tail);
  constexpr std::size_t kCount = sizeof...(S);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    const std::array<std::string, kCount> sources{register_name<S>(I + 1)...};
    std::vector<std::string> results{register_name<D>(0)};
    ((sizeof(S) == sizeof(D) ? results.push_back(sources[I]) : void()), ...);
    Numbers numbers;
    for (const std::string& result : results) {
      std::string text = opcode + " " + result;
      for (const std::string& source : sources) text += ", " + source;
      OpsUnderTest ops(text + tail + ";");
      if (!ops.ok()) return;
      for (const Mask exec :
           {kAllLanes, kAllLanes, kAllLanes, Mask{0x8000'0001}, Mask{0x1357'FFF0}}) {
        for (unsigned l = 0; l < kLanes; ++l) {
          ops.lanes<D>(result)[l] = D{};
          ((ops.lanes<S>(sources[I])[l] = numbers.next<S>()), ...);
        }
        D before[kLanes];
        D wanted[kLanes];
        std::memcpy(before, ops.lanes<D>(result), sizeof before);
        for (unsigned l = 0; l < kLanes; ++l) {
          wanted[l] = has_lane(exec, l) ? expected(ops.lanes<S>(sources[I])[l]...) : before[l];
        }
        std::string given[kLanes];
        for (unsigned l = 0; l < kLanes; ++l) {
          ((given[l] += " " + ::testing::PrintToString(ops.lanes<S>(sources[I])[l])), ...);
        }
        ops.run(exec);
        for (unsigned l = 0; l < kLanes; ++l) {
          ASSERT_EQ(ops.lanes<D>(result)[l], wanted[l])
              << "lane " << l << " of" << given[l] << ", result in " << result;
        }
      }
    }
  }
  (std::index_sequence_for<S...>{});
}

}  // namespace ww::sim
