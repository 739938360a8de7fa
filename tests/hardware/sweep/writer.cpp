// SPDX-License-Identifier: Apache-2.0
#include "hardware/sweep/writer.h"

#include <algorithm>

#include "isa/example.h"

namespace ww::sweep {

std::string Writer::reg(int bits) {
  return fmt::format("{}{}", isa::register_prefix(bits), registers_[bits]++);
}

// Columns before this one take `before` bytes for each of the %qn threads.
std::string Writer::address(std::string_view base, unsigned before, unsigned bytes) {
  const std::string at = reg(64);
  line("mad.wide.u32 {}, %qn, {}, {};", at, before, base);
  line("mad.wide.u32 {0}, %qi, {1}, {0};", at, bytes);
  return at;
}

std::string Writer::input_place(std::string name, isa::Type type, const Kind& kind) {
  inputs_.push_back({std::move(name), type, kind.bytes, kind, seen_[kind]++});
  const std::string at = address("%qin", input_bytes_, kind.bytes);
  input_bytes_ += kind.bytes;
  return at;
}

std::string Writer::input(std::string name, isa::Type type, const Kind& kind) {
  const std::string at = input_place(std::move(name), type, kind);
  if (type == isa::Type::Pred) {
    const std::string word = reg(32), predicate = reg(1);
    line("ld.global.b32 {}, [{}];", word, at);
    line("setp.ne.u32 {}, {}, 0;", predicate, word);
    return predicate;
  }
  const std::string to = reg(static_cast<int>(kind.bytes * 8));
  if (kind.bytes == 16) {
    const std::string low = reg(64), high = reg(64);
    line("ld.global.v2.b64 {{{}, {}}}, [{}];", low, high, at);
    line("mov.b128 {}, {{{}, {}}};", to, low, high);
  } else {
    line("ld.global.b{} {}, [{}];", kind.bytes * 8, to, at);
  }
  return to;
}

std::string Writer::output_place(std::string name, isa::Type type, unsigned bytes) {
  outputs_.push_back({std::move(name), type, bytes, {}, 0});
  const std::string at = address("%qout", output_bytes_, bytes);
  output_bytes_ += bytes;
  return at;
}

void Writer::output(std::string name, isa::Type type, int register_bits, const std::string& from) {
  const unsigned bytes = register_bits == 1 ? 4U : static_cast<unsigned>(register_bits) / 8U;
  const std::string at = output_place(std::move(name), type, bytes);
  if (register_bits == 1) {
    const std::string word = reg(32);
    line("selp.b32 {}, 1, 0, {};", word, from);
    line("st.global.b32 [{}], {};", at, word);
  } else if (register_bits == 128) {
    const std::string low = reg(64), high = reg(64);
    line("mov.b128 {{{}, {}}}, {};", low, high, from);
    line("st.global.v2.b64 [{}], {{{}, {}}};", at, low, high);
  } else {
    line("st.global.b{} [{}], {};", register_bits, at, from);
  }
}

void Writer::copy(std::string_view from_space, const std::string& from, std::string_view to_space,
                  const std::string& to, unsigned bytes) {
  for (unsigned at = 0; at < bytes;) {
    const unsigned step = std::min(bytes - at, 8U);
    const std::string word = reg(static_cast<int>(step * 8));
    line("ld.{}.b{} {}, [{}+{}];", from_space, step * 8, word, from, at);
    line("st.{}.b{} [{}+{}], {};", to_space, step * 8, to, at, word);
    at += step;
  }
}

std::string Writer::shared_cell(unsigned bytes) {
  declare(fmt::format(".shared .align 32 .b8 qcells[{}];", bytes * kBlockThreads));
  const std::string base = reg(32), thread = reg(32);
  line("mov.u32 {}, qcells;", base);
  line("mov.u32 {}, %tid.x;", thread);
  line("mad.lo.u32 {0}, {1}, {2}, {0};", base, thread, bytes);
  return base;
}

std::string Writer::local_cell(unsigned bytes) {
  declare(fmt::format(".local .align 32 .b8 qlocal[{}];", bytes));
  const std::string at = reg(64);
  line("mov.u64 {}, qlocal;", at);
  return at;
}

void Writer::finish(Kernel& kernel) {
  std::string text =
      ".visible .entry $(.param .u64 $_in, .param .u64 $_out)\n{\n"
      "  .reg .b32 %qi, %qn, %qt;\n  .reg .b64 %qin, %qout;\n";
  for (const auto& [bits, count] : registers_) {
    text += fmt::format("  .reg .{} {}<{}>;\n", bits == 1 ? "pred" : fmt::format("b{}", bits),
                        isa::register_prefix(bits), count);
  }
  text += declarations_;
  text +=
      "  mov.u32 %qi, %ctaid.x;\n  mov.u32 %qn, %ntid.x;\n  mov.u32 %qt, %tid.x;\n"
      "  mad.lo.u32 %qi, %qi, %qn, %qt;\n  mov.u32 %qt, %nctaid.x;\n  mul.lo.u32 %qn, %qn, %qt;\n"
      "  ld.param.u64 %qin, [$_in];\n  cvta.to.global.u64 %qin, %qin;\n"
      "  ld.param.u64 %qout, [$_out];\n  cvta.to.global.u64 %qout, %qout;\n";
  kernel.body = text + code_ + "  ret;\n}\n";
  kernel.inputs = std::move(inputs_);
  kernel.outputs = std::move(outputs_);
}

}  // namespace ww::sweep
