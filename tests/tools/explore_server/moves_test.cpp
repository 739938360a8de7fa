// SPDX-License-Identifier: Apache-2.0
// The moves of primitives: what the lanes, the copy engine and the tensor core touch, against what the
// layouts and the primitive itself say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/explore_server/requests.h"
#include "tools/explore_server/server.h"

namespace ww::explore_server_test::moves_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class ExploreMoves : public testing::Test {
 protected:
  /// Of the primitive in the first line of an example that has a text.
  static json ask(const std::string& name, const std::string& text,
                  const std::string& kernel = "") {
    static const Server server;
    json request = program(example(name), kernel);
    const std::string source = request["source"];
    const std::size_t at = source.find(text);
    EXPECT_NE(at, std::string::npos) << text;
    request["line"] = 1 + std::count(source.begin(), source.begin() + static_cast<long>(at), '\n');
    json moves = json::parse(server.post("moves", request.dump()).body);
    EXPECT_EQ(moves["errors"], "");
    EXPECT_EQ(moves["is_cut"], false);
    return moves;
  }
};

/// The element that each byte of a side belongs to, by the byte's place in what is moved.
std::map<std::int64_t, std::int64_t> elements_of(const json& side, std::int64_t element_bytes) {
  std::map<std::int64_t, std::int64_t> out;
  const json& pieces = side["pieces"];
  for (std::size_t i = 0; i < pieces["at"].size(); ++i)
    for (std::int64_t e = 0; e < pieces["counts"][i]; ++e)
      out[pieces["at"][i].get<std::int64_t>() + e * element_bytes] =
          pieces["elements"][i].get<std::int64_t>() + e;
  return out;
}

// The sides with that name, of one round.
std::vector<json> sides(const json& moves, const std::string& side, int round) {
  std::vector<json> out;
  for (const json& each : moves["engine"])
    if (each["side"] == side && each["round"] == round) out.push_back(each);
  return out;
}

TEST_F(ExploreMoves, MovesAreThoseOfTheInstruction) {
  const json moves = ask("transpose.py", "turned[:, :])");
  ASSERT_EQ(moves["instructions"].size(), 16U);  // four of each of four warps
  std::vector<int> seen;
  for (const json& each : moves["instructions"]) {
    EXPECT_THAT(each["opcode"].get<std::string>(), HasSubstr("ldmatrix"));
    EXPECT_EQ(each["buffer"], "turned");
    EXPECT_EQ(each["wavefronts"], each["ideal"]);
    for (const json& lane : each["elements"])
      for (const int element : lane) seen.push_back(element);
  }
  // Every element of the tile once.
  std::ranges::sort(seen);
  ASSERT_EQ(seen.size(), 4096U);
  for (int i = 0; i < 4096; ++i) ASSERT_EQ(seen[static_cast<std::size_t>(i)], i);
}

// X_s[stage, r, c] = A[r, 64 * round + c], through a swizzle of 128 bytes.
TEST_F(ExploreMoves, ABoxHasTheSameElementsOnBothSides) {
  const json moves = ask("gemm_hopper.py", "Tx.copy_async(X_s");
  EXPECT_EQ(moves["instructions"].size(), 0U);
  for (int round = 0; round < 8; ++round) {
    const auto from = sides(moves, "from", round), to = sides(moves, "to", round);
    ASSERT_EQ(from.size(), 1U);
    ASSERT_EQ(to.size(), 1U);
    EXPECT_EQ(from[0]["buffer"], "A");
    EXPECT_EQ(to[0]["buffer"], "X_s");
    EXPECT_EQ(to[0]["mbarrier"]["bytes"], 16384);
    const auto a = elements_of(from[0], 2), x = elements_of(to[0], 2);
    ASSERT_EQ(a.size(), 128U * 64);
    ASSERT_EQ(x.size(), a.size());
    for (const auto& [at, element] : a) {
      const std::int64_t row = element % (256 * 128) / 256, column = element % 64;
      ASSERT_EQ(x.at(at), round % 4 * 128 * 64 + row * 64 + column) << at;
    }
  }
}

TEST_F(ExploreMoves, ASwizzleMovesChunksOfEightElements) {
  const json to = sides(ask("gemm_hopper.py", "Tx.copy_async(X_s"), "to", 0)[0];
  // Row 1 of the swizzle of 128 bytes: chunk 0 lies in the place of chunk 1.
  const json& pieces = to["pieces"];
  const auto at = std::ranges::find(pieces["at"], json(128));
  ASSERT_NE(at, pieces["at"].end());
  const auto i = static_cast<std::size_t>(at - pieces["at"].begin());
  EXPECT_EQ(pieces["addresses"][i], 144);
  EXPECT_EQ(pieces["bytes"][i], 16);
}

