// SPDX-License-Identifier: Apache-2.0
// Functions of intrinsics.def that one thread computes alone; those that exchange values between
// threads are in cta_exchange.cpp, barriers in cta_barrier.cpp.
#include <algorithm>
#include <cstdio>

#include "eval/cta.h"

namespace ww::eval {
namespace {

using ir::Expr;
using ir::Intrinsic;

Word combine(Intrinsic callee, num::DType type, Word old, Word value) {
  const auto with = [&](ir::ExprOp op) {
    Word out = 0;
    binary(op, type, {&old, 1}, {&value, 1}, {&out, 1});
    return out;
  };
  switch (callee) {
    case Intrinsic::AtomicAdd:
      return with(ir::ExprOp::Add);
    case Intrinsic::AtomicMin:
      return with(ir::ExprOp::Min);
    case Intrinsic::AtomicMax:
      return with(ir::ExprOp::Max);
    case Intrinsic::AtomicAnd:
      return old & value;
    case Intrinsic::AtomicOr:
      return old | value;
    case Intrinsic::AtomicXor:
      return old ^ value;
    default:
      return value;
  }
}

// One conversion of printf: "%-5.2f". The length letters are ours: values are 64 bits wide.
// Anything but flags, width and precision is dropped, so that the program's text cannot ask for
// other arguments.
std::string format_one(std::string spec, num::DType type, Word value) {
  const char letter = spec.back();
  spec.pop_back();
  std::erase_if(spec, [](char c) {
    return std::string_view("%-+ #.0123456789").find(c) == std::string_view::npos;
  });
  char out[512];
  if (std::string_view("fFeEgGaA").find(letter) != std::string_view::npos) {
    spec += letter;
    std::snprintf(out, sizeof out, spec.c_str(), as_real(type, value));  // NOLINT
  } else if (letter == 'c') {
    return std::string(1, static_cast<char>(value));
  } else {
    spec += "ll";
    spec += letter == 'p' ? 'x' : letter;
    std::snprintf(out, sizeof out, spec.c_str(),
                  static_cast<long long>(as_int(type, value)));  // NOLINT
  }
  return out;
}

std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char next = text[++i];
    out += next == 'n' ? '\n' : next == 't' ? '\t' : next;
  }
  return out;
}

}  // namespace

Words Cta::call(const Expr& expr, Threads ts) {
  const Intrinsic callee = expr.callee;
  switch (ir::facts_of(callee).effect) {
    case ir::Effect::Pure:
      return call_pure(expr, ts);
    case ir::Effect::Exchange:
      return call_exchange(expr, ts);
    case ir::Effect::Barrier:
      if (callee == Intrinsic::CtaReduce) return cta_reduce(expr, ts);
      return constant(0, ts.size());
    default:
      break;
  }
  if (callee == Intrinsic::Ldg) return load_pointer(expr, ts);
  if (callee == Intrinsic::CopyBytes)
    copy_bytes(expr, ts);
  else if (callee == Intrinsic::Printf)
    print(expr, ts);
  else if (callee == Intrinsic::FuncCall)
    stop(DiagKind::NotEvaluated, "`T.cuda.func_call` is not evaluated");
  else
    return atomic(expr, ts);
  return constant(0, ts.size());
}

Words Cta::call_pure(const Expr& expr, Threads ts) {
  std::vector<Words> args;
  for (const ir::ExprId arg : expr.args) args.push_back(eval(arg, ts));
  const num::DType type = type_of(expr.args[0]);
  Words out(run_.pool, args[0].size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    Word in[3] = {args[0][i], args.size() > 1 ? args[1][i % args[1].size()] : 0,
                  args.size() > 2 ? args[2][i % args[2].size()] : 0};
    switch (expr.callee) {
      case Intrinsic::PointerOffset:
      case Intrinsic::ByteOffset: {
        const int bits = expr.callee == Intrinsic::ByteOffset ? 8 : storage_bits(type);
        out[i] = in[0] + static_cast<Word>(as_int(type_of(expr.args[1]), in[1]) * bits / 8);
        break;
      }
      case Intrinsic::CvtaToShared: {
        const Place place = place_at(in[0]);
        const bool is_shared = place.root != kNoRoot &&
                               ir::is_shared(k_.roots[static_cast<std::size_t>(place.root)].scope);
        const std::uint32_t window =
            is_shared ? k_.roots[static_cast<std::size_t>(place.root)].window : 0;
        out[i] = (window + static_cast<Word>(is_shared ? place.bit / 8 : 0)) & low_mask(32);
        break;
      }
      case Intrinsic::TmemAddr:
        out[i] = (((in[0] >> 16) + in[1]) & 0xffff) << 16 | ((in[0] + in[2]) & 0xffff);
        break;
      default:
        out[i] = pure_call(expr.callee, type, std::span<const Word>(in).first(args.size()));
    }
  }
  return out;
}

