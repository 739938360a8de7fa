// SPDX-License-Identifier: Apache-2.0
// Products of factors in registers or shared memory; and a whole loop over K that brings the
// factors of each turn from global memory. Sums are exact as long as nothing else gets into them
// and their factors.
#include <utility>

#include "soak/steps.h"

namespace ww::test {
namespace {

constexpr int kMaxAdded = 8;

bool products_fit(const Draft& draft, const Place&) { return draft.f.has_products; }

// `acc`, `fa` and `fb`, in this order behind the other registers.
void declare_products(Draft& draft) {
  const Frame& f = draft.f;
  if (!f.has_products) return;
  const Extents a{f.gemm.size_m(), f.gemm.size_k()};
  Extents b{f.gemm.size_k(), f.gemm.size_n()};
  if (f.gemm.turns_b) std::swap(b[0], b[1]);
  add_reg(draft, "acc", f.gemm.types.out, f.tile, tile(fragment(f.gemm, Role::D, f.m, f.n)));
  add_reg(draft, "fa", f.gemm.types.in, a, tile(fragment(f.gemm, Role::A, f.m, f.k)));
  add_reg(draft, "fb", f.gemm.types.in, b,
          tile(f.gemm.turns_b ? fragment(f.gemm, Role::B, f.n, f.k)
                              : fragment(f.gemm, Role::B, f.k, f.n)));
  for (std::size_t i = draft.works; i < draft.regs.size(); ++i) draft.regs[i].is_for_sums = true;
  if (draft.tape.below(3) != 0) add_shared(draft, f.gemm.types.in, a);
  if (draft.tape.below(3) != 0) add_shared(draft, f.gemm.types.in, b);
}
void begin_products(Draft& draft) {
  if (!draft.f.has_products) return;
  draft.text.line({}, draft.f.prefix() + "zero(acc)");
  for (std::size_t i = draft.works + 1; i < draft.regs.size(); ++i)
    load(draft, {}, draft.regs[i], false);
}

// Where factors can be that are still in shared memory, if there is such a place.
std::pair<Shared*, Shared*> factors(Draft& draft) {
  Shared *left = nullptr, *right = nullptr;
  for (Shared& each : draft.shared) {
    if (each.dtype != draft.f.gemm.types.in || each.shape == draft.f.tile) continue;
    if (each.shape == draft.regs[draft.works + 1].shape) left = &each;
    if (each.shape == draft.regs[draft.works + 2].shape) right = &each;
  }
  if (left == right) return {};
  return left == nullptr || right == nullptr ? std::pair<Shared*, Shared*>{}
                                             : std::pair{left, right};
}

std::string settings(const Draft& draft, bool adds) {
  const GemmCase& gemm = draft.f.gemm;
  std::string out = gemm.turns_b ? ", transpose_B=True" : "";
  out += adds ? ", beta=1.0" : ", beta=0.0";
  return gemm.types.settings.empty() ? out : out + ", " + gemm.types.settings;
}
// Halves do not hold many products.
bool can_add(const Draft& draft) {
  return draft.f.gemm.types.out != "float16" && draft.products < kMaxAdded;
}

void multiply(Draft& draft, const Place& at, bool adds, bool is_staged) {
  std::string a = "fa", b = "fb", staged;
  if (is_staged) {
    const auto [left, right] = factors(draft);
    for (Shared* each : {left, right}) order_access(draft, at, *each, false, false);
    left->pending.own_read = true;  // behind the barrier that the other may have needed
    a = region_of(draft, at, *left, draft.f.unit, Columns::all(left->shape));
    b = region_of(draft, at, *right, draft.f.unit, Columns::all(right->shape));
    staged = ", stage=True";
  }
  if (adds) ++draft.products;
  draft.text.line(at, "{}gemm(acc, {}, {}, acc{}{})", draft.f.prefix(), a, b, settings(draft, adds),
                  staged);
}

void write_products(Draft& draft, const Place& at) {
  const bool adds = can_add(draft) && draft.tape.one_in(2);
  const bool is_staged = factors(draft).first != nullptr && draft.tape.one_in(3);
  multiply(draft, at, adds, is_staged);
}

// --- over K ---

bool pipeline_fits(const Draft& draft, const Place& at) {
  return draft.f.has_products && at.loops.size() < 2 && at.depth < 3;
}

void write_pipeline(Draft& draft, const Place& at) {
  const auto [left, right] = factors(draft);
  if (left == nullptr || !can_add(draft)) return;
  if (draft.tape.one_in(2)) draft.text.line(at, draft.f.prefix() + "zero(acc)");
  const Place inside = begin_loop(draft, at);
  const bool is_async = draft.tape.below(3) != 2 && draft.f.has_async();
  for (Shared* each : {left, right})
    load_part(draft, inside, *each, Columns::all(each->shape), false, is_async);
  wait_all(draft, inside);
  if (draft.tape.one_in(2)) {
    multiply(draft, inside, true, true);
  } else {
    std::size_t i = draft.works + 1;
    for (Shared* each : {left, right}) {
      const RegTile& reg = draft.regs[i++];
      order_access(draft, inside, *each, false, false);
      const Columns c = Columns::all(reg.shape);
      draft.text.line(inside, "{}copy({}, {})", draft.f.prefix(), region_of(reg, c),
                      region_of(draft, inside, *each, draft.f.unit, c));
    }
    multiply(draft, inside, true, false);
  }
  end_loop(draft, inside);
}

}  // namespace

const Step kProduct{.name = "product",
                    .weight = 2,
                    .fits = products_fit,
                    .write = write_products,
                    .declare = declare_products,
                    .begin = begin_products};
const Step kPipeline{
    .name = "product in a loop over k", .fits = pipeline_fits, .write = write_pipeline};

}  // namespace ww::test
