// SPDX-License-Identifier: Apache-2.0
#include "soak/scalars/draft.h"

#include <fmt/format.h>

#include <cmath>

#include "eval/value/arithmetic.h"
#include "soak/frame.h"

namespace ww::test {
namespace {

using num::DType;

const std::vector<DType> kIntegers = {DType::Int32,  DType::Int8,  DType::Uint32, DType::Int64,
                                      DType::Uint8,  DType::Int16, DType::Uint64, DType::Int32,
                                      DType::Uint16, DType::Int64};
const std::vector<DType> kFloats = {DType::Float32, DType::Float16, DType::Float64,
                                    DType::Bfloat16};

// As Python writes it: with a point, so that -0 stays what it is.
std::string real_text(double value) {
  std::string out = fmt::format("{}", value);
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  return out;
}

}  // namespace

std::string literal_of(DType type, std::uint64_t bits) {
  if (type == DType::Bool) return bits != 0 ? "T.bool(True)" : "T.bool(False)";
  const std::string name(num::name_of(type));
  if (!num::is_float(type)) {
    const bool is_signed = num::kind_of(type) == num::DTypeKind::Int;
    return is_signed ? fmt::format("T.{}({})", name, eval::as_int(type, bits))
                     : fmt::format("T.{}({})", name, bits);
  }
  const double value = eval::as_real(type, bits);
  if (std::isnan(value)) return fmt::format("T.{}(math.nan)", name);
  if (std::isinf(value)) return fmt::format("{}T.infinity(\"{}\")", value < 0 ? "-" : "", name);
  return fmt::format("T.{}({})", name, real_text(value));
}

ScalarDraft::ScalarDraft(Tape& tape_in) : tape(tape_in) {
  target = choose_target(tape);
  number_ = number_of_target(target);
  threads = tape.pick<std::int64_t>({32, 64, 48, 128});
  ctas = 1 + tape.below(3);
  may_overflow = tape.one_in(12);
  text.entry(ctas, threads, false);
  names = {{.text = "tid", .is_id = true}, {.text = "cta", .is_uniform = true, .is_id = true}};
  if (threads % 32 == 0)
    names.insert(names.end(), {{.text = "lane", .is_id = true}, {.text = "warp", .is_id = true}});
}

// --- types ---------------------------------------------------------------------------------------

DType ScalarDraft::any_integer() { return tape.pick(kIntegers); }
DType ScalarDraft::any_float() {
  const DType out = tape.pick(kFloats);
  return out == DType::Bfloat16 && !has_bfloat16() ? DType::Float32 : out;
}
DType ScalarDraft::any_number() { return tape.below(3) == 2 ? any_float() : any_integer(); }

// --- text ----------------------------------------------------------------------------------------

std::string ScalarDraft::array(DType type, const Extents& shape) {
  const std::string name = text.fresh("o");
  text.param(name, tuple(shape), num::name_of(type));
  last_output_ = name;
  return name;
}

std::string ScalarDraft::input(DType type) {
  std::string& name = inputs_[type];
  if (!name.empty()) return name;
  name = fmt::format("in_{}", num::name_of(type));
  text.param(name, tuple({kElements}), num::name_of(type));
  return name;
}

std::string ScalarDraft::output(const Place& at, DType type) {
  if (at.loops.empty()) return fmt::format("{}[cta, tid]", array(type, {ctas, threads}));
  const std::string name = array(type, {ctas, threads, kSlots});
  return fmt::format("{}[cta, tid, {} & {}]", name, at.loops.back().first, kSlots - 1);
}

std::string ScalarDraft::parameter(DType type, std::uint64_t bits) {
  const std::string name = text.fresh("k");
  text.scalar(name, num::name_of(type));
  values[name] = static_cast<std::int64_t>(bits);
  return name;
}

std::string ScalarDraft::constant(DType type, std::uint64_t bits) {
  constants_.push_back({type, bits, ""});
  return fmt::format("<{}>", constants_.size() - 1);
}

// Operators have blanks around them, so `<` before a digit is a constant.
std::string ScalarDraft::rendered(const std::string& written, bool by_name) {
  std::string out;
  for (std::size_t at = 0; at < written.size();) {
    const std::size_t begin = written.find_first_of('<', at);
    out += written.substr(at, begin - at);
    if (begin == std::string::npos) break;
    if (written[begin + 1] < '0' || written[begin + 1] > '9') {
      out += '<';
      at = begin + 1;
      continue;
    }
    const std::size_t end = written.find('>', begin);
    Constant& constant = constants_[std::stoul(written.substr(begin + 1, end - begin - 1))];
    if (by_name && constant.name.empty()) constant.name = parameter(constant.type, constant.bits);
    out += by_name ? constant.name : literal_of(constant.type, constant.bits);
    at = end + 1;
  }
  return out;
}

std::string ScalarDraft::source() const {
  return "import math\nfrom tvm.script import tirx as T\n"
         "from tvm.script.tirx import tile as Tx\n\n" +
         text.kernel();
}

}  // namespace ww::test
