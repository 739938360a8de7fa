// SPDX-License-Identifier: Apache-2.0
#include "engines/gemm_programs.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace ww::test {
namespace {

using Kind = Digit::Kind;

// Digits of one kind, outermost first, that count to the product of `extents`.
void add_digits(Number& to, Kind kind, const std::vector<std::int64_t>& extents) {
  std::int64_t weight = 1;
  for (const std::int64_t extent : extents) weight *= extent;
  for (const std::int64_t extent : extents) {
    weight /= extent;
    if (extent > 1) to.push_back({kind, extent, weight});
  }
}

std::vector<std::int64_t> factors(std::int64_t n, bool is_fine) {
  if (!is_fine) return {n};
  std::vector<std::int64_t> out;
  for (std::int64_t p = 2; n > 1; ++p)
    for (; n % p == 0; n /= p) out.push_back(p);
  return out;
}

std::int64_t tile_m(const GemmCase& c) { return c.half_tile ? 1 : 2; }

// --- where digits lie ----------------------------------------------------------------------------

/// Strides of the digits of an operand.
class Places {
 public:
  Places(const GemmCase& c, Role role, const Number& first, const Number& second,
         const std::vector<std::size_t>& order)
      : c_(c), role_(role), digits_(first) {
    digits_.insert(digits_.end(), second.begin(), second.end());
    first_count_ = first.size();
    strides_.resize(digits_.size());
    place_registers(order);
    for (std::size_t i = 0; i < digits_.size(); ++i)
      if (strides_[i].empty()) strides_[i] = thread_stride(digits_[i], is_n(i));
  }

  [[nodiscard]] std::string text() const {
    std::vector<std::int64_t> extents;
    for (const Digit& digit : digits_) extents.push_back(digit.extent);
    return fmt::format("S[({},) : ({},)]", fmt::join(extents, ", "), fmt::join(strides_, ", ")) +
           replica();
  }

 private:
  // Is the i-th digit one of N? A has none, all others have it as one of their numbers.
  [[nodiscard]] bool is_n(std::size_t i) const {
    if (role_ == Role::A) return false;
    if (role_ != Role::B) return i >= first_count_;
    return (i < first_count_) == c_.turns_b;
  }
  [[nodiscard]] bool is_in_d() const { return role_ == Role::D || role_ == Role::C; }
  [[nodiscard]] bool is_register(const Digit& digit) const {
    return digit.kind == Kind::Tile || digit.kind == Kind::Word ||
           (digit.kind == Kind::Pair && is_in_d());
  }

  // Parts of a 32-bit register are innermost, the rest in any order.
  void place_registers(const std::vector<std::size_t>& order) {
    std::vector<std::size_t> free;
    std::int64_t span = 1;
    const bool has_halves = is_in_d() && bits_of(c_.types.out) < 32;
    for (std::size_t i = digits_.size(); i-- > 0;) {
      if (!is_register(digits_[i])) continue;
      const bool is_part =
          digits_[i].kind == Kind::Word || (digits_[i].kind == Kind::Pair && has_halves);
      if (!is_part) {
        free.push_back(i);
        continue;
      }
      strides_[i] = std::to_string(digits_[i].weight);
      span *= digits_[i].extent;
    }
    std::vector<std::size_t> inside;  // out of `free`
    for (const std::size_t at : order)
      if (at < free.size()) inside.push_back(at);
    for (std::size_t at = inside.size(); at < free.size(); ++at) inside.push_back(at);
    for (const std::size_t at : inside) {
      strides_[free[at]] = std::to_string(span);
      span *= digits_[free[at]].extent;
    }
  }

  [[nodiscard]] std::string thread_stride(const Digit& digit, bool is_n) const {
    const auto lanes = [&](std::int64_t step) {
      return fmt::format("{} @ laneid", step * digit.weight);
    };
    switch (digit.kind) {
      case Kind::Warp:
        return warps(is_n ? c_.warps_m * digit.weight : digit.weight);
      case Kind::Row:
        return lanes(4);
      case Kind::Quad:
        return lanes(role_ == Role::B && is_n ? 8 : 1);
      default:
        return lanes(4);  // a pair of B
    }
  }
  [[nodiscard]] std::string warps(std::int64_t step) const {
    return fmt::format("{} @ {}", step, c_.scope == "wg" ? "wid_in_wg" : "warpid");
  }
  // Warps of one row of the product hold the same part of A, those of one column the same of B.
  [[nodiscard]] std::string replica() const {
    if (role_ == Role::A && c_.warps_n > 1)
      return fmt::format(" + R[({},) : ({},)]", c_.warps_n, warps(c_.warps_m));
    if (role_ == Role::B && c_.warps_m > 1)
      return fmt::format(" + R[({},) : ({},)]", c_.warps_m, warps(1));
    return "";
  }

