// SPDX-License-Identifier: Apache-2.0
#include "lower/elementwise/forms.h"

#include <initializer_list>

#include "ir/settings.h"
#include "lower/call.h"

namespace ww::lower {
namespace {

using num::DType;
using num::Rounding;

struct Range {
  std::int64_t low;
  std::uint64_t high;
};
Range range_of(DType type) {
  const int bits = num::bits_of(type);
  if (num::kind_of(type) == num::DTypeKind::Int)
    return {static_cast<std::int64_t>(~std::uint64_t{0} << (bits - 1)),
            (std::uint64_t{1} << (bits - 1)) - 1};
  return {0, bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1};
}

std::string_view cvt_type(DType type) {
  switch (type) {
    case DType::Float64:
      return "f64";
    case DType::Float32:
      return "f32";
    case DType::Tfloat32:
      return "tf32";
    case DType::Float16:
      return "f16";
    case DType::Bfloat16:
      return "bf16";
    case DType::Int32:
      return "s32";
    case DType::Uint32:
      return "u32";
    case DType::Int64:
      return "s64";
    case DType::Uint64:
      return "u64";
    default:
      return {};
  }
}

// Is every number of `from` one of `to`? Of floats only.
bool holds_floats(DType to, DType from) {
  const num::FloatFormat &a = num::format_of(to), &b = num::format_of(from);
  return a.mantissa_bits >= b.mantissa_bits && a.exponent_bits >= b.exponent_bits &&
         (a.has_sign || !b.has_sign);
}
bool holds_integers(DType to, DType from) {
  const int bits = num::bits_of(from) - (num::kind_of(from) == num::DTypeKind::Int ? 1 : 0);
  const bool has_range = to != DType::Float16 || bits < 16;
  return bits <= num::format_of(to).mantissa_bits + 1 && num::bits_of(to) >= 16 && has_range;
}

class CastMaker {
 public:
  CastMaker(const Call& call, DType from, DType to)
      : call_(call), settings_(ir::cast_settings(call.tile)), shown_(from) {
    form_.from = form_.wide = from;
    form_.to = to;
  }

  Match<CastForm> make() {
    if (form_.to == DType::Float8E8M0 && form_.from != form_.to) return to_powers();
    const bool unpacks = form_.from == DType::Float8E8M0 && form_.from != form_.to &&
                         is_on_target(std::string(kPowersToBfloat16), call_.context.target);
    if (unpacks) return from_powers();
    if (settings_.round || settings_.saturate) WW_TRY_VOID(read_settings());
    const bool is_plain = form_.is_plain() && call_.context.target.has(target::Feature::Sm80);
    if (is_plain) form_.wide = between();
    const bool is_halved = is_plain && form_.wide == DType::Float16;
    const bool is_real = form_.to == DType::Bfloat16 || goes_through_real(form_.to);
    form_.wider = is_halved && is_real ? DType::Float32 : form_.wide;
    return form_;
  }

 private:
  [[nodiscard]] std::string text() const {
    return fmt::format("{} to {}", num::name_of(shown_), num::name_of(form_.to));
  }
  [[nodiscard]] Rounding rounding() const {
    return settings_.round.value_or(is_float(form_.to) ? Rounding::NearestEven
                                                       : Rounding::TowardZero);
  }
  // Floats whose conversions saturate whatever is asked for.
  [[nodiscard]] bool is_small() const { return num::bits_of(form_.to) <= 8; }

  Match<void> read_settings() {
    WW_TRY_VOID(check_types());
    if (is_float(form_.from)) return is_float(form_.to) ? float_to_float() : float_to_integer();
    return is_float(form_.to) ? integer_to_float() : integer_to_integer();
  }

