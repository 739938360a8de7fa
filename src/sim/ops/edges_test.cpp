// SPDX-License-Identifier: Apache-2.0
// Integers at the ends of their types, divided by 0, shifted beyond their width and made of NaN:
// what an H200 gives. The manual leaves some of it open. An 8-bit result is extended to the
// register.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/ops/test_warp.h"
#include "sim/test_run.h"

namespace ww::sim::ops_edges_test {
namespace {

char letter(int bits) { return bits == 64 ? 'd' : bits == 16 ? 'h' : 'r'; }

std::uint64_t value_of(OpsUnderTest& ops, char name, int number) {
  const std::string reg = std::string("%") + name + std::to_string(number);
  switch (name) {
    case 'd':
      return ops.lanes<std::uint64_t>(reg)[0];
    case 'h':
      return ops.lanes<std::uint16_t>(reg)[0];
    default:
      return ops.lanes<std::uint32_t>(reg)[0];
  }
}
void set(OpsUnderTest& ops, char name, int number, std::uint64_t value) {
  const std::string reg = std::string("%") + name + std::to_string(number);
  switch (name) {
    case 'd':
      ops.lanes<std::uint64_t>(reg)[0] = value;
      return;
    case 'h':
      ops.lanes<std::uint16_t>(reg)[0] = static_cast<std::uint16_t>(value);
      return;
    default:
      ops.lanes<std::uint32_t>(reg)[0] = static_cast<std::uint32_t>(value);
  }
}

struct Arithmetic {
  std::string_view opcode;
  std::vector<std::array<std::uint64_t, 3>> cases;  // operands, result
};

const Arithmetic kArithmetic[] = {
#define WW_EDGE(opcode, ...) {opcode, {__VA_ARGS__}},
#include "sim/ops/test_edges.def"
#undef WW_EDGE
};

TEST(SimEdges, Arithmetic) {
  for (const Arithmetic& row : kArithmetic) {
    const std::string opcode(row.opcode);
    const int bits = std::stoi(opcode.substr(opcode.find_last_not_of("0123456789") + 1));
    const bool is_unary = opcode.starts_with("abs");
    const char own = letter(bits);
    const char by = opcode.starts_with("sh") ? 'r' : own;
    std::string text = opcode + " %" + own + "0, %" + own + "1";
    if (!is_unary) text += std::string(", %") + by + "2";
    for (const auto& [a, b, result] : row.cases) {
      OpsUnderTest ops(text + ";");
      ASSERT_TRUE(ops.ok());
      set(ops, own, 1, a);
      if (!is_unary) set(ops, by, 2, b);
      ops.run();
      EXPECT_EQ(value_of(ops, own, 0), result) << text << " of " << a << ", " << b;
    }
  }
}

using FloatBits = std::vector<std::uint64_t>;
const std::map<std::string_view, FloatBits> kFloats = {
#define WW_FLOAT_EDGE_OPERANDS(from, ...) {from, {__VA_ARGS__}},
#include "sim/ops/test_edges.def"
#undef WW_FLOAT_EDGE_OPERANDS
};

struct Conversion {
  std::string_view to;
  std::string_view from;
  FloatBits results;
};
const Conversion kConversions[] = {
#define WW_FLOAT_EDGE(to, from, ...) {to, from, {__VA_ARGS__}},
#include "sim/ops/test_edges.def"
#undef WW_FLOAT_EDGE
};

TEST(SimEdges, FloatsToIntegers) {
  const auto bits_of = [](std::string_view type) {
    return std::stoi(std::string(type.substr(type.find_first_of("0123456789"))));
  };
  for (const Conversion& row : kConversions) {
    const int to_bits = bits_of(row.to);
    const char to = to_bits == 8 ? 'r' : letter(to_bits);
    const char from = letter(bits_of(row.from));
    const std::string text = "cvt.rzi." + std::string(row.to) + "." + std::string(row.from) + " %" +
                             to + "0, %" + from + "1;";
    const FloatBits& operands = kFloats.at(row.from);
    ASSERT_EQ(operands.size(), row.results.size()) << text;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      OpsUnderTest ops(text);
      ASSERT_TRUE(ops.ok());
      set(ops, from, 1, operands[i]);
      ops.run();
      EXPECT_EQ(value_of(ops, to, 0), row.results[i]) << text << " of " << std::hex << operands[i];
    }
  }
}

// Lane l holds 100 + l; `!`: the lane had no source, and keeps its own.
struct Exchange {
  std::string_view mode;
  std::uint32_t by = 0;
  std::uint32_t bounds = 0;
  std::string_view result;
};

constexpr Exchange kExchanges[] = {
#define WW_SHUFFLE_EDGE(mode, by, bounds, result) {mode, by, bounds, result},
#include "sim/ops/test_edges.def"
#undef WW_SHUFFLE_EDGE
};

TEST(SimEdges, Shuffles) {
  for (const Exchange& row : kExchanges) {
    TestRun test(fmt::format("mov.u32 %r3, %laneid; add.u32 %r1, %r3, 100; mov.u32 %r2, {};\n"
                             "shfl.sync.{}.b32 %r0|%p0, %r1, %r2, {}, 0xffffffff;\n"
                             "selp.u32 %r4, 1, 0, %p0; mul.wide.u32 %d1, %r3, 8;\n"
                             "add.u64 %d1, %a0, %d1; st.global.u32 [%d1], %r0;\n"
                             "st.global.u32 [%d1+4], %r4;",
                             row.by, row.mode, row.bounds),
                 1);
    test.launch.block = {32};
    test.output<std::uint32_t>(64);
    test.run();
    EXPECT_EQ(test.findings(), "");
    const auto results = test.read<std::uint32_t>(0);
    std::string seen;
    for (std::size_t l = 0; l < 32; ++l) {
      seen += (l == 0 ? "" : " ") + std::to_string(results[2 * l]);
      if (results[2 * l + 1] == 0) seen += "!";
    }
    EXPECT_EQ(seen, row.result) << row.mode << " by " << row.by << " within " << row.bounds;
  }
}

}  // namespace
}  // namespace ww::sim::ops_edges_test