  const GemmCase& c_;
  Role role_;
  Number digits_;
  std::size_t first_count_ = 0;
  std::vector<std::string> strides_;
};

// --- the text ------------------------------------------------------------------------------------

struct Matrix {
  std::string name;
  std::string dtype;
  Extents shape;   // of the buffer
  Extents region;  // of the product: its extents, at the end of the buffer
  std::string layout;
  std::string shared;  // its layout, where the operand is in shared memory
};

class Writer {
 public:
  explicit Writer(const GemmCase& c) : c_(c), text_(threads(c), c.types.in) {}

  std::string write() {
    const Matrix d = matrix(Role::D, "D", c_.d_layout, c_.d_order);
    const Matrix a = matrix(Role::A, "A", c_.a_layout, c_.a_order);
    const Matrix b = matrix(Role::B, "B", c_.b_layout, c_.b_order);
    const Matrix own_c = matrix(Role::C, "C", c_.c_layout, c_.c_order);
    for (const Matrix* each : {&a, &b}) bring(*each, each->name);
    if (c_.uses_c() && c_.has_own_c) bring(own_c, "C");
    declare(d);
    if ((c_.uses_c() && !c_.has_own_c) || c_.is_slice) fill(d, "D");
    if (!c_.shared_a.empty() || !c_.shared_b.empty()) text_.sync();
    if (!c_.scalar.empty()) text_.scalar(c_.scalar);
    multiply(d, a, b, c_.uses_c() && c_.has_own_c ? own_c : d);
    text_.param("D_out", per_unit(d.shape), d.dtype);
    text_.line(fmt::format("Tx.{}.copy(D_out[{}, :, :], D[:, :])", c_.scope, unit()));
    return text_.text();
  }

 private:
  static std::int64_t threads(const GemmCase& c) {
    return 32 * (c.warps != 0 ? c.warps : c.warps_m * c.warps_n);
  }
  [[nodiscard]] std::int64_t units() const {
    if (c_.scope == "warp") return threads(c_) / 32;
    return c_.scope == "wg" ? threads(c_) / 128 : 1;
  }
  [[nodiscard]] std::string unit() const {
    if (units() == 1) return "0";
    return c_.scope == "warp" ? "warp" : "wg";
  }
  [[nodiscard]] Extents per_unit(Extents shape) const {
    shape.insert(shape.begin(), units());
    return shape;
  }

  // The buffers of slices are natural fragments of their own.
  [[nodiscard]] Matrix matrix(Role role, const std::string& name, const std::string& layout,
                              const std::vector<std::size_t>& order) const {
    GemmCase whole = c_;
    if (c_.is_slice) {
      whole.tiles_m *= 2;
      whole.tiles_n *= 2;
      whole.groups *= 2;
    }
    const Number m = c_.m.empty() ? natural_m(whole) : c_.m;
    const Number n = c_.n.empty() ? natural_n(whole) : c_.n;
    const Number k = c_.k.empty() ? natural_k(whole) : c_.k;
    Extents shape{whole.size_m(), whole.size_n()}, region{c_.size_m(), c_.size_n()};
    const Number *first = &m, *second = &n;
    bool is_turned = false;
    if (role == Role::A) {
      shape[1] = whole.size_k();
      region[1] = c_.size_k();
      second = &k;
      is_turned = c_.turns_a;
    } else if (role == Role::B) {
      shape[0] = whole.size_k();
      region[0] = c_.size_k();
      first = &k;
      is_turned = c_.turns_b;
    }
    if (is_turned) {
      std::swap(shape[0], shape[1]);
      std::swap(region[0], region[1]);
      std::swap(first, second);
    }
    const std::string& shared = role == Role::A   ? c_.shared_a
                                : role == Role::B ? c_.shared_b
                                                  : kNothing;
    return {.name = name,
            .dtype = dtype_of(role),
            .shape = shape,
            .region = region,
            .layout = layout.empty() ? fragment(whole, role, *first, *second, order) : layout,
            .shared = shared};
  }

