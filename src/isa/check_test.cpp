// SPDX-License-Identifier: Apache-2.0
// What the checker says about wrong instructions, word for word, and which part it points at.
#include "isa/check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "isa/special_registers.h"

namespace ww {

// For GoogleTest's messages.
static void PrintTo(DiagKind kind, std::ostream* out) { *out << name_of(kind); }

}  // namespace ww

namespace ww::isa::check_test {
namespace {

using target::Arch;
using target::Target;

// --- instructions from text ----------------------------------------------------------------------

struct Name {
  std::string_view prefix;
  OperandKind kind;
  Type type;
  Space space;
};

// A register's type follows from its prefix, the longest that fits; other names are whole.
constexpr Name kNames[] = {
    {"%p", OperandKind::Register, Type::Pred, {}},
    {"%rs", OperandKind::Register, Type::B16, {}},
    {"%rd", OperandKind::Register, Type::B64, {}},
    {"%r", OperandKind::Register, Type::B32, {}},
    {"%fd", OperandKind::Register, Type::F64, {}},
    {"%f", OperandKind::Register, Type::F32, {}},
    {"%u", OperandKind::Register, Type::U32, {}},
    {"gl", OperandKind::Symbol, {}, Space::Global},
    {"cn", OperandKind::Symbol, {}, Space::Const},
    {"L", OperandKind::Label, {}, {}},
    {"_", OperandKind::Sink, {}, {}},
};

// Reads one instruction of the tables below and keeps what its operands point to.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {
    const auto space = std::min(text.find(' '), text.size());
    instruction_.opcode = text.substr(0, space);
    instruction_.span = Span::at(0, space);
    at_ = space;
    if (at_ < text.size()) operands_ = list('\0');
    instruction_.operands = operands_;
  }
  [[nodiscard]] const Instruction& instruction() const { return instruction_; }

 private:
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_spaces() {
    while (peek() == ' ') ++at_;
  }

  // Operands between commas, and the character that ends them.
  std::vector<Operand> list(char end) {
    std::vector<Operand> items;
    do {
      if (peek() == ',') ++at_;
      items.push_back(operand());
      skip_spaces();
    } while (peek() == ',');
    EXPECT_EQ(peek(), end) << text_;
    ++at_;
    return items;
  }

  Operand operand() {
    skip_spaces();
    const std::size_t begin = at_;
    Operand made = simple();
    if (peek() == '|') {
      ++at_;
      made = compound(OperandKind::Pair, {made, simple()});
    }
    made.span = Span::at(begin, at_);
    return made;
  }

  Operand simple() {
    switch (peek()) {
      case '{':
        ++at_;
        return compound(OperandKind::Vector, list('}'));
      case '[':
        ++at_;
        return compound(OperandKind::Address, list(']'));
      case '!': {
        ++at_;
        Operand made = word();
        made.negated = true;
        return made;
      }
      default:
        return word();
    }
  }

  Operand compound(OperandKind kind, std::vector<Operand> parts) {
    Operand made;
    made.kind = kind;
    made.parts = parts_.emplace_back(std::move(parts));
    return made;
  }

  Operand word() {
    const std::size_t begin = at_;
    while (is_name_char(peek()) || std::string_view("%.-").contains(peek())) {
      if (peek() == '\0') break;
      ++at_;
    }
    Operand made = meaning(text_.substr(begin, at_ - begin));
    made.span = Span::at(begin, at_);
    return made;
  }

