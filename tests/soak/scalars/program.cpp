// SPDX-License-Identifier: Apache-2.0
#include "soak/scalars/program.h"

#include <fmt/format.h>

#include <utility>

#include "eval/value/arithmetic.h"
#include "harness/edges.h"
#include "soak/scalars/expressions.h"

namespace ww::test {
namespace {

using num::DType;
using Texts = std::vector<std::string>;

constexpr std::int64_t kMaxStatements = 9;
constexpr std::size_t kMaxLoops = 2;  // inside each other

class Statements {
 public:
  explicit Statements(ScalarDraft& draft) : d_(draft), tape_(draft.tape), e_(draft) {}

  // Names of a block are gone behind it.
  void block(const Place& at, std::int64_t count) {
    const std::size_t before = d_.names.size();
    for (std::int64_t i = 0; i < count; ++i) one(at);
    d_.names.resize(before);
  }
  // What the names that are left hold.
  void finish(const Place& at) {
    for (const ScalarName& each : std::vector(d_.names))
      if (each.is_mutable) d_.text.line(at, d_.output(at, each.type) + " = " + each.text);
  }
  void one(const Place& at);

 private:
  // Shallow ones show more of what they compute.
  int depth() { return tape_.pick(std::vector{1, 2, 1, 3, 2, 4}); }
  std::string expression(DType type) { return e_.of(type, depth()); }
  DType any_type() { return tape_.below(8) == 7 ? DType::Bool : d_.any_number(); }
  void add(std::string name, DType type, bool is_mutable) {
    d_.names.push_back({.text = std::move(name), .type = type, .is_mutable = is_mutable});
  }

  void store(const Place& at);
  void declare(const Place& at);
  void assign(const Place& at);
  void test(const Place& at);
  void branch(const Place& at);
  void loop(const Place& at);
  void repeat(const Place& at);
  void registers(const Place& at);
  void copy(const Place& at);
  void leave(const Place& at);

  struct Head {
    std::string text;
    DType type = DType::Int32;
    bool is_thread = false;  // threads need not agree about the rounds
  };
  Head head_of_loop(const Place& at, const std::string& name);
  std::string bounds_near_end(DType type);
  std::string bounds_of_run_time(const Place& at, DType& type);
  std::string small_value(const Place& at, DType type);
  Place body_of(const Place& at, const std::string& var) const {
    Place out = at.inside();
    out.loops.emplace_back(var, 0);
    return out;
  }

