// SPDX-License-Identifier: Apache-2.0
// copy / shfl: from the registers of some lanes of a warp to those of others, by `shfl.sync`. Tried
// behind `reg`, which moves what stays in its thread, and `movmatrix`.
//
//     Tx.warp.copy(B[:, :], A[:, :])        A = S[(32,2):(1@laneid,1)], float32: a row in a lane
//                                           B = S[(16,2,2):(2@laneid,1,1@laneid)]: a column
//
//     word[0], word[1] = A[0], A[1]
//     swap = lane % 2 == 1
//     order[0] = select(swap, word[1], word[0])            # kept
//     order[1] = select(swap, word[0], word[1])            # given away
//     got[0] = T.tvm_warp_shuffle_xor(mask, order[1], 1, 32, 32)
//     B[0] = select(swap, got[0], order[0])
//     B[1] = select(swap, order[0], got[0])
//
// Lanes and registers of one layout must be a linear function of the bits of those of the other, as
// in all tiles with powers of two; any set of lanes may hold the same. Which registers a lane gives
// in which round is chosen such that as many as can be stay where they are. A word that takes two
// float16, or four bytes, from different words is put together by `prmt`.
#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "lower/call.h"
#include "lower/convert/exchange.h"
#include "lower/copy/phase_writer.h"
#include "lower/index_formula.h"
#include "lower/variant.h"

namespace ww::lower::convert_shfl {
namespace {

using ir::ExprId;

struct Plan {
  std::shared_ptr<const CopyProblem> problem;
  CopyItems items;
  std::vector<WordExchange> exchanges;
};

// --- match ---------------------------------------------------------------------------------------

Match<Plan> match(const Call& call) {
  WW_TRY_VOID(check_scope(call));
  Plan plan{.problem = WW_TRY(copy_problem(call)), .items = {}, .exchanges = {}};
  const OperandPlaces& dst = plan.problem->dst;
  const OperandPlaces& src = plan.problem->src;
  if (!dst.is_register() || !src.is_register())
    return other_memories(call, "registers on both sides");
  WW_TRY_VOID(check_plain(*plan.problem));
  WW_TRY_VOID(check_settings(call));
  WW_TRY_VOID(check_warps(call, "scope", "threads"));
  plan.items = WW_TRY(copy_items(call, *plan.problem));
  plan.exchanges = WW_TRY(find_exchanges(call, plan.items));
  return plan;
}

// --- words ---------------------------------------------------------------------------------------

// Which byte of two words, a before b, each byte of the result is: what prmt takes. A piece stands
// for `bytes` of them.
std::int64_t selector_of(const std::vector<std::int64_t>& pieces, std::int64_t bytes) {
  std::int64_t out = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i)
    for (std::int64_t b = 0; b < bytes; ++b)
      out |= (pieces[i] * bytes + b) << (4 * (static_cast<std::int64_t>(i) * bytes + b));
  return out;
}

// What is moved as one.
num::DType type_of(const CopyItems& items) {
  switch (items.bits * items.per_word) {
    case 8:
      return num::DType::Uint8;
    case 16:
      return num::DType::Uint16;
    case 64:
      return num::DType::Uint64;
    default:
      return num::DType::Uint32;
  }
}

/// A register of a stage.
struct Word {
  ir::BufferId array;
  std::int64_t index = 0;
  friend bool operator==(const Word&, const Word&) = default;
};
/// An item in it.
struct Piece {
  Word word;
  std::int64_t part = 0;
};

// Is it a word that is there already? What lies behind the last piece does not matter.
bool is_whole(const std::vector<Piece>& pieces) {
  for (std::size_t i = 0; i < pieces.size(); ++i)
    if (pieces[i].word != pieces[0].word || pieces[i].part != static_cast<std::int64_t>(i))
      return false;
  return true;
}

// --- emit ----------------------------------------------------------------------------------------

class Writer {
 public:
  Writer(const Plan& plan, const Call& call, CodeWriter& code)
      : items_(plan.items),
        problem_(*plan.problem),
        call_(call),
        code_(code),
        type_(type_of(items_)) {
    dst_ = flat_view(call, code, problem_.dst);
    src_ = problem_.src.buffer == problem_.dst.buffer ? dst_ : flat_view(call, code, problem_.src);
    thread_ = call.unit_thread(code);
    lane_ = code.simplify(code.mod(thread_, kLanesPerWarp));
  }