  // The type that instructions for two elements (packed.h) go through: the code of a single one
  // takes the same steps, so that there is one meaning to prove.
  [[nodiscard]] DType between() const {
    const auto is_half = [](DType t) { return t == DType::Float16 || t == DType::Bfloat16; };
    const DType from = form_.from, to = form_.to;
    if ((!is_half(from) && !comes_in_pairs(from)) || from == to) return from;
    if (comes_in_pairs(from))
      return to == DType::Float32 || to == DType::Bfloat16 || comes_in_pairs(to) ? DType::Float16
                                                                                 : from;
    if (to == DType::Bfloat16 || goes_through_real(to)) return DType::Float32;
    return from == DType::Bfloat16 && (is_half(to) || comes_in_pairs(to)) ? DType::Float32 : from;
  }
  // Narrow floats that the target converts two at a time.
  [[nodiscard]] bool comes_in_pairs(DType type) const {
    const std::string_view pair = narrow_pair(type);
    return !pair.empty() &&
           is_on_target(fmt::format("cvt.rn.f16x2.{}", pair), call_.context.target);
  }
  // Of these, no instruction takes float16 into those of less than 8 bits.
  [[nodiscard]] bool goes_through_real(DType type) const {
    return comes_in_pairs(type) && num::bits_of(type) < 8;
  }

  Match<void> check_types() {
    for (const DType type : {form_.from, form_.to})
      if (type == DType::Bool)
        return decline("config", "{} has no use for `round` and `saturate`", text());
    const bool saturates =
        form_.from != form_.to && (is_float(form_.to) ? is_small() : is_float(form_.from));
    if (settings_.saturate == false && saturates)
      return decline("config", "{} always saturates, expected no `saturate=False`", text());
    return {};
  }

  // --- powers of two ---

  // bfloat16 holds them all: then as from there.
  Match<CastForm> from_powers() {
    form_.from = form_.wide = DType::Bfloat16;
    CastForm out = WW_TRY(make());
    WW_CHECK(out.wide == out.wider, "a cast from bfloat16 goes through two types");
    out.from = shown_;
    out.unpacks = true;
    out.wide = DType::Bfloat16;
    return out;
  }

  // The sign is ignored, as the instruction does.
  Match<CastForm> to_powers() {
    const bool is_held = form_.from != DType::Bool &&
                         (is_float(form_.from) ? holds_floats(DType::Float32, form_.from)
                                               : holds_integers(DType::Float32, form_.from));
    if (!is_held)
      return decline("dtype", "{}: no instruction, expected a source that float32 holds", text());
    const Rounding round = rounding();
    if (round != Rounding::TowardZero && round != Rounding::Up)
      return decline("config",
                     "no instruction rounds {} by `{}`, expected `round=\"rz\"` or `\"rp\"`",
                     text(), word_of(round));
    const bool is_brain = form_.from == DType::Bfloat16;
    form_.wide = form_.wider = is_brain ? DType::Bfloat16 : DType::Float32;
    form_.opcode =
        fmt::format("cvt.{}{}.ue8m0x2.{}", word_of(round),
                    settings_.saturate == false ? "" : ".satfinite", is_brain ? "bf16x2" : "f32");
    WW_TRY_VOID(check_opcode(form_.opcode));
    return form_;
  }

  Match<void> integer_to_integer() {
    if (settings_.round) return decline("config", "{} rounds nothing, expected no `round`", text());
    if (settings_.saturate != true) return {};
    const Range from = range_of(form_.from), to = range_of(form_.to);
    if (to.low > from.low) form_.low = to.low;
    if (to.high < from.high) form_.high = static_cast<std::int64_t>(to.high);
    return {};
  }

  Match<void> float_to_integer() {
    if (num::bits_of(form_.from) < 32) form_.wide = DType::Float32;
    switch (rounding()) {
      case Rounding::NearestEven:
        form_.whole = ir::Intrinsic::Nearbyint;
        break;
      case Rounding::NearestAway:
        form_.whole = ir::Intrinsic::Round;
        break;
      case Rounding::Down:
        form_.whole = ir::Intrinsic::Floor;
        break;
      case Rounding::Up:
        form_.whole = ir::Intrinsic::Ceil;
        break;
      case Rounding::TowardZero:
        form_.wide = form_.from;
        break;
    }
    return {};
  }

  Match<void> integer_to_float() {
    // Other floats hold numbers as large as any integer.
    form_.is_bounded = settings_.saturate == true && form_.to == DType::Float16;
    if (rounding() == Rounding::NearestEven || holds_integers(form_.to, form_.from)) return {};
    if (num::bits_of(form_.from) < 32)
      form_.wide = num::kind_of(form_.from) == num::DTypeKind::Int ? DType::Int32 : DType::Uint32;
    return use_instruction("");
  }

