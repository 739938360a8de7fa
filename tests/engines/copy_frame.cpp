// SPDX-License-Identifier: Apache-2.0
#include "engines/copy_frame.h"

#include <fmt/format.h>

namespace ww::test {

CopyFrame::CopyFrame(Tape& tape) {
  static const std::vector<std::string> kTypes = {
      "float32",  "float16", "uint8",       "int64",  "bfloat16", "float8_e4m3fn", "float16",
      "bfloat16", "int32",   "float8_e5m2", "uint16", "float64",  "int8",          "bool"};
  dtype = tape.pick(kTypes);
  target = tape.one_in(5) ? "sm_100a" : tape.one_in(6) ? "sm_80" : "sm_90a";
  choose_unit(tape);
  choose_fragment(tape);
  if (fragment.words == 0) choose_tile(tape);
  loop = tape.one_in(3) ? 2 + tape.below(2) : 0;
  has_scalar = tape.one_in(4);
  scalar = has_scalar ? 1 + tape.below(3) : 0;
  ctas = tape.one_in(6) ? 2 : 1;
}

void CopyFrame::choose_unit(Tape& tape) {
  switch (tape.below(6)) {
    case 0:
    case 1:
    case 5:
      threads = tape.pick<std::int64_t>({32, 64, 96});
      unit = {"warp", 32, {{{"laneid", 32}}}, "warp"};
      break;
    case 2:
      threads = tape.pick<std::int64_t>({128, 256});
      unit = {"wg", 128, {{{"tid_in_wg", 128}}, {{"laneid", 32}, {"wid_in_wg", 4}}}, "wg"};
      break;
    case 3:
      threads = tape.pick<std::int64_t>({64, 128, 96, 48});
      unit = {"cta", threads, {{{"tx", threads}}}, ""};
      if (threads % 32 == 0) unit.axes.push_back({{"laneid", 32}, {"warpid", threads / 32}});
      break;
    default:
      threads = 32;
      unit = {"thread", 1, {{}}, "tid"};
  }
  only_unit = -1;
  const std::int64_t units = threads / unit.threads;
  if (units == 1 || unit.scope == "thread") return;
  if (tape.one_in(3)) {
    only_unit = tape.below(units);
    guard = fmt::format("{} == {}", unit.number, only_unit);
  } else if (tape.one_in(4)) {
    static const std::vector<std::string> kGuards = {"{} < {}", "{} >= {}", "{} % 2 != {} % 2"};
    const std::string& form = tape.pick(kGuards);
    guard = fmt::format(fmt::runtime(form), unit.number, 1 + tape.below(units - 1));
  }
}

// A tile that the fragments of matrix instructions divide, for two in three programs. Turned
// bytes are fragments of sm_100a only, with words of 32 bits for loads and of 16 bits for stores.
void CopyFrame::choose_fragment(Tape& tape) {
  const int bits = bits_of(dtype);
  const bool has_warps = unit.threads % 32 == 0;
  if (!has_warps || bits > 32 || tape.below(3) == 0) return;
  fragment.words = 32 / bits;
  const bool may_turn = bits == 16 || (bits == 8 && target == "sm_100a");
  fragment.is_turned = may_turn && tape.one_in(2);
  fragment.warps = unit.threads / 32;
  fragment.high = 1 + tape.below(3);
  if (bits == 8 && fragment.is_turned) {
    fragment.words = tape.one_in(2) ? 2 : 4;
    fragment.high = 2;
  }
  fragment.wide = 1 + tape.below(4);
  const std::int64_t rows = fragment.warps * fragment.high * 8;
  const std::int64_t columns = fragment.wide * 4 * fragment.words;
  tile = fragment.is_turned ? Extents{columns, rows} : Extents{rows, columns};
}

void CopyFrame::choose_tile(Tape& tape) {
  static const std::vector<Extents> kSmall = {{8},    {4},  {2, 4}, {3},   {5},
                                              {2, 3}, {16}, {1},    {4, 4}};
  static const std::vector<Extents> kLarge = {
      {32, 8},      {8, 4, 2}, {32, 4},  {16, 16}, {8, 16},  {64, 4}, {8, 8},
      {16, 8, 2},   {33, 4},   {32, 16}, {4, 6},   {7, 9},   {64, 8}, {128},
      {8, 4, 4, 2}, {96, 2},   {24, 8},  {1, 8},   {128, 8}, {5, 32}, {12, 20}};
  tile = tape.pick(unit.threads == 1 ? kSmall : kLarge);
}

}  // namespace ww::test