  void write(const WordExchange& exchange) {
    std::vector<Word> words = read(exchange);
    // On its way to its place a word may pass through the place of one that is not there.
    if (!exchange.before.empty()) words.resize(std::bit_ceil(words.size()), words[0]);
    for (const LaneSwap& swap : exchange.before) words = swapped(words, swap);
    words = exchanged(exchange, words);
    for (const LaneSwap& swap : exchange.behind) words = swapped(words, swap);
    code_.guarded(member_expr(code_, thread_, exchange.used), [&] {
      for (std::size_t w = 0; w < words.size(); ++w)
        move(at(problem_.dst, dst_, items_.dst.first_slot + exchange.dst[w]), pointer(words[w]));
    });
  }

 private:
  [[nodiscard]] std::int64_t bytes() const { return items_.bits / 8; }
  ExprId load(const Word& word) { return code_.load(word.array, {code_.n(word.index)}); }
  ExprId pointer(const Word& word) { return code_.pointer(word.array, code_.n(word.index)); }
  ir::PtxOperand operand(const Word& word) {
    return register_operand(code_, word.array, code_.n(word.index));
  }
  // Pointer to an item of an operand.
  ExprId at(const OperandPlaces& side, ir::BufferId flat, std::int64_t item) {
    return code_.pointer(flat, code_.add(side.base_expr(code_), item * items_.bits / side.bits));
  }
  void move(ExprId to, ExprId from) {
    code_.evaluate(ir::Intrinsic::CopyBytes, {to, from, code_.n(bytes() * items_.per_word)});
  }
  std::vector<Word> stage(std::string_view name, std::size_t count) {
    const ir::BufferId array = code_.registers(name, type_, static_cast<std::int64_t>(count));
    std::vector<Word> out;
    for (std::size_t i = 0; i < count; ++i) out.push_back({array, static_cast<std::int64_t>(i)});
    return out;
  }

  // Lanes that have nothing there give zeros, which no lane takes.
  std::vector<Word> read(const WordExchange& exchange) {
    std::vector<Word> out = stage("word", exchange.src.size());
    for (std::size_t w = 0; w < out.size(); ++w) {
      std::vector<bool> holders;
      for (std::int64_t u = 0; u < items_.src.threads; ++u)
        holders.push_back(items_.src.at(exchange.src[w], u) != kNoItem);
      if (std::ranges::find(holders, false) != holders.end())
        code_.store(out[w].array, code_.n(out[w].index), code_.zero(type_));
      code_.guarded(member_expr(code_, thread_, holders), [&] {
        move(pointer(out[w]), at(problem_.src, src_, items_.src.first_slot + exchange.src[w]));
      });
    }
    return out;
  }

  // Does the lane have an odd number of these bits?
  ExprId is_odd(BitVector lanes) {
    ExprId sum = {};
    for (std::int64_t b = 0; b < 5; ++b) {
      if ((lanes >> b & 1U) == 0) continue;
      const ExprId bit = code_.mod(code_.div(lane_, std::int64_t{1} << b), 2);
      sum = sum.valid() ? code_.bit_xor(sum, bit) : bit;
    }
    return code_.index(ir::ExprOp::Eq, sum, code_.n(1));
  }

