// SPDX-License-Identifier: Apache-2.0
// tcgen05.mma: one thread starts a product of matrices in shared and tensor memory, which the tensor
// core of its CTA, or of a pair of CTAs, does some time later and in order with other work of that
// thread (tcgen05_cp.cpp has the commit that completes it).
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sim/checks/undefined.h"
#include "sim/decode/function_decoder.h"
#include "sim/ops/families.h"
#include "sim/ops/tcgen05_mma_ops.h"

namespace ww::sim {
void refuse_operands(Warp& warp, const std::string& why) {
  warp.unit->stop(Outcome::Trapped, fmt::format("{} is not modelled: line {}, {}", why,
                                                warp.program->infos[warp.current].line,
                                                warp.unit->describe(*warp.cta)));
  warp.stop = 0;
}

namespace tcgen05_mma_ops {
namespace {

// --- issuing -------------------------------------------------------------------------------------

void use_operands(Warp& warp, const Op& op, const TensorProductForm& form) {
  if (!warp.undefined.are_kept()) return;
  if (!form.a_in_tensor) use_value(warp, op.p[kProductDescA], warp.exec);
  use_value(warp, op.p[kProductDescB], warp.exec);
  use_value(warp, op.p[kInstruction], warp.exec);
  use_value(warp, op.p[kAddsD], warp.exec, 0, true);
  if (op.p[kZeroColumns].present()) use_value(warp, op.p[kZeroColumns], warp.exec);
  for (const Place place : warp.places(op)) use_value(warp, place, warp.exec);
}

// Each thread that comes here starts a product of its own.
void check_single(Warp& warp) {
  const unsigned count = count_lanes(warp.exec);
  if (count == 1 || !warp.is_new(Check::Collective)) return;
  warp.report(Check::Collective, warp.exec,
              fmt::format("{} lanes execute this, and each starts a product of its own; one thread "
                          "does, picked by `elect.sync` for example",
                          count));
}

TensorProduct product_of(Warp& warp, const Op& op, unsigned lane) {
  TensorProduct product;
  product.form = form_of<TensorProductForm>(op);
  std::uint32_t address = op.address;
  product.d = tensor_address_in(warp, address++, lane);
  if (product.form.a_in_tensor) {
    product.a = tensor_address_in(warp, address++, lane);
  } else {
    product.desc_a = warp.source<std::uint64_t>(op.p[kProductDescA])[lane];
  }
  product.desc_b = warp.source<std::uint64_t>(op.p[kProductDescB])[lane];
  if (product.form.is.is_sparse) product.metadata = tensor_address_in(warp, address++, lane);
  if (product.form.is.scale_count != 0) {
    product.scale_a = tensor_address_in(warp, address++, lane);
    product.scale_b = tensor_address_in(warp, address++, lane);
  }
  const Mask adds = warp.pred(op.p[kAddsD]) ^ (product.form.negates_add ? kAllLanes : 0);
  product.adds = has_lane(adds, lane);
  for (unsigned i = 0; i < op.place_count; ++i)
    product.disabled[i] = warp.source<std::uint32_t>(warp.places(op)[i])[lane];
  return product;
}

void use_collector(Warp& warp, unsigned lane, const TensorProduct& product) {
  const Collector how = product.form.collector;
  constexpr std::uint64_t kInTensor = std::uint64_t{1} << 60U;
  const std::uint64_t a = product.form.a_in_tensor
                              ? kInTensor | product.a.lane << 16U | product.a.column
                              : product.desc_a;
  std::optional<std::uint64_t>& held = product.ctas[0]->collected_a;
  if ((how == Collector::Use || how == Collector::LastUse) && held != a) {
    report_tensor(warp, lane_bit(lane),
                  held ? "takes A from the collector buffer, which was filled with another A"
                       : "takes A from the collector buffer, which no product has filled since it "
                         "was last given up");
  }
  if (how == Collector::Fill) held = a;
  if (how == Collector::LastUse || how == Collector::Discard) held.reset();
}

void report_fault(Warp& warp, unsigned lane, std::string_view what, const std::string& bits,
                  const std::string& fault) {
  if (!warp.checks(Check::Align)) return refuse_operands(warp, fmt::format("{} {}", what, bits));
  if (warp.is_new(Check::Align))
    warp.report(Check::Align, lane_bit(lane), fmt::format("{} is {}: {}", what, bits, fault));
}

ProductRule rule_of(const TensorProductForm& form, const isa::ProductDescriptor& is) {
  const isa::ProductKind kind = form.is.kind;
  return {.kind = form.is.scale_count != 0       ? SumKind::Scaled
                  : kind == isa::ProductKind::I8 ? SumKind::S32
                  : is.d == num::DType::Float16  ? SumKind::F16
                                                 : SumKind::F32,
          .a = is.a,
          .b = is.b,
          .bits = isa::container_bits(kind),
          .k = isa::product_k(kind) * (form.is.is_sparse ? 2 : 1),
          .is_sparse = form.is.is_sparse,
          .has_fp8_unit = true,
          .saturates = is.saturates,
          .scale_type = is.scale_type,
          .scale_count = form.is.scale_count};
}

// Columns of B that count as zero, or are shifted. Whether the product can be done.
bool take_zero_columns(Warp& warp, const Op& op, unsigned lane, TensorProduct& product) {
  if (!op.p[kZeroColumns].present()) return true;
  const std::uint64_t bits = warp.source<std::uint64_t>(op.p[kZeroColumns])[lane];
  const isa::ProductDescriptor& is = product.is;
  const ZeroColumns zero(bits, is.m, is.n);
  if (const std::string fault = zero.fault(is.m, is.largest_shift()); !fault.empty()) {
    report_fault(warp, lane, "the descriptor of zero columns", fmt::format("0x{:016x}", bits),
                 fault);
    return false;
  }
  if (zero.is_none()) return true;
  if (zero.skips_a_span() || is.b_is_mn_major) {
    refuse_operands(warp, zero.skips_a_span()
                              ? "a product whose zero columns skip a whole span"
                              : "a product with zero columns of a B that is MN-major");
    return false;
  }
  product.b_columns = zero.columns();
  return true;
}

std::uint64_t held_by(const TensorProduct& product) {
  std::uint64_t chunks = 0;
  for (const auto* all : {&product.a_chunks, &product.b_chunks})
    for (const MatrixChunks& each : *all) chunks += each.size();
  return sizeof product + chunks * sizeof(std::uint32_t) + product.parts.size() * sizeof(DPart);
}

void issue(Warp& warp, const Op& op, unsigned lane) {
  TensorProduct product = product_of(warp, op, lane);
  product.ctas = cta_group(warp, product.form.is.is_pair);
  if (product.form.is.is_pair && product.ctas.size() == 1) return;
  std::ranges::sort(product.ctas, {}, &Cta::rank);
  const std::uint32_t bits = warp.source<std::uint32_t>(op.p[kInstruction])[lane];
  auto [is, fault] = isa::read_descriptor(product.form.is, bits);
  if (!fault.empty())
    return report_fault(warp, lane, "the instruction descriptor", fmt::format("0x{:08x}", bits),
                        fault);
  if (is.is_long) return refuse_operands(warp, "a product with K = 96");
  product.is = is;
  product.rule = rule_of(product.form, is);
  if (!take_zero_columns(warp, op, lane, product)) return;
  use_collector(warp, lane, product);
  if (!begin_tensor_product(warp, lane, product)) return;
  const auto kept = std::make_shared<TensorProduct>(std::move(product));
  add_tensor_work(warp, lane, held_by(*kept),
                  [&warp, lane, kept] { finish_tensor_product(warp, lane, *kept); });
}

void run_product(Warp& warp, const Op& op) {
  use_operands(warp, op, form_of<TensorProductForm>(op));
  check_single(warp);
  for_each_lane(warp.exec, [&](unsigned lane) { issue(warp, op, lane); });
}

// --- decoding ------------------------------------------------------------------------------------

unsigned scale_count(const Decode& in, isa::ProductKind kind) {
  if (!isa::has_scales(kind)) return 0;
  if (kind == isa::ProductKind::Mxf8f6f4) return 1;
  return in.word("size").is_one_of({"scale_vec::4X", "block16"}) ? 4 : 2;
}

Collector collector_in(const Decode& in) {
  return in.word("collector")
      .as<Collector>({{"collector::a::fill", Collector::Fill},
                      {"collector::a::use", Collector::Use},
                      {"collector::a::lastuse", Collector::LastUse}})
      .value_or(Collector::Discard);
}

// Why a form is not simulated; empty: it is.
std::string_view refusal_of(const Decode& in, const TensorProductForm& form) {
  if (in.has("ashift"))
    return "whether the product sees A before or after the shift, and which rows stay, is not "
           "known "
           "for certain";
  if (form.is.kind == isa::ProductKind::I8 && form.scale_d != 0)
    return "the manual has no scale of D for `.kind::i8`";
  return "";
}

TensorProductForm form_of(const Decode& in, bool is_ws) {
  TensorProductForm form;
  form.is.kind = *isa::product_kind(in.word("kind").text());
  form.is.is_pair = in.word("group") == "cta_group::2";
  form.is.is_ws = is_ws;
  form.is.is_sparse = in.has("sp");
  form.is.scale_count = scale_count(in, form.is.kind);
  form.a_in_tensor = in.operand(1).kind == isa::OperandKind::Address;
  form.negates_add = in.is_negated(in.find("add_d"));
  if (const std::size_t scale = in.find("scale_d"); scale < in.count())
    form.scale_d = static_cast<unsigned>(in.immediate(scale));
  form.collector = collector_in(in);
  return form;
}

void decode_operands(Decode& in, const TensorProductForm& form) {
  in.op.address = in.address(0);
  if (form.a_in_tensor) {
    in.address(1);
  } else {
    in.op.p[kProductDescA] = in.source(1);
  }
  if (form.is.is_sparse) in.address(in.find("meta"));
  if (form.is.scale_count != 0) {
    in.address(in.find("scale_a"));
    in.address(in.find("scale_b"));
  }
  in.op.p[kProductDescB] = in.source(in.find("b"));
  in.op.p[kInstruction] = in.source(in.find("idesc"));
  in.op.p[kAddsD] = in.source(in.find("add_d"));
  if (const std::size_t mask = in.find("mask"); mask < in.count()) in.further(in.sources(mask));
  if (const std::size_t zero = in.find("zero_columns"); zero < in.count())
    in.op.p[kZeroColumns] = in.source(zero);
}

bool decode(Decode& in, bool is_ws) {
  const TensorProductForm form = form_of(in, is_ws);
  in.refusal = refusal_of(in, form);
  if (!in.refusal.empty()) return false;
  in.tracks_itself(run_product);
  in.function().program().uses_async_proxy = true;
  decode_operands(in, form);
  in.keep(form);
  return true;
}

bool decode_product(Decode& in) { return decode(in, false); }
bool decode_stationary(Decode& in) { return decode(in, true); }

constexpr OpRow kRows[] = {
    {"tcgen05.mma", decode_product},
    {"tcgen05.mma.ws", decode_stationary},
};

}  // namespace

constinit const OpFamily family{"tcgen05_mma", kRows};

}  // namespace tcgen05_mma_ops
}  // namespace ww::sim