Words Cta::load_pointer(const Expr& expr, Threads ts) {
  const Words pointers = eval(expr.args[0], ts);
  const int bits = storage_bits(expr.type.dtype);
  const std::size_t n = ts.size();
  Words out(run_.pool, n * expr.type.lanes);
  for (std::size_t i = 0; i < out.size(); ++i) {
    Element element = element_at(place_at(pointers[i % n]), ts[i % n]);
    element.place.bit += static_cast<std::int64_t>(i / n) * bits;
    out[i] = read_defined(element, bits, access_of(thread_agent(ts[i % n])));
  }
  return out;
}

Words Cta::atomic(const Expr& expr, Threads ts) {
  const Words pointers = eval(expr.args[0], ts);
  const Words first = eval(expr.args[1], ts);
  const bool is_cas = expr.callee == Intrinsic::AtomicCas;
  const Words second = is_cas ? eval(expr.args[2], ts) : constant(0, ts.size());
  const num::DType type = type_of(expr.args[1]);
  const int bits = storage_bits(type);
  Words out(run_.pool, ts.size());
  for (std::size_t i = 0; i < ts.size(); ++i) {
    const Element element = element_at(place_at(pointers[i]), ts[i]);
    out[i] = 0;
    if (!is_reachable(element, bits)) continue;
    Storage& storage = storage_of(element.place.root);
    const std::int64_t bit = absolute(element);
    if (storage.undefined(bit, bits) != 0 && expr.callee != Intrinsic::AtomicExch)
      report_undefined(element, thread_agent(ts[i]));
    out[i] = storage.value(bit, bits);
    const Word next = is_cas ? (out[i] == first[i] ? second[i] : out[i])
                             : combine(expr.callee, type, out[i], first[i]);
    write(element, bits, next, 0, access_of(thread_agent(ts[i]), true));
  }
  return out;
}

void Cta::copy_bytes(const Expr& expr, Threads ts) {
  const Words to = eval(expr.args[0], ts);
  const Words from = eval(expr.args[1], ts);
  const auto bytes = static_cast<std::int64_t>(eval(expr.args[2], ts)[0]);
  // As wide as the count allows: fewer pieces, and whole granules.
  const int bits = bytes % 8 == 0 ? 64 : bytes % 4 == 0 ? 32 : bytes % 2 == 0 ? 16 : 8;
  for (std::size_t i = 0; i < ts.size(); ++i) {
    std::vector<std::pair<Word, Word>> pieces;
    const Access by = access_of(thread_agent(ts[i]));
    for (std::int64_t at = 0; at < bytes * 8; at += bits) {
      Element source = element_at(place_at(from[i]), ts[i]);
      source.place.bit += at;
      Word undefined = 0;
      const Word value = read(source, bits, by, undefined);
      pieces.emplace_back(value, undefined);
    }
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      Element target = element_at(place_at(to[i]), ts[i]);
      target.place.bit += static_cast<std::int64_t>(p) * bits;
      write(target, bits, pieces[p].first, pieces[p].second, by);
    }
  }
}

void Cta::print(const Expr& expr, Threads ts) {
  const Expr& format_expr = (*f_)[expr.args[0]];
  if (format_expr.op != ir::ExprOp::TextImm) return;
  const std::string format = unescaped(f_->texts[format_expr.text]);
  std::vector<Words> args;
  for (std::size_t a = 1; a < expr.args.size(); ++a) args.push_back(eval(expr.args[a], ts));
  for (std::size_t i = 0; i < ts.size(); ++i) {
    std::size_t next = 0;
    for (std::size_t at = 0; at < format.size(); ++at) {
      if (format[at] != '%') {
        run_.printed += format[at];
        continue;
      }
      const std::size_t end = format.find_first_of("%diouxXfFeEgGaAcsp", at + 1);
      if (end == std::string::npos) break;
      const ir::ExprId arg = next < args.size() ? expr.args[next + 1] : ir::ExprId{};
      if (format[end] == '%') {
        run_.printed += '%';
      } else if (format[end] == 's') {
        if (arg.valid() && (*f_)[arg].op == ir::ExprOp::TextImm)
          run_.printed += f_->texts[(*f_)[arg].text];
        ++next;
      } else if (arg.valid()) {
        const ir::Type type = (*f_)[arg].type;
        run_.printed +=
            format_one(format.substr(at, end - at + 1),
                       type.is_pointer() ? num::DType::Uint64 : type.dtype, args[next][i]);
        ++next;
      }
      at = end;
    }
  }
}

}  // namespace ww::eval
