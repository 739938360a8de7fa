// SPDX-License-Identifier: Apache-2.0
#include "lower/address_form.h"

#include <algorithm>

#include "lower/index_formula.h"

namespace ww::lower {

using ir::ExprId;

namespace {

// Does the runtime base commute with the swizzle?
bool base_commutes(const AddressTable& table) {
  return table.swizzle.is_none() || table.base_divisor == 0 ||
         table.base_divisor % table.swizzle.period() == 0;
}

std::int64_t first_used(const AddressTable& table) {
  return std::ranges::find(table.used, true) - table.used.begin();
}

std::vector<std::int64_t> column(const AddressTable& table, std::int64_t k) {
  const auto begin = table.linear.begin() + k * table.threads;
  return {begin, begin + table.threads};
}

template <typename Rest>
bool holds_everywhere(const AddressTable& table, Rest&& rest) {
  for (std::int64_t k = 0; k < table.rounds; ++k)
    for (std::int64_t u = 0; u < table.threads; ++u)
      if (table.counts(u, k) && !rest(u, k)) return false;
  return true;
}

std::optional<AddressForm> with_thread_part(const AddressTable& table, AddressForm::Kind kind) {
  std::vector<bool> used;
  for (std::int64_t u = 0; u < table.threads; ++u) used.push_back(table.counts(u, 0));
  auto thread = fit_table(column(table, 0), used);
  if (!thread) return std::nullopt;
  return AddressForm{.kind = kind, .thread = *std::move(thread), .swizzle = table.swizzle};
}

// T(u) + D(k), with the swizzle done in T.
std::optional<AddressForm> as_sum(const AddressTable& table) {
  const std::int64_t u0 = first_used(table);
  std::vector<std::int64_t> round;
  for (std::int64_t k = 0; k < table.rounds; ++k)
    round.push_back(table.place(u0, k) - table.place(u0, 0));
  if (!holds_everywhere(table, [&](std::int64_t u, std::int64_t k) {
        return table.place(u, k) == table.place(u, 0) + round[as_index(k)];
      }))
    return std::nullopt;
  auto form = with_thread_part(table, AddressForm::Kind::Sum);
  auto rounds = fit_table(round);
  if (!form || !rounds) return std::nullopt;
  form->round = *std::move(rounds);
  return form;
}

// (T(u) ^ X(k)) + D(k), with the swizzle done in T. A bit that no T(u) has is the same by `+` and by
// `^`, and an addend becomes part of an instruction's address.
std::optional<AddressForm> as_xor(const AddressTable& table) {
  const std::int64_t u0 = first_used(table);
  std::int64_t of_threads = 0;
  for (std::int64_t u = 0; u < table.threads; ++u)
    if (table.counts(u, 0)) of_threads |= table.place(u, 0);
  std::vector<std::int64_t> flips, added;
  for (std::int64_t k = 0; k < table.rounds; ++k) {
    const std::int64_t both = table.place(u0, k) ^ table.place(u0, 0);
    flips.push_back(both & of_threads);
    added.push_back(both & ~of_threads);
  }
  if (!holds_everywhere(table, [&](std::int64_t u, std::int64_t k) {
        return table.place(u, k) == (table.place(u, 0) ^ flips[as_index(k)]) + added[as_index(k)];
      }))
    return std::nullopt;
  auto form = with_thread_part(table, AddressForm::Kind::Xor);
  auto flip = fit_table(flips);
  auto add = fit_table(added);
  if (!form || !flip || !add) return std::nullopt;
  form->flips = *std::move(flip);
  form->round = *std::move(add);
  return form;
}

// Rounds that are whole periods of the swizzle apart: T(u) with the base is swizzled once.
std::optional<AddressForm> swizzled_once(const AddressTable& table) {
  const std::int64_t u0 = first_used(table);
  for (std::int64_t k = 0; k < table.rounds; ++k)
    if ((table.at(u0, k) - table.at(u0, 0)) % table.swizzle.period() != 0) return std::nullopt;
  auto form = as_sum(table);
  if (form) form->base_inside = true;
  return form;
}

// L(u) + D(k) before the swizzle, or one formula of k·threads + u.
std::optional<AddressForm> as_joint(const AddressTable& table) {
  std::vector<bool> used;
  for (std::int64_t k = 0; k < table.rounds; ++k)
    for (std::int64_t u = 0; u < table.threads; ++u) used.push_back(table.counts(u, k));
  auto all = fit_table(table.linear, used);
  if (!all) return std::nullopt;
  return AddressForm{.kind = AddressForm::Kind::Joint,
                     .thread = *std::move(all),
                     .swizzle = table.swizzle,
                     .base_inside = !base_commutes(table)};
}

}  // namespace

std::optional<AddressForm> find_form(const AddressTable& table) {
  WW_CHECK(table.linear.size() == as_index(table.threads * table.rounds), "a table of {} entries",
           table.linear.size());
  if (base_commutes(table)) {
    if (auto form = as_sum(table)) return form;
    if (!table.swizzle.is_none())
      if (auto form = as_xor(table)) return form;
  } else if (auto form = swizzled_once(table)) {
    return form;
  }
  return as_joint(table);
}

namespace {

// The terms of a sum that are multiples of the period, and the others; none where there are none.
std::pair<ExprId, ExprId> split_at_period(CodeWriter& code, ExprId sum, std::int64_t period) {
  const ir::Expr& e = code.f()[sum];
  if (e.op == ir::ExprOp::Add) {
    const ExprId left = e.args[0], right = e.args[1];
    const auto [outer_left, inner_left] = split_at_period(code, left, period);
    const auto [outer_right, inner_right] = split_at_period(code, right, period);
    const auto both = [&](ExprId a, ExprId b) {
      return !a.valid() ? b : !b.valid() ? a : code.add(a, b);
    };
    return {both(outer_left, outer_right), both(inner_left, inner_right)};
  }
  if (ir::divisor_of(code.f(), sum, code.facts()) % period == 0) return {sum, {}};
  return {{}, sum};
}

}  // namespace

ThreadPart thread_part(CodeWriter& code, const AddressForm& form, ExprId u, ExprId base) {
  if (form.kind == AddressForm::Kind::Joint) return {base, {}};
  const ExprId digits = digits_expr(code, form.thread, u);
  if (form.base_inside) {
    const auto [outer, inner] = split_at_period(code, base, form.swizzle.period());
    return {swizzle_expr(code, form.swizzle, inner.valid() ? code.add(inner, digits) : digits),
            outer};
  }
  const ExprId thread = swizzle_expr(code, form.swizzle, digits);
  if (form.kind == AddressForm::Kind::Xor) return {thread, base};
  return {code.add(base, thread), {}};
}

namespace {

ExprId xor_expr(CodeWriter& code, const AddressForm& form, ExprId thread, ExprId k) {
  const ExprId flipped = code.bit_xor(thread, digits_expr(code, form.flips, k));
  return code.add(flipped, digits_expr(code, form.round, k));
}

}  // namespace

ExprId address_expr(CodeWriter& code, const AddressForm& form, const ThreadPart& part, ExprId u,
                    ExprId k, std::int64_t threads) {
  const auto with_base = [&](ExprId rest) {
    return part.base.valid() && code.constant(part.base) != 0 ? code.add(part.base, rest) : rest;
  };
  switch (form.kind) {
    case AddressForm::Kind::Sum:
      return with_base(code.add(part.fixed, digits_expr(code, form.round, k)));
    case AddressForm::Kind::Xor:
      return with_base(xor_expr(code, form, part.fixed, k));
    case AddressForm::Kind::Joint:
      break;
  }
  const ExprId q = code.add(code.mul(k, threads), u);
  const ExprId linear = digits_expr(code, form.thread, q);
  if (form.base_inside) return swizzle_expr(code, form.swizzle, code.add(part.fixed, linear));
  return code.add(part.fixed, swizzle_expr(code, form.swizzle, linear));
}

std::optional<PlaceForm> find_place_form(const OperandPlaces& side, AddressTable table,
                                         std::span<const std::int32_t> first) {
  table.swizzle = side.swizzle;
  table.base_divisor = side.base_divisor;
  auto form = find_form(table);
  if (!form) return std::nullopt;
  PlaceForm out{.form = *std::move(form)};
  table.swizzle = {};
  for (const RuntimeStride& stride : side.strides) {
    for (std::size_t i = 0; i < first.size(); ++i)
      table.linear[i] = first[i] < 0 ? 0 : stride.coef[as_index(first[i])];
    auto coef = find_form(table);
    if (!coef) return std::nullopt;
    out.strides.emplace_back(stride.stride, *std::move(coef));
  }
  return out;
}

std::vector<ThreadPart> place_parts(CodeWriter& code, const PlaceForm& form, ExprId u,
                                    ExprId base) {
  std::vector<ThreadPart> out = {thread_part(code, form.form, u, base)};
  for (const auto& [stride, coef] : form.strides)
    out.push_back(thread_part(code, coef, u, code.n(0)));
  return out;
}

ExprId place_expr(CodeWriter& code, const PlaceForm& form, std::span<const ThreadPart> parts,
                  ExprId u, ExprId k, std::int64_t threads) {
  ExprId out = address_expr(code, form.form, parts[0], u, k, threads);
  for (std::size_t i = 0; i < form.strides.size(); ++i) {
    const auto& [stride, coef] = form.strides[i];
    const ExprId times = address_expr(code, coef, parts[i + 1], u, k, threads);
    out = code.add(out, wide_mul(code, times, stride));
  }
  return out;
}

}  // namespace ww::lower
