// SPDX-License-Identifier: Apache-2.0
#include "runtime/ptxas_remarks.h"

#include <algorithm>
#include <iterator>

#include "base/split.h"

namespace ww::runtime {
namespace {

struct Row {
  std::string_view code, why;
};
// Reproduced with ptxas 13.0, but for C7510 and C7515, which build logs of others show.
constexpr Row kRows[] = {
    {"C7504", "`setmaxnreg` is ignored in separate compilation: assemble without `-c`"},
    {"C7505", "`setmaxnreg` is ignored with `-g`"},
    {"C7508",
     "`setmaxnreg` is ignored: the kernel needs `.maxnreg`, or `.maxntid` with `.minnctapersm`, "
     "and "
     "no calls to other modules"},
    {"C7509", "an extern call between wgmma instructions: inline it"},
    {"C7510", "a call between wgmma instructions: inline it"},
    {"C7511", "not enough registers for the wgmma pipeline: a smaller tile, or one accumulator"},
    {"C7512",
     "not enough registers, or an accumulator is written between two wgmma: wait for group 0 "
     "first"},
    {"C7513", "registers of A change while a wgmma reads them: wait for its group first"},
    {"C7514",
     "an accumulator is read before its group is waited for, also across the end of a loop: "
     "`wgmma.wait_group 0` behind the loop, one accumulator in flight"},
    {"C7515", "an accumulator is written by other code before its group is waited for"},
    {"C7518", "no `wgmma.wait_group` in a branch that only some threads take"},
    {"C7520", "no `wgmma.fence` in a branch that only some threads take"},
};

}  // namespace

std::vector<PtxasRemark> slow_remarks(std::string_view output) {
  std::vector<PtxasRemark> out;
  for (const std::string_view line : split_words(output, '\n')) {
    const auto* const row = std::ranges::find_if(
        kRows, [&](const Row& each) { return line.find(each.code) != std::string_view::npos; });
    if (row != std::end(kRows)) out.push_back({std::string(line), row->why});
  }
  return out;
}

}  // namespace ww::runtime
