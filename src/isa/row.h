// SPDX-License-Identifier: Apache-2.0
// How a family file writes down its instructions: one `Row` per syntax line of the PTX manual, all
// of it data. The notation is kept close to the manual's:
//
//   slots     the modifiers in the manual's order, separated by spaces
//               sync              this word, always
//               trans?            this word, optionally
//               num=x1|x2|x4      one of these words
//               space?=shared|…   one of these words, or none
//               type=$int         a word of the named list in word_lists.def
//   operands  in order, separated by spaces
//               >d:type           written: a register of the type that slot `type` names
//               a:b32             read: a register or an immediate of type .b32
//               #n                an immediate
//               [p:space]         an address in the state space of slot `space` (none: generic)
//               [p:shared]        an address in that state space; [p:tensor] is tensor memory
//               [m{dim}:generic]  an address with that many coordinates: [m, {c0, c1}]
//               >d{4}:f32         four of them in braces; {num} as many as the slot's word says,
//                                 {*} as many as the row's `count` function says
//               >d|p:b32          d with a predicate behind a bar; |p? the bar part is optional
//               ^target           a label
//               ~targets          a list of labels, `.branchtargets`
//               *                 whatever follows is not checked (call)
//             after the name:  ? optional   @slot, @!slot, @a=w&!b  there exactly if this holds
//             after the type:  *2 twice as wide
//                              (0..15) (32|64) (0..512/32)  the values an immediate may have
//                              /r register only   /w wider register too   /s special register too
//                              /y address of a variable too   /_ the result may be dropped
//                              /b where one register is taken, braces may stand around it
//                              /p a part of a register too   /2 /4 two halves, four bytes too
//   gates     what the target must have: {condition, feature, PTX version, last PTX version,
//             {feature, PTX version} of targets that had it earlier}; all that apply must hold
//   rules     what does not go together: {condition, requirement, reason}. Where the condition holds
//             the requirement must; an empty requirement forbids. Without a reason the message says
//             the two conditions.
// A condition is a list of terms that must all hold: `trans` (given), `!trans`, `shape=m8n8|m8n16`,
// `type!=b8`. What this cannot say is a small function: `verify` returns a sentence or nothing.
// Behaviour that ptxas shows and the manual does not is noted beside the row.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "isa/operand.h"
#include "isa/words.h"
#include "target/target.h"

namespace ww::isa {

class Binding;
using target::Feature;

struct Gate {
  std::string_view when{};
  Feature needs = Feature::Sm75;
  int ptx = 63;
  int until = 0;  // the last version on sm_70 and later; modules for older ones keep it. 0: all
  /// Architectures that had it in an earlier version than the others. Version 0: none.
  struct Early {
    Feature on = Feature::Sm75;
    int ptx = 0;
  } early{};
};

struct Rule {
  std::string_view when{};
  std::string_view then{};
  std::string_view reason{};
};

/// A short list inside a constant.
template <typename T, std::size_t N>
class Few {
 public:
  constexpr Few() = default;
  constexpr Few(std::initializer_list<T> items) : size_(items.size()) {
    std::size_t i = 0;
    for (const T& item : items) items_.at(i++) = item;  // too many: does not compile
  }
  [[nodiscard]] constexpr std::span<const T> view() const { return {items_.data(), size_}; }

 private:
  std::array<T, N> items_{};
  std::size_t size_ = 0;
};

struct Row {
  Mnemonic mnemonic;
  std::string_view slots;
  std::string_view operands;
  Few<Gate, 12> gates{};
  Few<Rule, 12> rules{};
  /// How many registers the brace list of this operand has; 0: none of that many exists.
  int (*count)(const Binding&, std::string_view operand) = nullptr;
  /// What rows cannot say: the reason why it is illegal, or "".
  std::string (*verify)(const Binding&, std::span<const Operand>) = nullptr;
  std::string_view about{};
};

/// A chapter of the manual: the rows of one file of families/.
struct FamilyRows {
  std::string_view name;   // "ldmatrix"
  std::string_view title;  // one line for `isa list`
  std::span<const Row> rows;
};

}  // namespace ww::isa
