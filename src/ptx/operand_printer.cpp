// SPDX-License-Identifier: Apache-2.0
#include "ptx/operand_printer.h"

namespace ww::ptx::printing {
namespace {

void integer(Printed& to, std::uint64_t bits, const Spelling& spelling) {
  if (spelling.minus) {
    to.out.add('-');
    bits = 0 - bits;
  }
  switch (spelling.radix) {
    case Radix::Decimal:
      to.out.add_number(bits);
      break;
    case Radix::Hex:
      to.out.add("0x");
      hex(to, bits);
      break;
    case Radix::Octal:
      to.out.add('0');
      to.out.add_number(bits, 8);
      break;
    case Radix::Binary:
      to.out.add("0b");
      to.out.add_number(bits, 2);
      break;
  }
  if (spelling.has_u_suffix) to.out.add('U');
}

void offset(Printed& to, const Operand& o) {
  to.out.add('+');
  integer(to, o.bits, o.spelling);
}

void generic(Printed& to, const Operand& o) {
  to.out.add("generic(");
  name(to, o.name);
  to.out.add(')');
  if (o.bits != 0 || o.spelling != Spelling{}) offset(to, o);
}

void enclosed(Printed& to, const OperandPool& pool, const Operand& o, char open, char close) {
  to.out.add(open);
  operands(to, pool, pool.children(o));
  to.out.add(close);
}
void joined(Printed& to, const OperandPool& pool, const Operand& o, char joint) {
  const std::span<const Operand> children = pool.children(o);
  operand(to, pool, children[0]);
  to.out.add(joint);
  operand(to, pool, children[1]);
}
void mask(Printed& to, const OperandPool& pool, const Operand& o) {
  joined(to, pool, o, '(');
  to.out.add(')');
}

}  // namespace

void hex(Printed& to, std::uint64_t bits) {
  int digits = 1;
  while (digits < 16 && bits >> static_cast<unsigned>(4 * digits) != 0) ++digits;
  to.out.add_hex(bits, digits);
}

void operands(Printed& to, const OperandPool& pool, std::span<const Operand> list) {
  separated(to, list, [&](const Operand& o) { operand(to, pool, o); });
}

void operand(Printed& to, const OperandPool& pool, const Operand& o) {
  switch (o.kind) {
    case OperandKind::Name:
    case OperandKind::Decimal:
      return name(to, o.name);
    case OperandKind::NameOffset:
      name(to, o.name);
      return offset(to, o);
    case OperandKind::Index:
      name(to, o.name);
      to.out.add('[');
      integer(to, o.bits, o.spelling);
      return to.out.add(']');
    case OperandKind::NotName:
      to.out.add('!');
      return name(to, o.name);
    case OperandKind::Sink:
      return to.out.add('_');
    case OperandKind::Int:
      return integer(to, o.bits, o.spelling);
    case OperandKind::F32:
      to.out.add("0f");
      return to.out.add_hex(o.bits, 8);
    case OperandKind::F64:
      to.out.add("0d");
      return to.out.add_hex(o.bits, 16);
    case OperandKind::Generic:
      return generic(to, o);
    case OperandKind::Vector:
      return enclosed(to, pool, o, '{', '}');
    case OperandKind::Address:
      return enclosed(to, pool, o, '[', ']');
    case OperandKind::List:
      return enclosed(to, pool, o, '(', ')');
    case OperandKind::Pair:
      return joined(to, pool, o, '|');
    case OperandKind::Mask:
      return mask(to, pool, o);
    case OperandKind::Difference:
      return joined(to, pool, o, '-');
  }
}

}  // namespace ww::ptx::printing