  ScalarDraft& d_;
  Tape& tape_;
  Expressions e_;
};

// --- values --------------------------------------------------------------------------------------

void Statements::store(const Place& at) {
  const DType type = any_type();
  const std::string text = expression(type);
  const std::int64_t how = tape_.below(4);
  const auto write = [&](bool by_name) {
    const std::string to = d_.output(at, type);
    d_.text.line(at, to + " = " + d_.rendered(text, by_name));
  };
  write(how == 1);
  if (how < 2) return;
  const std::string first = d_.last_output();
  write(true);
  d_.alike.emplace_back(first, d_.last_output());
}

void Statements::declare(const Place& at) {
  const DType type = any_type();
  const std::string text = d_.rendered(expression(type));
  switch (tape_.below(4)) {
    case 0:
    case 1: {
      const std::string name = d_.text.fresh("x");
      d_.text.line(at, "{}: T.{} = {}", name, num::name_of(type), text);
      return add(name, type, true);
    }
    case 2: {
      const std::string name = d_.text.fresh("y");
      d_.text.line(at, "{}: T.let = {}", name, text);
      return add(name, type, false);
    }
    default: {
      const std::string name = d_.text.fresh("z");
      d_.text.line(at, "{} = {}", name, text);
      return add(name, type, true);
    }
  }
}

void Statements::assign(const Place& at) {
  static const Texts kWords = {"+", "-", "*"};
  const DType type = any_type();
  const std::string name = e_.target(type);
  if (name.empty()) return declare(at);
  const std::string text = d_.rendered(expression(type));
  const std::string word = tape_.pick(kWords);
  if (type == DType::Bool || tape_.one_in(2)) return d_.text.line(at, name + " = " + text);
  if (tape_.one_in(2)) return d_.text.line(at, "{} {}= {}", name, word, text);
  d_.text.line(at, "{0} = {0} {1} {2}", name, word, text);
}

// One condition, as a value and as what decides.
void Statements::test(const Place& at) {
  const std::string condition = d_.rendered(e_.condition(depth()));
  const std::string value = d_.output(at, DType::Int32), first = d_.last_output();
  switch (tape_.below(4)) {
    case 0:
      d_.text.line(at, "{} = T.Select({}, 1, 0)", value, condition);
      break;
    case 1:
      d_.text.line(at, "{} = T.cast({}, \"int32\")", value, condition);
      break;
    case 2:
      d_.text.line(at, "{} = T.if_then_else({}, 1, 0)", value, condition);
      break;
    default: {
      const std::string name = d_.text.fresh("b");
      d_.text.line(at, "{}: T.bool = {}", name, condition);
      d_.text.line(at, "{} = T.cast({}, \"int32\")", value, name);
      add(name, DType::Bool, true);
    }
  }
  const std::string decided = d_.output(at, DType::Int32), second = d_.last_output();
  d_.alike.emplace_back(first, second);
  if (tape_.one_in(4)) {
    d_.text.line(at, decided + " = 1");
    d_.text.line(at, "if not {}:", condition);
    return d_.text.line(at, "    {} = 0", decided);
  }
  d_.text.line(at, "if {}:", condition);
  d_.text.line(at, "    {} = 1", decided);
  d_.text.line(at, "else:");
  d_.text.line(at, "    {} = 0", decided);
}

// --- control -------------------------------------------------------------------------------------

void Statements::branch(const Place& at) {
  Place inside = at.inside();
  inside.is_thread = true;
  const auto arm = [&](const std::string& head) {
    d_.text.line(at, head);
    block(inside, 1 + tape_.below(2));
  };
  arm(fmt::format("if {}:", d_.rendered(e_.condition(depth()))));
  if (tape_.one_in(4)) arm(fmt::format("elif {}:", d_.rendered(e_.condition(depth()))));
  if (tape_.one_in(2)) arm("else:");
}

// A number of run time from 0 to 4.
std::string Statements::small_value(const Place& at, DType type) {
  if (tape_.one_in(3)) return d_.parameter(type, static_cast<std::uint64_t>(tape_.below(5)));
  const std::string name = d_.text.fresh("n");
  d_.text.line(at, "{}: T.{} = {} % {}", name, num::name_of(type), d_.rendered(expression(type)),
               literal_of(type, 5));
  return name;
}

// From 4 or fewer rounds before the greatest number, or from the least one.
std::string Statements::bounds_near_end(DType type) {
  const bool is_signed = num::kind_of(type) == num::DTypeKind::Int;
  const std::uint64_t most = eval::low_mask(num::bits_of(type) - (is_signed ? 1 : 0));
  const auto rounds = static_cast<std::uint64_t>(1 + tape_.below(4));
  if (!is_signed || tape_.one_in(2)) return fmt::format("{}, {}", most - rounds, most);
  return fmt::format("-{}, -{}", most + 1, most + 1 - rounds);
}

std::string Statements::bounds_of_run_time(const Place& at, DType& type) {
  type = tape_.one_in(3) ? DType::Int64 : DType::Int32;
  const std::string count = small_value(at, type);
  switch (tape_.below(4)) {
    case 0:
      return count;
    case 1:
      return fmt::format("-{0}, {0}", count);
    case 2:
      return fmt::format("tid & 3, {}", count);
    default:
      if (!d_.may_overflow) return fmt::format("{} - 3, 2", count);
      const std::string any = e_.of(DType::Int32, 0);
      type = DType::Int32;
      return d_.rendered(fmt::format("{0}, {0} + 3", any));
  }
}

// Of a loop that runs a few times.
Statements::Head Statements::head_of_loop(const Place& at, const std::string& name) {
  static const Texts kKinds = {"range", "T.serial", "T.unroll", "range"};
  const std::int64_t which = tape_.below(6);
  if (which == 5) {
    const DType type = tape_.pick(std::vector{DType::Int32, DType::Int64});
    const std::string bounds = bounds_near_end(type);
    return {type == DType::Int32
                ? fmt::format("for {} in range({}):", name, bounds)
                : fmt::format("for {} in T.serial({}, dtype=\"int64\"):", name, bounds),
            type};
  }
  if (which >= 3) {
    DType type = DType::Int32;
    const std::string bounds = bounds_of_run_time(at, type);
    return {fmt::format("for {} in range({}):", name, bounds), type, true};
  }
  const std::string& kind = tape_.pick(kKinds);
  const std::int64_t rounds = 1 + tape_.below(4), begin = tape_.below(7) - 3;
  if (which == 0) return {fmt::format("for {} in {}({}):", name, kind, rounds)};
  if (which == 1) return {fmt::format("for {} in {}({}, {}):", name, kind, begin, begin + rounds)};
  const std::int64_t step = 1 + tape_.below(3), end = begin + rounds * step - tape_.below(step);
  return {fmt::format("for {} in T.serial({}, {}, step={}):", name, begin, end, step)};
}

void Statements::leave(const Place& at) {
  const char* const word = tape_.one_in(2) ? "continue" : "break";
  d_.text.line(at, "if {}:", d_.rendered(e_.condition(depth())));
  d_.text.line(at, "    {}", word);
}

void Statements::loop(const Place& at) {
  const std::string name = d_.text.fresh("i");
  const Head head = head_of_loop(at, name);
  const std::size_t before = d_.names.size();
  d_.text.line(at, head.text);
  Place inside = body_of(at, name);
  inside.is_thread = at.is_thread || head.is_thread;
  add(name, head.type, false);
  if (!head.text.contains("unroll") && tape_.one_in(5)) {
    inside.is_thread = true;
    leave(inside);
  }
  block(inside, 1 + tape_.below(3));
  d_.names.resize(before);
}

// It ends: it counts, wrapping around if need be, or it halves.
void Statements::repeat(const Place& at) {
  const DType type = d_.any_integer();
  const std::string name = d_.text.fresh("w"), written(num::name_of(type));
  std::string condition, step;
  switch (tape_.below(3)) {
    case 0: {
      const std::uint64_t begin = tape_.pick(edges_of(type));
      const std::uint64_t end = begin + static_cast<std::uint64_t>(1 + tape_.below(4));
      d_.text.line(at, "{}: T.{} = {}", name, written, literal_of(type, begin));
      condition =
          fmt::format("{} != {}", name, literal_of(type, end & eval::low_mask(num::bits_of(type))));
      step = fmt::format("{0} = {0} + 1", name);
      break;
    }
    case 1:
      d_.text.line(at, "{}: T.{} = {}", name, written, d_.rendered(expression(type)));
      condition = fmt::format("{} > 3", name);
      step = fmt::format("{0} = {0} // {1}", name, 2 + tape_.below(3));
      break;
    default:
      d_.text.line(at, "{}: T.{} = {}", name, written, d_.rendered(expression(type)));
      condition = fmt::format("{0} != 0 and {0} != -1", name);
      if (num::kind_of(type) != num::DTypeKind::Int) condition = name + " != 0";
      step = fmt::format("{0} = {0} >> {1}", name, 1 + tape_.below(3));
  }
  if (tape_.one_in(3))
    condition = fmt::format("{} and {}", condition, d_.rendered(e_.condition(depth())));
  const std::size_t before = d_.names.size();
  d_.text.line(at, "while {}:", condition);
  Place inside = body_of(at, name);
  inside.is_thread = true;
  d_.text.line(inside, step);
  add(name, type, false);
  if (tape_.one_in(5)) leave(inside);
  block(inside, 1 + tape_.below(2));
  d_.names.resize(before);
}

// --- arrays --------------------------------------------------------------------------------------

// Registers at indices of run time.
void Statements::registers(const Place& at) {
  constexpr std::int64_t kRegisters = 4;
  const DType type = any_type();
  const std::string name = d_.text.fresh("r");
  d_.text.line(at, "{} = T.alloc_local(({},), \"{}\")", name, kRegisters, num::name_of(type));
  const std::string input = d_.input(type);
  d_.text.line(at, "for q in range({}):", kRegisters);
  d_.text.line(at, "    {}[q] = {}[tid * {} + q]", name, input, kRegisters);
  const std::string to = e_.index(kRegisters), what = d_.rendered(expression(type));
  d_.text.line(at, "{}[{}] = {}", name, to, what);
  const std::string from = e_.index(kRegisters);
  d_.text.line(at, "{} = {}[{}]", d_.output(at, type), name, from);
}

// A tile from a start that was computed, by all threads together, perhaps under a condition.
void Statements::copy(const Place& at) {
  if (at.is_thread || !at.loops.empty()) return store(at);
  const DType type = d_.any_number();
  d_.is_uniform = true;
  const std::string start = d_.text.fresh("s");
  const int deep = depth();
  const std::string text = tape_.one_in(4) ? e_.of(DType::Int32, deep) : e_.plain_integer(deep);
  d_.text.line(at, "{}: T.int32 = {} % {}", start, d_.rendered(text),
               ScalarDraft::kElements - d_.threads + 1);
  std::string predicate;
  if (tape_.one_in(3)) predicate = ", predicate=" + d_.rendered(e_.condition(depth()));
  d_.is_uniform = false;
  const std::string to = d_.array(type, {d_.ctas, d_.threads});
  d_.text.line(at, "Tx.cta.copy({0}[cta, 0:{1}], {2}[{3} : {3} + {1}]{4})", to, d_.threads,
               d_.input(type), start, predicate);
}

// --- choice --------------------------------------------------------------------------------------

void Statements::one(const Place& at) {
  struct Kind {
    const char* name;
    int weight;
    bool is_nested;
    void (Statements::*write)(const Place&);
  };
  static constexpr Kind kKinds[] = {{"scalars: store", 6, false, &Statements::store},
                                    {"scalars: declaration", 4, false, &Statements::declare},
                                    {"scalars: assignment", 3, false, &Statements::assign},
                                    {"scalars: condition twice", 4, false, &Statements::test},
                                    {"scalars: branch", 2, true, &Statements::branch},
                                    {"scalars: for", 2, true, &Statements::loop},
                                    {"scalars: while", 1, true, &Statements::repeat},
                                    {"scalars: registers", 1, false, &Statements::registers},
                                    {"scalars: copy", 1, false, &Statements::copy}};
  std::vector<const Kind*> fitting;
  for (const Kind& each : kKinds)
    if (!each.is_nested || (at.depth < 3 && at.loops.size() < kMaxLoops))
      fitting.insert(fitting.end(), static_cast<std::size_t>(each.weight), &each);
  const Kind& kind = *tape_.pick(fitting);
  (this->*kind.write)(at);
  ++d_.kinds[kind.name];
}

}  // namespace

WholeProgram scalar_program(Tape& tape) {
  ScalarDraft draft(tape);
  Statements statements(draft);
  const Place top;
  const std::int64_t count = 2 + tape.below(kMaxStatements);
  for (std::int64_t i = 0; i < count; ++i) statements.one(top);
  statements.finish(top);
  WholeProgram out{
      .program = {.source = draft.source(), .target = draft.target, .inputs = Inputs::Edges},
      .steps = draft.kinds,
      .alike = draft.alike,
      .may_overflow = draft.may_overflow};
  out.program.seed = 1 + static_cast<std::uint64_t>(tape.below(1000));
  out.program.scalars = draft.values;
  out.program.scalars["p0"] = tape.below(3);
  return out;
}

}  // namespace ww::test
