// SPDX-License-Identifier: Apache-2.0
#include "engines/random_gemms.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace ww::test {
namespace {

struct TypeChoice {
  GemmTypes types;
  std::vector<std::string> targets;
};

const std::vector<TypeChoice>& type_choices() {
  static const std::vector<TypeChoice> choices = {
      {{.in = "float16"}, {"sm_90a", "sm_80"}},
      {{.in = "bfloat16"}, {"sm_90a", "sm_80"}},
      {{.out = "float16", .tolerance = 5e-2}, {"sm_90a", "sm_80"}},
      {{.in = "float32", .settings = "allow_tf32=True", .tolerance = 5e-2}, {"sm_90a", "sm_80"}},
      {{.in = "int8", .out = "int32"}, {"sm_90a", "sm_80"}},
      {{.in = "uint8", .out = "int32"}, {"sm_90a"}},
      {{.in = "float8_e4m3fn", .tolerance = 2e-2}, {"sm_90a"}},
      {{.in = "float8_e5m2", .tolerance = 2e-2}, {"sm_90a"}},
      {{.in = "float64", .out = "float64", .tolerance = 1e-12}, {"sm_90a", "sm_80"}}};
  return choices;
}

class GemmMaker {
 public:
  explicit GemmMaker(const Choices& choices) : tape_(choices) {}

  RandomGemm make() {
    choose_types();
    choose_units();
    choose_sizes();
    choose_factors();
    // Half of three warps would have different registers.
    c_.is_slice = c_.warps_m != 3 && c_.warps_n != 3 && tape_.one_in(6);
    if (!c_.is_slice) choose_layouts();
    out_.has_normals = tape_.one_in(4);
    return std::move(out_);
  }

 private:
  // A permutation; an ended tape leaves it as it is.
  std::vector<std::size_t> order(std::size_t count) {
    std::vector<std::size_t> out(count);
    std::iota(out.begin(), out.end(), std::size_t{0});
    for (std::size_t i = 0; i + 1 < count; ++i)
      std::swap(
          out[i],
          out[i + static_cast<std::size_t>(tape_.below(static_cast<std::int64_t>(count - i)))]);
    return out;
  }
  Number permuted(const Number& number) {
    Number out;
    for (const std::size_t i : order(number.size())) out.push_back(number[i]);
    return out;
  }

  void choose_types() {
    const TypeChoice& choice = tape_.pick(type_choices());
    c_.types = choice.types;
    c_.target = tape_.pick(choice.targets);
  }

  void choose_units() {
    using Pair = std::pair<std::int64_t, std::int64_t>;
    c_.scope = tape_.pick(std::vector<std::string>{"warp", "cta", "wg"});
    if (c_.scope == "warp") {
      c_.warps = 1 + tape_.below(3);
      return;
    }
    const std::vector<Pair> four = {{2, 2}, {4, 1}, {1, 4}};
    const std::vector<Pair> any = {{1, 1}, {2, 1}, {1, 2}, {2, 2}, {3, 1}, {1, 3}, {2, 3}, {4, 2}};
    const auto [m, n] = tape_.pick(c_.scope == "wg" ? four : any);
    c_.warps_m = m;
    c_.warps_n = n;
    c_.warps = m * n;
    if (tape_.one_in(4)) c_.warps += c_.scope == "wg" ? 4 : 1;  // another unit, or an idle warp
  }

  void choose_sizes() {
    c_.tiles_m = 1 + tape_.below(3);
    c_.tiles_n = 1 + tape_.below(4);
    c_.groups = 1 + tape_.below(5);
    c_.turns_a = tape_.one_in(2);
    c_.turns_b = tape_.one_in(2);
  }

  void choose_factors() {
    c_.beta = tape_.pick(std::vector<std::string>{"1.0", "", "0.0", "2.0", "-1.0"});
    if (tape_.one_in(4)) c_.alpha = tape_.pick(std::vector<std::string>{"2.0", "-1.0", "0.0"});
    c_.has_own_c = tape_.one_in(3);
  }

