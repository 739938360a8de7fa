// SPDX-License-Identifier: Apache-2.0
#include "ptx/declaration_printer.h"

#include "ptx/words.h"

namespace ww::ptx::printing {
namespace {

void align(Printed& to, std::uint32_t bytes) {
  if (bytes == 0) return;
  to.out.add(".align ");
  to.out.add_number(bytes);
  to.out.add(' ');
}

void pointee(Printed& to, const Pointee& p) {
  if (!p.present) return;
  to.out.add(".ptr ");
  if (!p.is_generic) word(to, word_of(p.space));
  align(to, p.align);
}

void attribute(Printed& to, const Attribute& a) {
  if (a.kind == AttributeKind::Managed) return to.out.add(".managed");
  to.out.add(".unified(0x");
  hex(to, a.uuid[0]);
  to.out.add(", 0x");
  hex(to, a.uuid[1]);
  to.out.add(')');
}

}  // namespace

void word(Printed& to, std::string_view text) {
  if (text.empty()) return;
  to.out.add(text);
  to.out.add(' ');
}

void type(Printed& to, std::uint8_t vector, isa::Type type) {
  if (vector != 1) {
    to.out.add(".v");
    to.out.add_number(vector);
    to.out.add(' ');
  }
  to.out.add('.');
  word(to, isa::info(type).name);
}

void count(Printed& to, std::uint32_t count) {
  if (count == kSingle) return;
  to.out.add('<');
  to.out.add_number(count);
  to.out.add('>');
}

void attributes(Printed& to, const SmallVec<Attribute, 1>& list) {
  if (list.empty()) return;
  to.out.add(".attribute(");
  separated(to, list, [&](const Attribute& a) { attribute(to, a); });
  to.out.add(") ");
}

void variable(Printed& to, const Variable& v) {
  word(to, word_of(v.linkage));
  word(to, word_of(v.space));
  attributes(to, v.attributes);
  align(to, v.align);
  if (v.opaque == Opaque::None)
    type(to, v.vector, v.type);
  else
    word(to, word_of(v.opaque));
  pointee(to, v.pointee);
  name(to, v.name);
  count(to, v.count);
  for (const std::uint64_t extent : v.dims) {
    to.out.add('[');
    if (extent != kUnsized) to.out.add_number(extent);
    to.out.add(']');
  }
  if (!v.has_init()) return;
  to.out.add(" = ");
  operand(to, v.init, v.init_root());
}

void parameters(Printed& to, const std::vector<Variable>& list) {
  to.out.add('(');
  separated(to, list, [&](const Variable& v) { variable(to, v); });
  to.out.add(')');
}

void pragma(Printed& to, NameId text) {
  to.out.add(".pragma \"");
  name(to, text);
  to.out.add("\";");
}

void directive(Printed& to, const Directive& d) {
  if (d.kind == DirectiveKind::Pragma) return pragma(to, d.text);
  to.out.add('.');
  to.out.add(info(d.kind).text);
  if (!d.values.empty()) to.out.add(' ');
  separated(to, d.values, [&](std::uint32_t value) { to.out.add_number(value); });
}

void comment(Printed& to, NameId text) {
  to.out.add("//");
  if (text != kNoName) to.out.add(' ');
  name(to, text);
}

}  // namespace ww::ptx::printing
