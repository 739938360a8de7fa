// SPDX-License-Identifier: Apache-2.0
// The view that a family of ops has of one instruction when a module is loaded: the modifiers by
// name, and operands as places. A family file of ops/ has one small function for each mnemonic,
// which picks the run function and sets the op's places:
//
//     bool decode_add(Decode& in) {
//       const RunOp run = pick_int(in.type("type"),
//                                  []<typename T>() { return &map_lanes<add<T>, T, T, T>; });
//       return in.runs(run, {in.result(0), in.source(1), in.source(2)});
//     }
//
// Operands are numbered as the form in isa/families/ has them. Immediates become constants of 32
// equal lanes, special registers become registers that are filled in when a warp starts.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isa/form.h"
#include "isa/operand.h"
#include "sim/op.h"

namespace ww::sim {

class FunctionDecoder;
using isa::Mnemonic;
using isa::SlotName;
using isa::Word;

class Decode {
 public:
  Decode(FunctionDecoder& function, const isa::Binding& form_binding,
         std::span<const isa::Operand> operands, std::span<const int> operand_of, Op& out);

  Op& op;
  const isa::Binding& form;

  // modifiers
  [[nodiscard]] Mnemonic mnemonic() const { return form.form().mnemonic; }
  [[nodiscard]] bool has(SlotName slot) const { return form.has(slot); }
  [[nodiscard]] Word word(SlotName slot) const { return form.word(slot); }
  [[nodiscard]] isa::Type type(SlotName slot) const { return form.type(slot); }

  // operands, by number in the form
  [[nodiscard]] std::size_t count() const { return operand_of_.size(); }
  /// Whether an optional operand was given.
  [[nodiscard]] bool given(std::size_t i) const { return operand_of_[i] >= 0; }
  [[nodiscard]] const isa::Operand& operand(std::size_t i) const;
  /// The register written; where the text has `_` a place that nothing reads.
  Place result(std::size_t i);
  /// The predicate after the bar of `d|p`, if present.
  Place result_pair(std::size_t i);
  /// A register, or 32 lanes of the constant in the operand's type.
  Place source(std::size_t i);
  /// The places of `{a, b, c}` (or of a scalar: one), as results or sources.
  std::vector<Place> results(std::size_t i);
  std::vector<Place> sources(std::size_t i);
  /// Bytes of the register that stands there: wider than the type in ld, st and cvt. For constants
  /// those of the type.
  [[nodiscard]] unsigned width(std::size_t i, std::size_t part = 0) const;
  /// Adds `[base+offset]` to the program's addresses and gives its index. Add several addresses of
  /// one op in sequence; op.address is the first.
  std::uint32_t address(std::size_t i);
  /// The coordinates of `[map, {c0, c1}]`, numbers of that type.
  std::vector<Place> coordinates(std::size_t i, isa::Type type = isa::Type::S32);
  /// The value of an integer operand that is a constant.
  [[nodiscard]] std::int64_t immediate(std::size_t i) const;
  [[nodiscard]] bool is_immediate(std::size_t i) const;
  /// For ops that add Warp::local themselves: the constant offset of a local variable whose address
  /// the operand is; not present where it is none.
  [[nodiscard]] Place frame_offset(std::size_t i);
  /// The number of the operand that the form calls so; count(), if it was not given.
  [[nodiscard]] std::size_t find(std::string_view name) const;
  /// Whether a source predicate is written with `!` (setp's third source may be).
  [[nodiscard]] bool is_negated(std::size_t i) const;

  /// Sets op.p, in this order.
  void operands(std::initializer_list<Place> places);
  /// The end of most decoders: what runs the op, and its places. Whether there is something to run.
  bool runs(RunOp run, std::initializer_list<Place> places) {
    op.run = run;
    operands(places);
    return run != nullptr;
  }
  /// The op's run function tracks undefined bytes, too.
  void tracks_itself(RunOp run) {
    op.run = run;
    op.flags = kTracksItself;
  }
  /// Appends places to the program's list and makes them those of op.
  void further(std::span<const Place> places);
  /// Keeps what the modifiers say for the run function, which gets it with form_of.
  template <typename Form>
  void keep(const Form& it) {
    keep_form(std::make_shared<const Form>(it));
  }
  /// An unnamed register of that many bytes.
  Place scratch(unsigned bytes);
  /// The carry flag of the function: a predicate.
  Place carry();
  /// 32 equal lanes of that many bytes.
  Place constant(std::uint64_t bits, unsigned bytes);

  /// The label's op, for branches: filled in when the function is complete.
  void target_label(std::size_t i);
  FunctionDecoder& function() { return function_; }
  /// Why it is not simulated; the decoder returns false then.
  std::string refusal;

 private:
  void keep_form(std::shared_ptr<const void> it);
  Place place_of(const isa::Operand& operand, isa::Type type, bool is_result);
  std::vector<Place> parts(std::size_t i, bool is_result);

  FunctionDecoder& function_;
  std::span<const isa::Operand> operands_;
  std::span<const int> operand_of_;
};

/// The bits of a number written in the text (an integer, `0f…`, `0d…` or a decimal) in that type.
std::uint64_t number_bits(const isa::Operand& number, isa::Type type);

/// Decodes an instruction whose operands do not matter when it runs.
template <RunOp kRun>
bool decode_bare(Decode& in) {
  in.tracks_itself(kRun);
  return true;
}
inline void run_nothing(Warp&, const Op&) {}

/// One mnemonic of a family: returns whether this form is simulated.
struct OpRow {
  Mnemonic mnemonic;
  bool (*decode)(Decode&);
};
struct OpFamily {
  std::string_view name;  // as in isa/families
  std::span<const OpRow> rows;
  bool only_computes = false;  // its ops change nothing but their results
};

/// The row for a form, or nullptr if it is not simulated.
const OpRow* find_op(std::string_view family, Mnemonic mnemonic);
/// Of a family: OpFamily::only_computes.
bool only_computes(std::string_view family);

}  // namespace ww::sim