  [[nodiscard]] const std::string& dtype_of(Role role) const {
    if (role == Role::B && !c_.types.in_b.empty()) return c_.types.in_b;
    return role == Role::A || role == Role::B ? c_.types.in : c_.types.out;
  }

  void declare(const Matrix& each) {
    std::string place = fmt::format("scope=\"local\", layout={}", tile(each.layout));
    if (each.shared == "plain")
      place = "scope=\"shared\"";
    else if (!each.shared.empty())
      place = "scope=\"shared\", layout=" + each.shared;
    text_.line(fmt::format("{} = T.alloc_buffer({}, \"{}\", {})", each.name, tuple(each.shape),
                           each.dtype, place));
  }
  void fill(const Matrix& each, const std::string& from) {
    text_.param(from + "_in", per_unit(each.shape), each.dtype);
    text_.line(
        fmt::format("Tx.{}.copy({}[:, :], {}_in[{}, :, :])", c_.scope, each.name, from, unit()));
  }
  void bring(const Matrix& each, const std::string& from) {
    declare(each);
    fill(each, from);
  }

  static std::string region(const Matrix& each) {
    const Extents begin{each.shape[0] - each.region[0], each.shape[1] - each.region[1]};
    return each.name + (each.shape == each.region ? "" : box(begin, each.region));
  }

  void multiply(const Matrix& d, const Matrix& a, const Matrix& b, const Matrix& old) {
    std::string settings;
    const auto add = [&](const std::string& text) {
      if (!text.empty()) settings += ", " + text;
    };
    if (c_.turns_a) add("transpose_A=True");
    if (c_.turns_b) add("transpose_B=True");
    if (!c_.alpha.empty()) add("alpha=" + c_.alpha);
    if (!c_.beta.empty()) add("beta=" + c_.beta);
    add(c_.types.settings);
    add(c_.settings);
    if (!c_.around.empty()) text_.line(c_.around);
    text_.line(fmt::format("{}Tx.{}.gemm({}, {}, {}, {}{})", c_.around.empty() ? "" : "    ",
                           c_.scope, region(d), region(a), region(b), region(old), settings));
  }

  static inline const std::string kNothing;
  const GemmCase& c_;
  KernelText text_;
};

}  // namespace

Number natural_m(const GemmCase& c, bool is_fine) {
  Number out;
  add_digits(out, Kind::Warp, factors(c.warps_m, is_fine));
  add_digits(out, Kind::Tile, {c.tiles_m, tile_m(c)});
  add_digits(out, Kind::Row, factors(8, is_fine));
  return out;
}

Number natural_n(const GemmCase& c, bool is_fine) {
  Number out;
  add_digits(out, Kind::Warp, factors(c.warps_n, is_fine));
  add_digits(out, Kind::Tile, factors(c.tiles_n, is_fine));
  add_digits(out, Kind::Quad, factors(4, is_fine));
  add_digits(out, Kind::Pair, {2});
  return out;
}

Number natural_k(const GemmCase& c, bool is_fine) {
  Number out;
  add_digits(out, Kind::Tile, factors(c.groups, is_fine));
  add_digits(out, Kind::Quad, factors(4, is_fine));
  add_digits(out, Kind::Word, factors(c.types.per_word(), is_fine));
  return out;
}

std::string fragment(const GemmCase& c, Role role, const Number& first, const Number& second,
                     const std::vector<std::size_t>& order) {
  return Places(c, role, first, second, order).text();
}

std::string source_of(const GemmCase& c) { return Writer(c).write(); }

Program program_of(const GemmCase& c) {
  // The order of a sum decides whether its zero has a sign.
  return {
      .source = source_of(c), .target = c.target, .inputs = Inputs::Whole, .has_any_zero = true};
}

Program normal_program_of(const GemmCase& c) {
  Program out = program_of(c);
  out.inputs = Inputs::Normal;
  out.tolerance = c.types.tolerance;
  return out;
}

const lower::CallReport& gemm_of(const Checked& checked) {
  for (const lower::CallReport& call : checked.report.calls)
    if (call.op == "gemm") return call;
  return checked.report.calls.at(0);
}

std::string mma_verdict(const Checked& checked) {
  for (std::size_t k = 0; k < checked.report.calls.size(); ++k)
    if (checked.call(k).op == "gemm") return verdict_on(checked, k, "mma");
  return "there is no product";
}

}  // namespace ww::test
