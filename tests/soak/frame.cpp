// SPDX-License-Identifier: Apache-2.0
#include "soak/frame.h"

#include <cstdlib>
#include <utility>
#include <vector>

namespace ww::test {
namespace {

constexpr std::int64_t kMaxElements = 4096;  // of a tile of all units

struct TypeChoice {
  GemmTypes types;
  int least;  // architecture
};

class Chooser {
 public:
  explicit Chooser(Tape& tape) : tape_(tape) {}

  Frame choose() {
    f_.target = choose_target(tape_);
    f_.is_first_spelling = tape_.one_in(4);
    choose_unit();
    f_.ctas = 1 + tape_.below(3);
    f_.has_pool = tape_.one_in(3);
    f_.has_tensor = can_have_tensor() && f_.scope == "wg" && tape_.below(4) != 3;
    const bool has_warps = f_.unit_threads % 32 == 0 && !f_.has_tensor;
    f_.has_products = has_warps && f_.number() >= 80 && tape_.one_in(2);
    if (f_.has_products || (has_warps && tape_.one_in(3)))
      choose_fragments();
    else if (f_.has_tensor)
      choose_rows_of_lanes();
    else
      choose_rows();
    return std::move(f_);
  }

 private:
  [[nodiscard]] bool can_have_tensor() const {
    const int number = f_.number();
    const bool is_own = f_.target.ends_with('a') || f_.target.ends_with('f');
    return number >= 100 && number < 120 && is_own;
  }

  void choose_unit() {
    // Tensor memory is for warpgroups.
    const std::int64_t which = tape_.below(4);
    switch (which == 3 && can_have_tensor() ? 1 : which) {
      case 0:
      case 3:
        f_.scope = "warp", f_.axis = "laneid", f_.unit = "warp";
        f_.unit_threads = 32;
        f_.threads = tape_.pick<std::int64_t>({64, 32, 96, 128});
        break;
      case 1:
        f_.scope = "wg", f_.axis = "tid_in_wg", f_.unit = "wg";
        f_.unit_threads = 128;
        f_.threads = tape_.pick<std::int64_t>({128, 256});
        break;
      default:
        f_.scope = "cta", f_.axis = "tx";
        f_.unit_threads = f_.threads = tape_.pick<std::int64_t>({64, 128, 96, 32, 48, 40});
    }
    f_.units = f_.threads / f_.unit_threads;
    if (f_.units == 1) f_.unit = "0";
  }

  void choose_rows() {
    std::vector<std::int64_t> divisors;
    for (std::int64_t d = 1; d <= f_.unit_threads; ++d)
      if (f_.unit_threads % d == 0) divisors.push_back(d);
    f_.of_row = tape_.pick(divisors);
    f_.each = tape_.pick<std::int64_t>({4, 8, 2, 1, 3, 5, 7});
    f_.rounds = 1 + tape_.below(3);
    while (f_.rounds > 1 && f_.rounds * f_.each * f_.threads > kMaxElements) --f_.rounds;
    f_.tile = {f_.rounds * f_.unit_threads / f_.of_row, f_.of_row * f_.each};
  }

  // A row per thread, or a shape of tcgen05.ld: both have 128 rows.
  void choose_rows_of_lanes() {
    static const std::vector<std::string> kAtoms = {"16x64b", "16x128b", "16x256b"};
    constexpr std::int64_t kLanes = 128;
    if (tape_.one_in(3)) {
      f_.spread = Spread::Atoms;
      f_.atom = tape_.pick(kAtoms);
    }
    f_.each = tape_.pick<std::int64_t>({8, 4, 16, 32});
    if (f_.spread == Spread::Atoms) f_.each = 32;  // bytes, too, fill eight columns
    f_.tile = {kLanes, f_.each};
  }

  void choose_fragments() {
    static const std::vector<TypeChoice> kTypes = {
        {{.in = "float16"}, 80},
        {{.in = "bfloat16"}, 80},
        {{.out = "float16"}, 80},
        {{.in = "float32", .settings = "allow_tf32=True"}, 80},
        {{.in = "int8", .out = "int32"}, 80},
        {{.in = "float8_e4m3fn"}, 89},
        {{.in = "uint8", .out = "int32"}, 80},
        {{.in = "float64", .out = "float64"}, 80},
        {{.in = "float8_e5m2"}, 89}};
    GemmCase& gemm = f_.gemm;
    const TypeChoice& choice = tape_.pick(kTypes);
    gemm.types = f_.number() < choice.least ? kTypes[0].types : choice.types;
    gemm.scope = f_.scope;
    gemm.warps_m = f_.unit_threads / 32;
    gemm.tiles_m = gemm.warps_m > 2 ? 1 : 1 + tape_.below(2);
    gemm.tiles_n = 1 + tape_.below(3);
    gemm.groups = 1 + tape_.below(3);
    gemm.turns_b = tape_.one_in(3);
    f_.spread = Spread::Fragments;
    f_.tile = {gemm.size_m(), gemm.size_n()};
    const bool is_permuted = tape_.one_in(3);
    f_.m = natural_m(gemm, is_permuted);
    f_.n = natural_n(gemm, is_permuted);
    f_.k = natural_k(gemm, is_permuted);
    if (!is_permuted) return;
    for (Number* each : {&f_.m, &f_.n, &f_.k}) *each = permuted(*each);
  }
  Number permuted(const Number& number) {
    Number out;
    for (const std::size_t i : choose_order(tape_, number.size())) out.push_back(number[i]);
    return out;
  }

  Tape& tape_;
  Frame f_;
};

}  // namespace

std::string choose_target(Tape& tape) {
  static const std::vector<std::string> kTargets = {
      "sm_90a", "sm_80",  "sm_100a", "sm_120a", "sm_103a", "sm_89",   "sm_90",   "sm_75",
      "sm_86",  "sm_90a", "sm_100a", "sm_110a", "sm_100f", "sm_121a", "sm_103f", "sm_88"};
  return tape.pick(kTargets);
}
int number_of_target(const std::string& target) { return std::atoi(target.c_str() + 3); }
int Frame::number() const { return number_of_target(target); }
std::string Frame::parts(bool is_all) const { return is_all ? "0:" + std::to_string(units) : unit; }

std::vector<std::size_t> choose_order(Tape& tape, std::size_t count) {
  std::vector<std::size_t> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = i;
  for (std::size_t i = 0; i + 1 < count; ++i)
    std::swap(out[i],
              out[i + static_cast<std::size_t>(tape.below(static_cast<std::int64_t>(count - i)))]);
  return out;
}

Frame choose_frame(Tape& tape) { return Chooser(tape).choose(); }

}  // namespace ww::test