  Match<void> float_to_float() {
    // A small float gets an infinity from its own type only.
    const bool is_same = form_.from == form_.to;
    const bool has_infinity = num::format_of(form_.to).specials == num::Specials::Ieee;
    const bool bounds = settings_.saturate == true && (!is_small() || (is_same && has_infinity));
    form_.is_bounded = bounds;
    if (holds_floats(form_.to, form_.from)) return {};
    const bool is_halved =
        (form_.to == DType::Float16 || form_.to == DType::Bfloat16) && form_.from != DType::Float64;
    const bool is_tf32 = form_.to == DType::Tfloat32;
    if (rounding() == Rounding::NearestEven && !(bounds && (is_halved || is_tf32))) return {};
    if (num::bits_of(form_.from) < 32 || form_.from == DType::Tfloat32) form_.wide = DType::Float32;
    if (!bounds || !(is_halved || is_tf32)) return use_instruction("");
    // One instruction, or the same in steps.
    auto in_one = use_instruction(".satfinite");
    form_.is_bounded = !in_one;
    if (in_one || is_tf32) return in_one;
    if (rounding() != Rounding::NearestEven) return use_instruction("");
    form_.wide = form_.from;
    return {};
  }

  static std::string_view word_of(Rounding rounding) {
    constexpr std::string_view kWords[] = {"rn", "rna", "rz", "rm", "rp"};
    return kWords[static_cast<std::size_t>(rounding)];
  }
  Match<void> check_opcode(const std::string& opcode) {
    if (is_on_target(opcode, call_.context.target)) return {};
    return decline("arch", "{} has no `{}`", target::info(call_.context.target.arch).name, opcode);
  }

  Match<void> use_instruction(std::string_view more) {
    const std::string_view word = word_of(rounding());
    const std::string_view to = cvt_type(form_.to), from = cvt_type(form_.wide);
    if (to.empty() || from.empty())
      return decline("dtype", "no instruction rounds {} by `{}`", text(), word);
    const std::string opcode = fmt::format("cvt.{}{}.{}.{}", word, more, to, from);
    WW_TRY_VOID(check_opcode(opcode));
    form_.opcode = opcode;
    return {};
  }

  const Call& call_;
  ir::CastSettings settings_;
  DType shown_;  // the source's, for messages
  CastForm form_;
};

}  // namespace

std::string_view narrow_pair(DType type) {
  switch (type) {
    case DType::Float8E4M3fn:
      return "e4m3x2";
    case DType::Float8E5M2:
      return "e5m2x2";
    case DType::Float6E2M3fn:
      return "e2m3x2";
    case DType::Float6E3M2fn:
      return "e3m2x2";
    case DType::Float4E2M1fn:
      return "e2m1x2";
    default:
      return {};
  }
}

Match<CastForm> cast_form(const Call& call) {
  const ir::TileArg* source = ir::operands_of(call.tile)[0];
  const DType from = call.f()[std::get<ir::Region>(*source).buffer].dtype;
  return CastMaker(call, from, call.buffer(0).dtype).make();
}

namespace {

// Takes down the instructions; the values do not matter.
struct Listing {
  struct Value {};
  std::vector<std::string_view> opcodes = {};

  static Value number(float) { return {}; }
  static Value mul(Value, Value) { return {}; }
  static Value add(Value, Value) { return {}; }
  static Value fma(Value, Value, Value) { return {}; }
  static Value abs(Value) { return {}; }
  static Value copysign(Value, Value) { return {}; }
  Value approx(std::string_view opcode, std::initializer_list<Value>) {
    opcodes.push_back(opcode);
    return {};
  }
};

}  // namespace

bool is_fast(const ir::TileCall& call, num::DType type) {
  return ir::is_true(ir::find_setting(call, "fast")) && type != num::DType::Float64;
}

std::vector<std::string_view> fast_instructions(ir::TileOp op) {
  Listing listing;
  FastForm<Listing>(listing, {}, {}).of(op);
  return listing.opcodes;
}

}  // namespace ww::lower