// What lies outside the array takes room in shared memory and has no bytes in global memory.
TEST_F(ExploreMoves, AStoreHasItsBoxInTheArray) {
  const json moves = ask("gemm_hopper.py", "Tx.copy_async(D[");
  const auto from = sides(moves, "from", 0), to = sides(moves, "to", 0);
  ASSERT_FALSE(to.empty());
  EXPECT_EQ(from[0]["space"], "shared");
  EXPECT_EQ(to[0]["space"], "global");
  EXPECT_TRUE(to[0]["mbarrier"].is_null());
  EXPECT_EQ(elements_of(from[0], 2).size(), elements_of(to[0], 2).size());
}

// Each CTA loads its half of B and the copy engine puts it into both.
TEST_F(ExploreMoves, AMulticastLandsInAllCtas) {
  const json moves = ask("cluster_multicast.py", "split=True");
  EXPECT_EQ(moves["ctas"], 2);
  EXPECT_EQ(sides(moves, "from", 0).size(), 2U);
  std::map<int, std::int64_t> heard;               // by CTA: bytes
  std::map<int, std::set<std::int64_t>> elements;  // by CTA
  for (const json& to : sides(moves, "to", 0)) {
    EXPECT_EQ(to["mbarrier"]["cta"], to["cta"]);
    heard[to["cta"]] += to["mbarrier"]["bytes"].get<std::int64_t>();
    for (const auto& [at, element] : elements_of(to, 4)) elements[to["cta"]].insert(element);
  }
  EXPECT_EQ(heard, (std::map<int, std::int64_t>{{0, 16384}, {1, 16384}}));
  EXPECT_EQ(elements[0].size(), 64U * 64);
  EXPECT_EQ(elements[1].size(), 64U * 64);
}

TEST_F(ExploreMoves, TheSlicesOfAProductAreThoseOfItsOperands) {
  const json moves = ask("gemm_hopper.py", "Tx.wg.gemm_async(");
  // The four instructions of the first k block, each 16 elements further along k.
  std::map<int, std::vector<json>> by_line;
  for (const json& each : moves["engine"])
    if (each["round"] == 0) by_line[each["line"]].push_back(each);
  ASSERT_GE(by_line.size(), 4U);
  std::int64_t k = 0;
  for (const auto& [line, rows] : by_line) {
    if (k == 64) break;
    std::size_t a_elements = 0, b_elements = 0;
    for (const json& row : rows) {
      if (row["side"] == "D") continue;
      const std::string side = row["side"];
      const std::int64_t first = side == "A" ? row["warp"].get<int>() / 4 * 64 : 0;
      for (const auto& [at, element] : elements_of(row, 2)) {
        ASSERT_EQ(element / 64, first + at / 32) << side;  // the line of the operand
        ASSERT_EQ(element % 64, k + at % 32 / 2) << side;
      }
      if (side == "A") a_elements += elements_of(row, 2).size();
      if (side == "B") b_elements = elements_of(row, 2).size();
    }
    EXPECT_EQ(a_elements, 128U * 16);  // of two warpgroups
    EXPECT_EQ(b_elements, 256U * 16);
    k += 16;
  }
}

// As the layout of the accumulator has it: S[(4,2,8,32,4,2):(1@wid_in_wg,2,4@laneid,4,1@laneid,1)].
TEST_F(ExploreMoves, AnAccumulatorIsHeldAsItsLayoutSays) {
  const json moves = ask("gemm_hopper.py", "Tx.wg.gemm_async(");
  std::set<int> seen;
  for (const json& fragment : moves["fragments"]) {
    EXPECT_EQ(fragment["side"], "D");
    ASSERT_EQ(fragment["columns"], 256);
    for (int lane = 0; lane < 32; ++lane) {
      const json& held = fragment["held"][static_cast<std::size_t>(lane)];
      for (std::size_t i = 0; i < held.size(); ++i) {
        const int row = held[i].get<int>() / 256, column = held[i].get<int>() % 256;
        ASSERT_TRUE(seen.insert(held[i].get<int>()).second);
        EXPECT_EQ(row / 16, fragment["warp"]);
        EXPECT_EQ(row % 8 * 4 + column % 8 / 2, lane);
        EXPECT_EQ(column / 8 * 4 + row / 8 % 2 * 2 + column % 2, static_cast<int>(i));
      }
    }
  }
  EXPECT_EQ(seen.size(), 64U * 256);
}

}  // namespace
}  // namespace ww::explore_server_test::moves_test