  void choose_layouts() {
    c_.m = permuted(natural_m(c_, true));
    c_.n = permuted(natural_n(c_, true));
    c_.k = permuted(natural_k(c_, true));
    for (auto* each : {&c_.d_order, &c_.a_order, &c_.b_order, &c_.c_order})
      if (tape_.one_in(2)) *each = order(kMaxDigits);
    const bool has_one_unit = c_.scope == "cta" || (c_.scope == "warp" && c_.warps == 1);
    if (has_one_unit && tape_.one_in(5)) {
      choose_shared();
      return;
    }
    out_.is_consistent = !tape_.one_in(5);
    if (!out_.is_consistent) choose_fault();
  }

  void choose_shared() {
    c_.settings = "stage=True";
    const std::int64_t which = tape_.below(3);
    if (which != 1) c_.shared_a = "plain";
    if (which != 2) c_.shared_b = "plain";
    // A fragment that stays in registers has its values of k in some order; the one that is made
    // has them in the natural one.
    c_.k = {};
  }

  // One number of one operand in an order of its own, or two of its digits in each other's place.
  void choose_fault() {
    const auto both = [&](const Number& rows, const Number& columns, bool is_turned, Role role) {
      return fragment(c_, role, is_turned ? columns : rows, is_turned ? rows : columns);
    };
    switch (tape_.below(10)) {
      case 0:
        c_.a_layout = both(permuted(c_.m), c_.k, c_.turns_a, Role::A);
        break;
      case 1:
        c_.a_layout = both(c_.m, permuted(c_.k), c_.turns_a, Role::A);
        break;
      case 2:
        c_.b_layout = both(permuted(c_.k), c_.n, c_.turns_b, Role::B);
        break;
      case 3:
        c_.b_layout = both(c_.k, permuted(c_.n), c_.turns_b, Role::B);
        break;
      case 4:
        c_.d_layout = both(permuted(c_.m), c_.n, false, Role::D);
        break;
      case 5:
        c_.c_layout = both(c_.m, permuted(c_.n), false, Role::C);
        break;
      case 6:
        c_.a_layout = exchanged(both(c_.m, c_.k, c_.turns_a, Role::A));
        break;
      case 7:
        c_.b_layout = exchanged(both(c_.k, c_.n, c_.turns_b, Role::B));
        break;
      case 8:
        c_.c_layout = exchanged(both(c_.m, c_.n, false, Role::C));
        break;
      default:
        c_.d_layout = exchanged(both(c_.m, c_.n, false, Role::D));
        break;
    }
  }

  // The layout with two digits, of two values each, in each other's place: whatever told the values
  // of one apart, a lane, a warp, a register or a part of it, now does so for the other.
  std::string exchanged(const std::string& notation) {
    const std::size_t middle = notation.find(" : (");
    std::vector<std::string> extents = split(notation.substr(3, middle - 5));
    const std::size_t begin = middle + 4, end = notation.find(",)", begin);
    std::vector<std::string> strides = split(notation.substr(begin, end - begin));
    std::vector<std::size_t> twos;
    for (std::size_t i = 0; i < extents.size(); ++i)
      if (extents[i] == "2") twos.push_back(i);
    const std::vector<std::size_t> chosen = order(twos.size());
    std::swap(strides[twos[chosen[0]]], strides[twos[chosen[1]]]);
    return notation.substr(0, begin) + fmt::format("{}", fmt::join(strides, ", ")) +
           notation.substr(end);
  }
  static std::vector<std::string> split(const std::string& list) {
    std::vector<std::string> out;
    for (std::size_t at = 0; at < list.size();) {
      const std::size_t comma = std::min(list.find(", ", at), list.size());
      out.push_back(list.substr(at, comma - at));
      at = comma + 2;
    }
    return out;
  }

  static constexpr std::size_t kMaxDigits = 12;

  Tape tape_;
  RandomGemm out_;
  GemmCase& c_ = out_.gemm;
};

}  // namespace

RandomGemm random_gemm(const Choices& choices) { return GemmMaker(choices).make(); }

}  // namespace ww::test
