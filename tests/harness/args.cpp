// SPDX-License-Identifier: Apache-2.0
// The arguments that all engines get.
#include <algorithm>
#include <cstring>
#include <random>

#include "base/check.h"
#include "eval/value/arithmetic.h"
#include "harness/edges.h"
#include "harness/engines.h"
#include "ir/param_use.h"
#include "ir/print/print.h"

namespace ww::test {
namespace {

Bytes random_bytes(std::size_t size, bool is_bool, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  Bytes out(size);
  for (std::byte& each : out) {
    const auto drawn = static_cast<unsigned char>(engine() >> 32U);
    each = static_cast<std::byte>(is_bool ? drawn & 1U : drawn);
  }
  return out;
}

// Elements that numbers are drawn for.
Bytes random_numbers(std::size_t count, num::DType type, Inputs inputs, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal;
  std::uniform_int_distribution<int> whole(-4, 4);
  const auto size = static_cast<std::size_t>(std::max(1, num::storage_bits(type) / 8));
  Bytes out(count * size);
  for (std::size_t i = 0; i < count; ++i) {
    const double drawn = inputs == Inputs::Whole ? whole(engine) : normal(engine);
    const eval::Word bits = eval::from_real(type, drawn);
    std::memcpy(out.data() + i * size, &bits, size);
  }
  return out;
}

Bytes random_edges(std::size_t count, num::DType type, std::size_t size, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  Bytes out(count * size);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = edgy_bits(type, engine);
    std::memcpy(out.data() + i * size, &bits, size);
  }
  return out;
}

Arg scalar_arg(const ir::Var& var, const Scalars& scalars) {
  Arg arg{.name = var.name};
  const auto given = scalars.find(var.name);
  arg.bits = given == scalars.end() ? 0 : static_cast<std::uint64_t>(given->second);
  arg.scalar_bytes = static_cast<std::size_t>(std::max(1, num::bits_of(var.type.dtype) / 8));
  return arg;
}

class ArgMaker {
 public:
  ArgMaker(const ir::Function& tile, const Scalars& scalars, std::uint64_t seed, Inputs inputs)
      : f_(tile), scalars_(scalars), seed_(seed), inputs_(inputs) {}

  std::vector<Arg> make() {
    const std::vector<ir::ParamUse> uses = ir::param_uses(f_);
    std::vector<Arg> out;
    for (std::size_t i = 0; i < f_.params.size(); ++i) {
      const ir::Var& var = f_[f_.params[i].var];
      const ir::BufferId buffer = ir::buffer_of_param(f_, i);
      out.push_back(var.type.is_pointer() ? array(f_[buffer], uses[i].is_output(), i)
                                          : scalar_arg(var, scalars_));
    }
    return out;
  }

 private:
  [[nodiscard]] std::int64_t extent(ir::ExprId expr) const {
    if (const auto constant = ir::const_int(f_, expr)) return *constant;
    if (f_[expr].op == ir::ExprOp::Mul) return extent(f_[expr].args[0]) * extent(f_[expr].args[1]);
    const auto given = scalars_.find(f_[f_[expr].var].name);
    WW_CHECK(given != scalars_.end(), "no value for `{}`", ir::print(f_, expr));
    return given->second;
  }

  [[nodiscard]] Arg array(const ir::Buffer& buffer, bool is_output, std::size_t index) const {
    Arg arg{.name = buffer.name, .is_array = true, .is_output = is_output};
    std::int64_t size = 1;
    for (const ir::ExprId each : buffer.shape) {
      arg.shape.push_back(extent(each));
      size *= arg.shape.back();
    }
    const auto bits = static_cast<std::size_t>(num::storage_bits(buffer.dtype));
    arg.element_bytes = std::max<std::size_t>(1, bits / 8);
    arg.packed = std::max<std::size_t>(1, 8 / bits);
    arg.dtype = buffer.dtype;
    arg.has_any_nan = inputs_ == Inputs::Edges && num::is_float(buffer.dtype);
    const std::size_t bytes = static_cast<std::size_t>(size) / arg.packed * arg.element_bytes;
    arg.bytes = is_output ? Bytes(bytes, std::byte{0xCD}) : contents(arg, bytes, index);
    return arg;
  }

  [[nodiscard]] Bytes contents(const Arg& arg, std::size_t bytes, std::size_t index) const {
    const std::uint64_t seed = seed_ * 1000 + index;
    if (inputs_ == Inputs::Edges)
      return random_edges(bytes / arg.element_bytes, arg.dtype, arg.element_bytes, seed);
    if (inputs_ != Inputs::Bits && num::kind_of(arg.dtype) == num::DTypeKind::Float)
      return random_numbers(bytes / arg.element_bytes, arg.dtype, inputs_, seed);
    Bytes out = random_bytes(bytes, arg.dtype == num::DType::Bool, seed);
    if (num::bits_of(arg.dtype) == 6)  // the upper bits of its byte are 0
      for (std::byte& each : out) each &= std::byte{0x3F};
    return out;
  }

  const ir::Function& f_;
  const Scalars& scalars_;
  std::uint64_t seed_;
  Inputs inputs_;
};

}  // namespace

std::vector<Arg> make_args(const ir::Function& tile, const Scalars& scalars, std::uint64_t seed,
                           Inputs inputs) {
  return ArgMaker(tile, scalars, seed, inputs).make();
}

void add_lowered_args(std::vector<Arg>& args, const ir::Function& lowered, const Scalars& scalars) {
  for (std::size_t i = args.size(); i < lowered.params.size(); ++i)
    args.push_back(scalar_arg(lowered[lowered.params[i].var], scalars));
}

}  // namespace ww::test
