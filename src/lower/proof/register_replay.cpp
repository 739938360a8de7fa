// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/register_replay.h"

namespace ww::lower {

RegisterPlace RegisterReplay::place(const PointerValue& at, std::size_t thread, int bits) const {
  return place(at, f_[at.storage].scope, thread, bits);
}

Try<ThreadNumbers> RegisterReplay::loaded(const ir::Expr& e, const Mask& mask) {
  return read_all(WW_TRY(element(e, mask)), 0, num::storage_bits(f_[e.buffer].dtype), mask);
}

Try<ThreadNumbers> RegisterReplay::read_all(const PointerValue& from, std::int64_t behind, int bits,
                                            const Mask& mask) {
  const ir::Scope scope = f_[from.storage].scope;
  const bool is_seen = is_watched(from.storage);
  const Registers::Reader reader(registers_, from.storage, bits);
  const bool is_one = scope == ir::Scope::Local && !is_seen && from.bit.is_uniform();
  const auto one = is_one ? reader.place_of(from.bit.front() + behind) : std::nullopt;
  ThreadNumbers out(values_.threads());
  for (std::size_t t = 0; t < out.size(); ++t) {
    if (!mask[t]) continue;
    if (one) {  // most often
      if (const Number* number = reader.find_in_table(t, *one)) {
        out[t] = *number;
        continue;
      }
    }
    RegisterPlace at = place(from, scope, t, bits);
    at.bit += behind;
    if (is_seen) WW_TRY_VOID(touch(at, t, false));
    const Number* number = reader.find(at.thread, at.bit);
    if (number == nullptr) return not_an_operand(at, t);
    out[t] = *number;
  }
  return out;
}

Unexpected<Unproven> RegisterReplay::not_an_operand(const RegisterPlace& at,
                                                    std::size_t thread) const {
  return wrong("thread {} of the unit reads byte {} of `{}`, which is not an operand", thread,
               at.bit / 8, f_[at.storage].name);
}

Try<Number> RegisterReplay::read_at(const RegisterPlace& at, std::size_t thread) {
  if (is_watched(at.storage)) WW_TRY_VOID(touch(at, thread, false));
  const auto number = registers_.at(at);
  if (!number) return not_an_operand(at, thread);
  return *number;
}

Try<void> RegisterReplay::store(const ir::Stmt& s, const Mask& mask) {
  const auto number = WW_TRY(value(s.expr, mask));
  const auto to = WW_TRY(element(s, mask));
  const num::DType type = f_[s.expr].type.dtype, held = f_[s.buffer].dtype;
  if (type != held) return wrong("{} is stored as {}", num::name_of(type), num::name_of(held));
  return put_all(to, 0, num::storage_bits(held), number, mask);
}

Try<void> RegisterReplay::put_all(const PointerValue& to, std::int64_t behind, int bits,
                                  const ThreadNumbers& numbers, const Mask& mask) {
  const ir::Scope scope = f_[to.storage].scope;
  const bool is_seen = is_watched(to.storage);
  Registers::Writer writer(registers_, to.storage, bits);
  const auto one = scope == ir::Scope::Local && !is_seen && to.bit.is_uniform()
                       ? writer.place_of(to.bit.front() + behind, values_.threads())
                       : std::nullopt;
  if (one)
    return put_in_all(writer, *one, {to.storage, 0, to.bit.front() + behind, bits}, numbers, mask);
  for (std::size_t t = 0; t < mask.size(); ++t) {
    if (!mask[t]) continue;
    RegisterPlace at = place(to, scope, t, bits);
    at.bit += behind;
    if (!dst_.has(at, t) && !is_inside_own(at)) return not_to_write(at, t);
    if (is_seen) WW_TRY_VOID(touch(at, t, true));
    writer.put(at, numbers[t]);
  }
  return {};
}

// The same register in all threads.
Try<void> RegisterReplay::put_in_all(Registers::Writer& writer, std::size_t place, RegisterPlace at,
                                     const ThreadNumbers& numbers, const Mask& mask) {
  const bool is_own = is_inside_own(at);
  const bool is_like_dst = at.storage == dst_.storage && at.bits == dst_.bits;
  const std::int64_t granule = granule_at(at.bit, at.bits);
  for (at.thread = 0; at.thread < mask.size(); ++at.thread) {
    if (!mask[at.thread]) continue;
    if (!is_own && !(is_like_dst && dst_.has_granule(at.thread, granule)))
      return not_to_write(at, at.thread);
    writer.put_in_table(at.thread, place, numbers[at.thread]);
  }
  return {};
}

Try<void> RegisterReplay::put(const RegisterPlace& at, std::size_t thread, Number number) {
  if (!dst_.has(at, thread) && !is_inside_own(at)) return not_to_write(at, thread);
  if (is_watched(at.storage)) WW_TRY_VOID(touch(at, thread, true));
  registers_.put(at, number);
  return {};
}

Unexpected<Unproven> RegisterReplay::not_to_write(const RegisterPlace& at,
                                                  std::size_t thread) const {
  return wrong("byte {} of `{}` is written by thread {} of the unit", at.bit / 8,
               f_[at.storage].name, thread);
}

bool RegisterReplay::is_inside_own(const RegisterPlace& at) const {
  const auto own = allocated_.find(at.storage.index);
  return own != allocated_.end() && at.bit >= 0 && at.bit + at.bits <= own->second;
}

Try<void> RegisterReplay::allocate(const ir::Stmt& s) {
  const ir::Buffer& buffer = f_[s.buffer];
  std::int64_t bits = num::storage_bits(buffer.dtype);
  for (const ir::ExprId each : buffer.shape) {
    bits *= WW_TRY(values_.uniform(each));
  }
  allocated_[s.buffer.index] = bits;
  return {};
}

Try<std::optional<RegionRead>> read_region(const Call& call, ProofValues& values,
                                           const ir::Region& region, std::int64_t first_thread) {
  const ir::Buffer& buffer = call.f()[region.buffer];
  RegionRead out{.elements = {.storage = ir::storage_of(call.f(), region.buffer),
                              .is_private = buffer.scope == ir::Scope::Local,
                              .bits = num::storage_bits(buffer.dtype)},
                 .extents = {}};
  for (const ir::RangeExpr& range : region.ranges) {
    out.extents.push_back(WW_TRY(values.uniform(range.extent)));
  }
  auto names = WW_TRY(names_of(call, values, region, out.elements.bits, first_thread));
  if (!names) return std::nullopt;
  out.elements.names = std::move(names->granules);
  return out;
}

}  // namespace ww::lower