  static Operand meaning(std::string_view word) {
    Operand made;
    made.text = word;
    made.kind = OperandKind::Undeclared;
    if (is_digit(word.front()) || word.front() == '-') {
      made.kind = word.starts_with("0f") ? OperandKind::F32Bits
                  : word.contains('.')   ? OperandKind::Decimal
                                         : OperandKind::Integer;
      if (made.kind == OperandKind::Integer) made.value = std::stoll(std::string(word));
    } else if (const SpecialRegister* special = find_special(word)) {
      made.kind = OperandKind::Special;
      made.type = special->type;
    } else {
      for (const Name& name : kNames) {
        const std::string_view rest = word.substr(std::min(word.size(), name.prefix.size()));
        if (!word.starts_with(name.prefix) || !std::ranges::all_of(rest, is_digit)) continue;
        made.kind = name.kind;
        made.type = name.type;
        made.space = name.space;
        break;
      }
    }
    return made;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Instruction instruction_;
  std::vector<Operand> operands_;
  std::deque<std::vector<Operand>> parts_;
};

Result<Legal> check(std::string_view text, Target target = {Arch::Sm100a, 90}) {
  return Checker(target).check(Reader(text).instruction());
}

struct Wrong {
  std::string_view text;
  DiagKind kind;
  std::string_view message;
  std::string_view at;  // what the diagnostic points at
};

void expect_refused(const Wrong& wrong, Target target = {Arch::Sm100a, 90}) {
  const auto result = check(wrong.text, target);
  ASSERT_FALSE(result) << wrong.text << " is legal";
  const Diag& diag = result.error();
  EXPECT_EQ(diag.text, wrong.message) << wrong.text;
  EXPECT_EQ(diag.kind, wrong.kind) << wrong.text;
  ASSERT_TRUE(diag.span.known) << wrong.text;
  EXPECT_EQ(wrong.text.substr(diag.span.begin, diag.span.end - diag.span.begin), wrong.at)
      << wrong.text;
}

// --- opcodes -------------------------------------------------------------------------------------

TEST(Check, NamesUnknownInstructions) {
  const Wrong cases[] = {
      {"ldmatrx.sync.aligned.m8n8.x1.b16 {%r0}, [%rd1]", DiagKind::UnknownName,
       "no instruction is called `ldmatrx`; did you mean `ldmatrix`?", "ldmatrx"},
      {"cp.asynk.ca.shared.global [%r0], [%rd0], 4", DiagKind::UnknownName,
       "no instruction is called `cp.asynk`; did you mean `cp.async`?", "asynk"},
      {"txq.width.b32 %r0, [%rd0]", DiagKind::UnknownName,
       "`txq` asks about textures and surfaces, which is not modelled", "txq"},
      {"suq.width.b32 %r0, [%rd0]", DiagKind::UnknownName,
       "`suq` asks about textures and surfaces, which is not modelled", "suq"},
      {"frobnicate %r0", DiagKind::UnknownName, "no instruction is called `frobnicate`",
       "frobnicate"},
  };
  for (const Wrong& wrong : cases) expect_refused(wrong);
}

TEST(Check, NamesTheModifierAtFault) {
  const Wrong cases[] = {
      {"ldmatrix.sync.aligned.m8n8.x1.shard.b16 {%r0}, [%r4]", DiagKind::IllegalForm,
       "`ldmatrix` has no modifier `.shard`; did you mean `.shared`?", "shard"},
      {"add.s23 %r0, %r1, %r2", DiagKind::IllegalForm,
       "`add` has no modifier `.s23`; did you mean `.s32`?", "s23"},
      {"ldmatrix.sync.aligned.m8n8.shared.b16 {%r0}, [%r4]", DiagKind::IllegalForm,
       "`ldmatrix` needs one of `.x1`, `.x2`, `.x4`", "ldmatrix"},
      {"ldmatrix.sync.m8n8.x1.shared.b16 {%r0}, [%r4]", DiagKind::IllegalForm,
       "`ldmatrix` needs `.aligned`", "ldmatrix"},
      {"ldmatrix.sync.aligned.m16n16.x4.trans.shared.b8 {%r0, %r1}, [%r4]", DiagKind::IllegalForm,
       "`.x4` does not go with the other modifiers of `ldmatrix`", "x4"},
      {"ldmatrix.sync.aligned.m8n8.x1.shared.b8 {%r0}, [%r4]", DiagKind::IllegalForm,
       "`.b8` does not go with the other modifiers of `ldmatrix`", "b8"},
      {"ld.global.shared.b32 %r0, [%rd0]", DiagKind::IllegalForm,
       "`.shared` does not go with the other modifiers of `ld`", "shared"},
      {"set.eq.u64.u32 %rd0, %r0, %r1", DiagKind::IllegalForm,
       "`.u64` does not go with the other modifiers of `set`", "u64"},
      {"dp4a.u32.s32.u32 %r0, %r1, %r2, %r3", DiagKind::IllegalForm,
       "the types `.u32.s32.u32` do not go with `dp4a`", "u32"},
  };
  for (const Wrong& wrong : cases) expect_refused(wrong);
}

TEST(Check, ShowsTheNearestForm) {
  const auto result = check("ldmatrix.sync.aligned.m16n16.x4.trans.shared.b8 {%r0, %r1}, [%r4]");
  ASSERT_FALSE(result);
  ASSERT_EQ(result.error().notes.size(), 1U);
  EXPECT_EQ(result.error().notes[0].text,
            "the nearest form is "
            "`ldmatrix.sync.aligned.m16n16.x1|.x2.trans{.shared|.shared::cta}.b8 {d…}, [p]`");
}

// The opcode as a whole is at fault.
TEST(Check, SaysWhichRuleIsBroken) {
  const Wrong cases[] = {
      {"add.sat.u32 %r0, %r1, %r2", DiagKind::IllegalForm, "`.sat` is for `.s32` only",
       "add.sat.u32"},
      {"min.xorsign.f32 %f0, %f1, %f2", DiagKind::IllegalForm,
       "with `.xorsign`, `min` needs `.abs`", "min.xorsign.f32"},
      {"ld.shared.L2::cache_hint.b32 %r0, [%r1], %rd0", DiagKind::IllegalForm,
       "caches, their hints and policies are for global and generic addresses",
       "ld.shared.L2::cache_hint.b32"},
      {"cvt.u32.f32 %r0, %f0", DiagKind::IllegalForm,
       "`cvt.u32.f32` needs one of `.rni`, `.rzi`, `.rmi`, `.rpi`", "cvt.u32.f32"},
      {"ld.global.v8.b64 {%rd0, %rd1, %rd2, %rd3, %rd4, %rd5, %rd6, %rd7}, [%rd8]",
       DiagKind::IllegalForm, "`.v8` holds 32-bit elements, not 64-bit ones", "ld.global.v8.b64"},
      {"cp.async.cg.shared.global [%r0], [%rd0], 16, 32", DiagKind::IllegalForm,
       "the source size is 32, more than the copied 16 bytes", "cp.async.cg.shared.global"},
      {"mbarrier.arrive.shared::cluster.b64 %rd0, [%r0]", DiagKind::IllegalForm,
       "an arrive on a barrier of the cluster returns nothing; write `_` as its result",
       "mbarrier.arrive.shared::cluster.b64"},
  };
  for (const Wrong& wrong : cases) expect_refused(wrong);
}

// --- operands ------------------------------------------------------------------------------------

TEST(Check, CountsOperands) {
  const Wrong cases[] = {
      {"add.s32 %r0, %r1", DiagKind::BadOperand,
       "operand `b` is missing; the form is `add{.sat}.type d, a, b`", "%r1"},
      {"add.s32 %r0, %r1, %r2, %r3", DiagKind::BadOperand,
       "`add` takes no operand here; its form is `add{.sat}.type d, a, b`", "%r3"},
      {"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0}, [%r4]", DiagKind::BadOperand,
       "operand `d` has 1 register, `ldmatrix.sync.aligned.m8n8.x4.shared.b16` takes 4", "{%r0}"},
      {"ld.global.v4.b32 {%r0, %r1, %r2}, [%rd0]", DiagKind::BadOperand,
       "operand `d` has 3 registers, `ld.global.v4.b32` takes 4", "{%r0, %r1, %r2}"},
      {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 %r0, [%r4]", DiagKind::BadOperand,
       "operand `d` is a register, a list in braces is wanted", "%r0"},
      // ptxas takes it and keeps the low byte
      {"mov.b32 %r0, {%r1}", DiagKind::BadOperand,
       "operand `a` of `mov` is a list in braces, a register or a constant is wanted", "{%r1}"},
      {"ld.global.v2.b32 {_, _}, [%rd0]", DiagKind::BadOperand,
       "at least one element of the list must not be `_`", "{_, _}"},
      {"ld.global.b32 _, [%rd0]", DiagKind::BadOperand, "`ld` cannot drop its result `d`", "_"},
      {"setp.eq.u32 _|_, %r0, %r1", DiagKind::BadOperand,
       "at least one of the two results must not be `_`", "_|_"},
      {"st.global.b32 [%rd0], _", DiagKind::BadOperand,
       "`_` is not a value; `st` reads operand `b`", "_"},
  };
  for (const Wrong& wrong : cases) expect_refused(wrong);
}

TEST(Check, ComparesRegisterTypes) {
  const Wrong cases[] = {
      {"add.f32 %f0, %u1, %f2", DiagKind::BadOperand,
       "`%u1` is declared `.u32`; operand `a` of `add.f32` takes `.b32` or `.f32`", "%u1"},
      {"add.u32 %r0, %f1, %r2", DiagKind::BadOperand,
       "`%f1` is declared `.f32`; operand `a` of `add.u32` takes `.b32`, `.s32` or `.u32`", "%f1"},
      {"setp.eq.u32 %r0, %r1, %r2", DiagKind::BadOperand,
       "`%r0` is declared `.b32`; operand `p` of `setp.eq.u32` takes a predicate", "%r0"},
      {"ld.global.b64 %r0, [%rd0]", DiagKind::BadOperand,
       "`%r0` is declared `.b32`; operand `d` of `ld.global.b64` takes any 64-bit type, or wider",
       "%r0"},
      {"add.u32 %r0, !%r1, %r2", DiagKind::BadOperand,
       "`%r1` is declared `.b32`; only predicates can be negated", "!%r1"},
      {"setp.eq.u32 !%p0, %r1, %r2", DiagKind::BadOperand,
       "operand `p` of `setp` is written and cannot be negated", "!%p0"},
      {"shfl.sync.idx.b32 %r0|%r1, %r2, %r3, %r4, %r5", DiagKind::BadOperand,
       "the second result is a `.b32` register, a predicate is wanted", "%r1"},
      {"add.u32 %r0|%p0, %r1, %r2", DiagKind::BadOperand,
       "operand `d` of `add` takes no second result behind a bar", "%r0|%p0"},
      {"elect.sync %r0, %r1", DiagKind::BadOperand,
       "operand `d` of `elect` needs a predicate behind a bar", "%r0"},
      {"add.u32 %r0, %x1, %r2", DiagKind::BadOperand, "`%x1` is not declared", "%x1"},
  };
  for (const Wrong& wrong : cases) expect_refused(wrong);
}

TEST(Check, TellsRegistersFromOtherThings) {
  const Wrong cases[] = {
      {"add.u32 5, %r1, %r2", DiagKind::BadOperand, "operand `d` of `add` must be a register", "5"},
      {"stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r4], {5}", DiagKind::BadOperand,
       "operand `r` of `stmatrix` must be a register", "5"},
      {"cp.async.ca.shared.global [%r0], [%rd0], %r1", DiagKind::BadOperand,
       "operand `cp_size` of `cp.async` must be a constant", "%r1"},
      {"add.u32 %r0, %tid.x, 1", DiagKind::BadOperand,
       "`add` cannot read the special register `%tid.x`; move it into a register first", "%tid.x"},
      {"add.u32 _, %r1, %r2", DiagKind::BadOperand, "`add` cannot drop its result `d`", "_"},
      {"add.u32 %r0, L, %r2", DiagKind::BadOperand,
       "operand `a` of `add` is a label, a register or a constant is wanted", "L"},
      {"bra %r0", DiagKind::BadOperand, "operand `target` is a register, a label is wanted", "%r0"},
      {"mov.f32 %f0, gl", DiagKind::BadOperand, "the address of `gl` is not a `.f32` value", "gl"},
  };
  for (const Wrong& wrong : cases) expect_refused(wrong);
}

TEST(Check, ComparesConstants) {
  const Wrong cases[] = {
      {"cp.async.ca.shared.global [%r0], [%rd0], 5", DiagKind::BadOperand,
       "operand `cp_size` is 5, allowed: 4, 8, 16", "5"},
      {"setmaxnreg.inc.sync.aligned.u32 25", DiagKind::BadOperand,
       "operand `count` is 25, allowed: 24..256 in steps of 8", "25"},
      {"bar.sync 16", DiagKind::BadOperand, "operand `a` is 16, allowed: 0..15", "16"},
      {"add.f32 %f0, %f1, 1", DiagKind::BadOperand, "the integer 1 is not a `.f32` value", "1"},
      {"add.u32 %r0, %r1, 1.5", DiagKind::BadOperand,
       "a floating-point number is not a `.u32` value", "1.5"},
  };
  for (const Wrong& wrong : cases) expect_refused(wrong);
}

TEST(Check, ComparesAddresses) {
  const Wrong cases[] = {
      {"ld.shared.b32 %r0, [gl]", DiagKind::BadOperand,
       "`gl` is in the global space, `ld.shared.b32` addresses the shared space", "gl"},
      {"ld.b32 %r0, [cn]", DiagKind::BadOperand,
       "`cn` is in the const space, `ld.b32` addresses the generic space", "cn"},
      {"ld.global.b32 %r0, [%r1]", DiagKind::BadOperand,
       "`%r1` is declared `.b32`; an address in the global space is a 64-bit integer", "%r1"},
      {"ld.global.b32 %r0, [%fd1]", DiagKind::BadOperand,
       "`%fd1` is declared `.f64`; an address in the global space is a 64-bit integer", "%fd1"},
      {"tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r0}, [%rd1]", DiagKind::BadOperand,
       "`%rd1` is declared `.b64`; an address in the tensor space is a 32-bit integer", "%rd1"},
      {"ld.global.b32 %r0, %rd1", DiagKind::BadOperand,
       "operand `a` is a register, an address in brackets is wanted", "%rd1"},
      {"ld.global.b32 %r0, [5]", DiagKind::BadOperand,
       "5 is a plain number, which is an address in the local space only", "5"},
      {"cp.async.bulk.prefetch.tensor.2d.L2.global [%rd0, {%r1}]", DiagKind::BadOperand,
       "address `map` has 1 coordinate, `cp.async.bulk.prefetch.tensor.2d.L2.global` takes 2",
       "[%rd0, {%r1}]"},
      {"cp.async.bulk.prefetch.tensor.1d.L2.global [%rd0, {%rd1}]", DiagKind::BadOperand,
       "a coordinate is a `.b64` register, a 32-bit integer is wanted", "%rd1"},
      {"ld.global.b32 %r0, [%rd0, {%r1}]", DiagKind::BadOperand, "address `a` takes no coordinates",
       "[%rd0, {%r1}]"},
      {"ld.global.b32 %r0, [nowhere]", DiagKind::BadOperand, "`nowhere` is not declared",
       "nowhere"},
  };
  for (const Wrong& wrong : cases) expect_refused(wrong);
}

// --- targets -------------------------------------------------------------------------------------

TEST(Check, ComparesTheArchitecture) {
  expect_refused({"wgmma.fence.sync.aligned", DiagKind::NotOnTarget,
                  "`wgmma.fence` needs sm_90a; the target is sm_80", "wgmma.fence.sync.aligned"},
                 {Arch::Sm80, 90});
  expect_refused({"ld.global.L2::cache_hint.b32 %r0, [%rd0], %rd1", DiagKind::NotOnTarget,
                  "`ld` with `.L2::cache_hint` needs sm_80 or later; the target is sm_75",
                  "ld.global.L2::cache_hint.b32"},
                 {Arch::Sm75, 90});
  expect_refused(
      {"mov.u32 %r0, %cluster_ctarank", DiagKind::NotOnTarget,
       "`%cluster_ctarank` needs sm_90 or later; the target is sm_80", "%cluster_ctarank"},
      {Arch::Sm80, 90});
}

// A mnemonic that the target has in another form is not what is missing.
TEST(Check, NamesTheOpcodeWhereTheMnemonicExists) {
  expect_refused({"add.f32x2 %rd0, %rd1, %rd2", DiagKind::NotOnTarget,
                  "`add.f32x2` needs sm_100 or later; the target is sm_90", "add.f32x2"},
                 {Arch::Sm90, 90});
  expect_refused(
      {"stmatrix.sync.aligned.m8n8.x1.b16 [%rd0], {%r0}", DiagKind::NotOnTarget,
       "`stmatrix` needs sm_90 or later; the target is sm_80", "stmatrix.sync.aligned.m8n8.x1.b16"},
      {Arch::Sm80, 90});
}

TEST(Check, ComparesThePtxVersion) {
  expect_refused(
      {"ldmatrix.sync.aligned.m8n8.x1.b16 {%r0}, [%rd0]", DiagKind::NotOnTarget,
       "`ldmatrix` needs PTX 6.5; the module says 6.4", "ldmatrix.sync.aligned.m8n8.x1.b16"},
      {Arch::Sm75, 64});
  expect_refused(
      {"ld.shared::cta.b32 %r0, [%r1]", DiagKind::NotOnTarget,
       "`ld` with `.shared::cta` needs PTX 7.8; the module says 7.7", "ld.shared::cta.b32"},
      {Arch::Sm80, 77});
  expect_refused({"mov.u32 %r0, %cluster_ctarank", DiagKind::NotOnTarget,
                  "`%cluster_ctarank` needs PTX 7.8; the module says 7.0", "%cluster_ctarank"},
                 {Arch::Sm90, 70});
}

TEST(Check, KnowsWhatPtxHasDropped) {
  const Binding binding = bind_opcode("shfl.idx.b32").fits.at(0);
  EXPECT_FALSE(missing_on(binding, {Arch::Sm75, 63}));
  EXPECT_FALSE(missing_on(binding, {.arch = Arch::Sm75, .ptx = 90, .in_step = true}));
  EXPECT_EQ(lowest_ptx(binding, Arch::Sm80), std::nullopt);
  EXPECT_TRUE(archs_of(binding).empty());
  for (const std::string text : {"shfl.idx.b32 %r0, %r1, 1, 31", "vote.all.pred %p0, %p1"}) {
    const std::string opcode = text.substr(0, text.find(' '));
    expect_refused(
        {text, DiagKind::NotOnTarget,
         "`" + opcode +
             "` is for architectures before sm_70, or PTX 6.3 and older; the module says "
             "sm_75 and PTX 6.4",
         opcode},
        {Arch::Sm75, 64});
  }
}

TEST(Check, FindsTheLowestVersionAndTheArchitectures) {
  const Binding binding = bind_opcode("stmatrix.sync.aligned.m8n8.x1.b16").fits.at(0);
  EXPECT_EQ(lowest_ptx(binding, Arch::Sm80), std::nullopt);
  EXPECT_EQ(lowest_ptx(binding, Arch::Sm90), 78);
  EXPECT_EQ(lowest_ptx(binding, Arch::Sm90a), 80);  // the architecture itself is younger
  EXPECT_EQ(target::to_text(archs_of(binding)), "sm_90 or later");
  EXPECT_TRUE(missing_on(binding, {Arch::Sm80, 90}));
  EXPECT_FALSE(missing_on(binding, {Arch::Sm90, 78}));
}

// sm_90 has had it longer than sm_89, which is older.
TEST(Check, TakesEarlierVersionsOfSomeArchitectures) {
  const Binding binding = bind_opcode("cvt.rn.satfinite.e4m3x2.f32").fits.at(0);
  EXPECT_EQ(lowest_ptx(binding, Arch::Sm80), std::nullopt);
  EXPECT_EQ(lowest_ptx(binding, Arch::Sm89), 81);
  EXPECT_EQ(lowest_ptx(binding, Arch::Sm90), 78);
  EXPECT_EQ(lowest_ptx(binding, Arch::Sm100), 86);
  expect_refused(
      {"cvt.rn.f16x2.e4m3x2 %r0, %rs1", DiagKind::NotOnTarget,
       "`cvt.rn.f16x2.e4m3x2` needs PTX 8.1; the module says 8.0", "cvt.rn.f16x2.e4m3x2"},
      {Arch::Sm89, 80});
}

// --- legal ones ----------------------------------------------------------------------------------

TEST(Check, SaysWhichOperandIsWhich) {
  struct Case {
    std::string_view text;
    std::vector<int> operand_of;
  };
  const Case cases[] = {
      {"add.f32 %f0, %f1, 0f3F800000", {0, 1, 2}},
      {"ld.global.v4.b32 {%r0, _, %r2, %r3}, [gl]", {0, 1, -1}},
      {"cp.async.cg.shared.global [%r0], [%rd0], 16", {0, 1, 2, -1, -1}},
      {"cp.async.cg.shared.global.L2::cache_hint [%r0], [%rd0], 16, %rd1", {0, 1, 2, -1, 3}},
      {"selp.b32 %r0, %r1, 7, !%p0", {0, 1, 2, 3}},
      {"mov.u32 %r0, %tid.x", {0, 1}},
      {"bar.red.popc.u32 %r0, 1, %p0", {0, 1, -1, 2}},
  };
  for (const auto& [text, operand_of] : cases) {
    const auto result = check(text);
    ASSERT_TRUE(result) << text << ": " << result.error().text;
    EXPECT_EQ(result->operand_of, operand_of) << text;
  }
}

}  // namespace
}  // namespace ww::isa::check_test