  std::vector<Word> swapped(const std::vector<Word>& in, const LaneSwap& swap) {
    const std::int64_t across = swap.by / items_.per_word, within = swap.by % items_.per_word;
    const auto other = [&](std::size_t w) { return in[w ^ as_index(across)]; };
    const std::vector<Word> out = stage("order", in.size());
    if (within == 0) {
      const ExprId condition = code_.let("swap", is_odd(swap.lanes));
      for (std::size_t w = 0; w < in.size(); ++w)
        code_.store(out[w].array, code_.n(out[w].index),
                    code_.choose(ir::ExprOp::Select, condition, load(other(w)), load(in[w])));
      return out;
    }
    std::vector<std::int64_t> kept, taken;
    for (std::int64_t i = 0; i < items_.per_word; ++i) {
      kept.push_back(i);
      taken.push_back((i ^ within) + items_.per_word);
    }
    const ExprId pick = code_.let("pick", code_.choose(ir::ExprOp::Select, is_odd(swap.lanes),
                                                       code_.n(selector_of(taken, bytes())),
                                                       code_.n(selector_of(kept, bytes()))));
    for (std::size_t w = 0; w < in.size(); ++w)
      code_.ptx("prmt.b32", {operand(out[w]), operand(in[w]), operand(other(w)), {.expr = pick}});
    return out;
  }

  // Words made of pieces; a word that is whole already stays.
  std::vector<Word> packed(const std::vector<std::vector<Piece>>& wanted, std::string_view name) {
    const auto is_new = [&](const auto& pieces) { return !is_whole(pieces); };
    const auto count = as_index(std::ranges::count_if(wanted, is_new));
    const std::vector<Word> made = count == 0 ? std::vector<Word>{} : stage(name, count);
    std::vector<Word> out;
    std::size_t next = 0;
    for (const std::vector<Piece>& pieces : wanted) {
      if (!is_new(pieces)) {
        out.push_back(pieces[0].word);
        continue;
      }
      out.push_back(made[next++]);
      pack(out.back(), pieces);
    }
    return out;
  }
  // One word more with each instruction; behind the last piece anything.
  void pack(const Word& to, const std::vector<Piece>& pieces) {
    std::vector<Word> words;
    for (const Piece& piece : pieces)
      if (std::ranges::find(words, piece.word) == words.end()) words.push_back(piece.word);
    for (std::size_t k = words.size() == 1 ? 0 : 1; k < words.size(); ++k) {
      const bool is_first = k <= 1;
      std::vector<std::int64_t> from;
      for (std::int64_t i = 0; i < items_.per_word; ++i) {
        const auto found = i < std::ssize(pieces)
                               ? std::ranges::find(words, pieces[as_index(i)].word) - words.begin()
                               : 0;
        const std::int64_t part = i < std::ssize(pieces) ? pieces[as_index(i)].part : i;
        if (found == static_cast<std::ptrdiff_t>(k) && k > 0)
          from.push_back(part + items_.per_word);
        else
          from.push_back(is_first ? part : i);
      }
      code_.ptx("prmt.b32", {operand(to),
                             operand(is_first ? words[0] : to),
                             operand(words[k]),
                             {.expr = code_.n(selector_of(from, bytes()))}});
    }
  }

  // The rounds, and what they bring in the order of the destination.
  std::vector<Word> exchanged(const WordExchange& exchange, const std::vector<Word>& words) {
    std::vector<std::vector<Piece>> giving;
    for (const ExchangeRound& round : exchange.rounds) {
      std::vector<Piece>& pieces = giving.emplace_back();
      for (const std::int64_t item : round.given)
        pieces.push_back({words[as_index(item / items_.per_word)], item % items_.per_word});
    }
    const std::vector<Word> given = packed(giving, "given");
    std::vector<std::vector<Piece>> getting(exchange.dst.size());
    for (auto& pieces : getting) pieces.resize(as_index(items_.per_word));
    const std::vector<Word> got = shuffled(exchange, given);
    for (std::size_t r = 0; r < got.size(); ++r)
      for (std::size_t i = 0; i < exchange.rounds[r].got.size(); ++i) {
        const std::int64_t item = exchange.rounds[r].got[i];
        getting[as_index(item / items_.per_word)][as_index(item % items_.per_word)] = {
            got[r], static_cast<std::int64_t>(i)};
      }
    return packed(getting, "sorted");
  }

