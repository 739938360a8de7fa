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
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <utility>
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
      warp.current = i;
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

/// The number with these bits, of at most 64.
template <typename T>
T from_bits(std::uint64_t bits) {
  T number;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}
template <typename T>
std::uint64_t to_bits(T number) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &number, sizeof number);
  return bits;
}

/// Numbers that make trouble, and others.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed = 1) : random_(seed) {}
  std::uint64_t bits() { return random_(); }
  template <typename T>
  T next() {
    return from_bits<T>(next(sizeof(T)));
  }
  /// As bits of a number of so many bytes; what is above them is of no account.
  std::uint64_t next(unsigned bytes) { return pattern(8 * bytes); }

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

/// A register for numbers of so many bytes.
inline std::string register_name(unsigned bytes, std::size_t index) {
  const char prefix = bytes == 8 ? 'd' : bytes == 4 ? 'r' : bytes == 2 ? 'h' : 'b';
  return std::string("%") + prefix + std::to_string(index);
}
template <typename T>
std::string register_name(std::size_t index) {
  return register_name(sizeof(T), index);
}

/// A type of numbers, for what knows only their bits.
struct LaneType {
  unsigned bytes = 0;
  bool (*are_equal)(std::uint64_t a, std::uint64_t b);
  std::string (*text)(std::uint64_t bits);
};
template <typename T>
LaneType lane_type() {
  return {sizeof(T),
          [](std::uint64_t a, std::uint64_t b) { return from_bits<T>(a) == from_bits<T>(b); },
          [](std::uint64_t bits) { return ::testing::PrintToString(from_bits<T>(bits)); }};
}

/// An opcode, and what it is expected to compute.
struct LaneCheck {
  std::string opcode;
  std::string tail;  // further operands: ", 3"
  LaneType result;
  std::vector<LaneType> sources;
  /// What `function` gives for these sources.
  std::uint64_t (*expected)(void* function, const std::uint64_t* sources);
  void* function;
};
using LaneBits = std::array<std::uint64_t, kLanes>;

/// Runs the instruction with other numbers in these lanes. Whether every lane holds what it should.
inline bool has_right_lanes(const LaneCheck& check, OpsUnderTest& ops, const std::string& result,
                            Mask exec, Numbers& numbers) {
  const auto read = [](const std::byte* lanes, unsigned bytes) {
    LaneBits out{};
    for (unsigned l = 0; l < kLanes; ++l)
      std::memcpy(&out[l], lanes + std::size_t{l} * bytes, bytes);
    return out;
  };
  std::byte* const results = ops.lanes<std::byte>(result);
  std::memset(results, 0, std::size_t{check.result.bytes} * kLanes);
  std::vector<std::byte*> sources;
  for (std::size_t s = 0; s < check.sources.size(); ++s)
    sources.push_back(ops.lanes<std::byte>(register_name(check.sources[s].bytes, s + 1)));
  for (unsigned l = 0; l < kLanes; ++l) {
    for (std::size_t s = 0; s < sources.size(); ++s) {
      const unsigned bytes = check.sources[s].bytes;
      const std::uint64_t bits = numbers.next(bytes);
      std::memcpy(sources[s] + std::size_t{l} * bytes, &bits, bytes);
    }
  }
  std::vector<LaneBits> given;
  for (std::size_t s = 0; s < sources.size(); ++s)
    given.push_back(read(sources[s], check.sources[s].bytes));
  const LaneBits before = read(results, check.result.bytes);
  ops.run(exec);
  const LaneBits after = read(results, check.result.bytes);
  for (unsigned l = 0; l < kLanes; ++l) {
    std::array<std::uint64_t, 8> own{};
    for (std::size_t s = 0; s < given.size(); ++s) own[s] = given[s][l];
    const std::uint64_t wanted =
        has_lane(exec, l) ? check.expected(check.function, own.data()) : before[l];
    if (check.result.are_equal(after[l], wanted)) continue;
    std::string text;
    for (std::size_t s = 0; s < given.size(); ++s) text += " " + check.sources[s].text(own[s]);
    ADD_FAILURE() << check.result.text(after[l]) << ", expected " << check.result.text(wanted)
                  << " in lane " << l << " of" << text << ", result in " << result;
    return false;
  }
  return true;
}

/// All lanes, some lanes, and with the result in the place of a source.
inline void check_lanes(const LaneCheck& check) {
  SCOPED_TRACE(check.opcode + check.tail);
  std::vector<std::string> results{register_name(check.result.bytes, 0)};
  std::string operands;
  for (std::size_t s = 0; s < check.sources.size(); ++s) {
    const std::string source = register_name(check.sources[s].bytes, s + 1);
    if (check.sources[s].bytes == check.result.bytes) results.push_back(source);
    operands += ", " + source;
  }
  Numbers numbers;
  for (const std::string& result : results) {
    OpsUnderTest ops(check.opcode + " " + result + operands + check.tail + ";");
    if (!ops.ok()) return;
    for (const Mask exec :
         {kAllLanes, kAllLanes, kAllLanes, Mask{0x8000'0001}, Mask{0x1357'FFF0}}) {
      if (!has_right_lanes(check, ops, result, exec, numbers)) return;
    }
  }
}

/// Runs `opcode d, s1, s2, …` with registers of these types (tail: further operands, ", 3") and
/// compares every lane with `expected(s…)`. Little of it depends on the types: it is used 150 times.
template <typename D, typename... S, typename Expected>
void expect_lanes(const std::string& opcode, Expected expected, const std::string& tail = "") {
  const auto call = [](void* function, const std::uint64_t* sources) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return to_bits<D>((*static_cast<Expected*>(function))(from_bits<S>(sources[I])...));
    }
    (std::index_sequence_for<S...>{});
  };
  check_lanes({opcode, tail, lane_type<D>(), {lane_type<S>()...}, call, &expected});
}

}  // namespace ww::sim