  std::vector<Word> shuffled(const WordExchange& exchange, const std::vector<Word>& given) {
    std::size_t count = 0;
    for (const ExchangeRound& round : exchange.rounds) count += exchange.is_own(round) ? 0U : 1U;
    if (count == 0) return given;
    const std::vector<Word> made = stage("got", count);
    const ExprId asked = asked_lane(exchange.asks);
    std::vector<Word> out;
    std::size_t next = 0;
    for (std::size_t r = 0; r < given.size(); ++r) {
      const ExchangeRound& round = exchange.rounds[r];
      if (exchange.is_own(round)) {
        out.push_back(given[r]);
        continue;
      }
      const ExprId by = asked.valid() ? code_.simplify(code_.bit_xor(asked, code_.n(round.asked)))
                                      : code_.n(round.asked);
      const auto how = asked.valid() ? ir::Intrinsic::Shfl : ir::Intrinsic::ShflXor;
      const ExprId all = ir::int_imm(code_.f(), num::DType::Uint32, 0xFFFF'FFFF, call_.span);
      out.push_back(made[next++]);
      code_.store(out.back().array, code_.n(out.back().index),
                  code_.call(how, {all, load(given[r]), by, code_.n(kLanesPerWarp),
                                   code_.n(kLanesPerWarp)}));
    }
    return out;
  }

  // T(lane); none for the identity.
  ExprId asked_lane(const BitMap& asks) {
    if (asks.is_identity()) return {};
    std::vector<std::int64_t> table;
    for (BitVector lane = 0; lane < kLanesPerWarp; ++lane) table.push_back(asks(lane));
    if (const auto form = fit_table(table))
      return code_.let("asked", digits_expr(code_, *form, lane_));
    ExprId sum = code_.n(0);
    for (std::size_t b = 0; b < asks.columns.size(); ++b) {
      const ExprId bit = code_.mod(code_.div(lane_, std::int64_t{1} << b), 2);
      sum = code_.bit_xor(sum, code_.mul(bit, asks.columns[b]));
    }
    return code_.let("asked", sum);
  }

  const CopyItems& items_;
  const CopyProblem& problem_;
  const Call& call_;
  CodeWriter& code_;
  num::DType type_;
  ir::BufferId dst_, src_;
  ExprId thread_, lane_;
};

void emit(const Plan& plan, const Call& call, CodeWriter& code) {
  Writer writer(plan, call, code);
  for (const WordExchange& exchange : plan.exchanges) writer.write(exchange);
}

// --- report --------------------------------------------------------------------------------------

PlanReport report(const Plan& plan, const Call& call) {
  PlanReport out = copy_report(call, *plan.problem);
  std::int64_t selects = 0;
  const std::int64_t bytes = plan.items.bits / 8 * plan.items.per_word;
  for (const WordExchange& each : plan.exchanges) {
    for (const ExchangeRound& round : each.rounds) {
      if (each.is_own(round)) continue;
      out.add_instruction(each.asks.is_identity() ? "shfl.sync.bfly.b32" : "shfl.sync.idx.b32", 1,
                          bytes);
      ++out.rounds;
    }
    selects += std::ssize(each.before) * std::ssize(each.src);
    selects += std::ssize(each.behind) * std::ssize(each.dst);
  }
  out.summary = fmt::format("{} shuffle{} per thread", out.rounds, out.rounds == 1 ? "" : "s");
  if (selects > 0)
    out.notes.push_back(fmt::format("{} selections between registers per thread", selects));
  return out;
}

constexpr Variant kVariants[] = {variant<Plan, match, emit, report>(
    {.op = ir::TileOp::Copy,
     .name = "shfl",
     .about = "shuffles between the registers of the lanes of a warp"})};

}  // namespace

constinit const std::span<const Variant> variants = kVariants;

}  // namespace ww::lower::convert_shfl
