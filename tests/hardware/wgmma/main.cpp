// SPDX-License-Identifier: Apache-2.0
// ww_device_wgmma: wgmma on the GPU here and on the virtual one, bit by bit.
//
//   ww_device_wgmma [ELEMENTS]
//
// For each form some kernels (sim/ops/test_wgmma.h) of different N, with A in shared memory and in
// registers, of both majors; the same PTX runs on both. Every block has a descriptor of its own:
// any swizzle, start, leading and stride offset and base offset with which the matrix is inside its
// image. Operands are of nine kinds, from any bits to subnormals. Prints a table: form, elements of
// D, mismatches. Built and run by scripts/device_wgmma.sh. Exit status: 0 all agree, 1 something
// differs, 2 no device.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/cuda_driver.h"
#include "num/float_format.h"
#include "sim/launch.h"
#include "sim/memory/matrix_descriptor.h"
#include "sim/ops/test_wgmma.h"

namespace ww::device {
namespace {

using num::DType;
using sim::MatrixDescriptor;
using sim::WgmmaSpec;
using Random = std::mt19937_64;
using Words = std::vector<std::uint32_t>;

constexpr unsigned kImages = 32;
constexpr unsigned kPatch = 4096;  // bytes of an image with operands of one kind

// --- operands ------------------------------------------------------------------------------------

DType type_named(std::string_view name) {
  if (name == "f16") return DType::Float16;
  if (name == "bf16") return DType::Bfloat16;
  if (name == "tf32") return DType::Tfloat32;
  return name == "e4m3" ? DType::Float8E4M3fn : DType::Float8E5M2;
}

unsigned below(Random& random, unsigned end) { return static_cast<unsigned>(random() % end); }

std::uint32_t number(Random& random, const num::FloatFormat& f, int low, int high) {
  const int top = (1 << f.exponent_bits) - 1;
  const int wanted = f.bias + low + static_cast<int>(below(random, unsigned(high - low + 1)));
  const auto exponent = static_cast<std::uint32_t>(std::clamp(wanted, 0, top - 1));
  const std::uint32_t bits = static_cast<std::uint32_t>(random());
  const int width = f.exponent_bits + f.mantissa_bits;
  const std::uint32_t code = ((bits >> 31U) << width) | (exponent << f.mantissa_bits) |
                             (bits & ((1U << f.mantissa_bits) - 1));
  return (code << f.low_bits) | (below(random, 8192) & ((1U << f.low_bits) - 1));
}

// Kinds as in tests/hardware/matrix_unit.cpp.
std::uint32_t element(Random& random, std::string_view type, unsigned kind) {
  const auto any = static_cast<std::uint32_t>(random());
  if (type == "b1") return any;
  if (type == "s8" || type == "u8") return kind == 3 ? (any & 1U) != 0 ? 0x7F : 0x80 : any & 0xFFU;
  const num::FloatFormat& f = num::format_of(type_named(type));
  const int spread = (1 << f.exponent_bits) / 2;
  switch (kind) {
    case 0:
      return any;
    case 1:
      return number(random, f, -1, 1);
    case 2:
      return number(random, f, -spread, spread);
    case 3:
      return number(random, f, -f.bias, -f.bias + 1);
    case 4:
      return any % 4 == 0 ? number(random, f, -3, 3) : 0;
    case 5:
      return number(random, f, -8, 8);
    case 6:
      return number(random, f, spread / 2, spread);
    case 7:
      return number(random, f, -spread, -spread / 2);
    default:
      return number(random, f, -f.bias / 2 - 8, -f.bias / 2);
  }
}

std::uint32_t addend(Random& random, std::string_view type, unsigned kind) {
  const auto any = static_cast<std::uint32_t>(random());
  if (type == "f16") {
    const std::uint32_t low = element(random, "f16", kind) & 0xFFFFU;
    return low | element(random, "f16", kind) << 16U;
  }
  if (type == "s32") {
    const std::uint32_t some = any % 100000;
    return kind < 3 ? any : kind < 6 ? 0x7FFFFFFFU - some : 0x80000000U + some;
  }
  switch (kind) {
    case 0:
      return any;
    case 2:
      return (any & 0x807FFFFFU) | ((1 + any / 7 % 254) << 23U);
    case 3:
      return (any & 0x807FFFFFU) | ((any / 5 % 3) << 23U);
    case 4:
      return any % 2 == 0 ? 0 : (any & 0x807FFFFFU) | ((120 + any % 16) << 23U);
    default:
      return (any & 0x807FFFFFU) | ((100 + any / 3 % 50) << 23U);
  }
}

void fill(Random& random, std::span<std::byte> bytes, const WgmmaSpec& spec) {
  const unsigned size = spec.bits() / 8;
  for (std::size_t from = 0; from < bytes.size(); from += kPatch) {
    const unsigned kind = below(random, 9);
    const std::string_view type = below(random, 2) == 0 ? spec.a : spec.b;
    for (std::size_t at = from; at < std::min(bytes.size(), from + kPatch); at += size) {
      const std::uint32_t word = element(random, type, kind);
      std::memcpy(&bytes[at], &word, size);
    }
  }
}

std::uint32_t metadata(Random& random, const WgmmaSpec& spec) {
  constexpr std::array<std::uint32_t, 6> kPairs = {0x4, 0x8, 0xC, 0x9, 0xD, 0xE};
  std::uint32_t word = 0;
  for (unsigned i = 0; i < 8; ++i) {
    const std::uint32_t code =
        spec.bits() == 32 ? (below(random, 2) == 0 ? 0x4U : 0xEU) : kPairs[below(random, 6)];
    word |= code << (4 * i);
  }
  return word;
}

// --- descriptors ---------------------------------------------------------------------------------

// Whether all chunks are inside the image.
bool is_inside(const MatrixDescriptor& d, const WgmmaSpec& spec, unsigned lines, unsigned k_bytes,
               bool is_mn_major) {
  std::uint32_t last = 0;
  const unsigned outer = is_mn_major ? k_bytes / 2 : lines;
  const unsigned inner = (is_mn_major ? lines * 2 : k_bytes) / 16;
  for (unsigned o = 0; o < outer; ++o) {
    for (unsigned i = 0; i < inner; ++i)
      last = std::max(last, is_mn_major ? d.mn_major(i, o) : d.k_major(o, i));
  }
  // A pattern that starts at another row moves chunks by up to 112 bytes.
  return last + 16 + 112 <= spec.image_bytes;
}

std::uint64_t some_descriptor(Random& random, const WgmmaSpec& spec, unsigned lines,
                              unsigned k_bytes, bool is_mn_major) {
  for (unsigned most = 200;; most = most > 8 ? most * 9 / 10 : most) {
    const std::uint64_t base = below(random, 3) == 0 ? below(random, 8) : 0;
    const std::uint64_t bits = std::uint64_t{below(random, 128)} |
                               std::uint64_t{below(random, most)} << 16U |
                               std::uint64_t{below(random, most)} << 32U | base << 49U |
                               std::uint64_t{below(random, 4)} << 62U;
    if (is_inside(MatrixDescriptor(bits), spec, lines, k_bytes, is_mn_major)) return bits;
  }
}

// --- a kernel on both ----------------------------------------------------------------------------

struct Buffers {
  std::vector<std::byte> images;
  Words a, d, meta;
  std::vector<std::uint64_t> descriptors;
  std::size_t out_words = 0;

  [[nodiscard]] std::array<std::span<const std::byte>, 5> inputs() const {
    return {std::span(images), std::as_bytes(std::span(a)), std::as_bytes(std::span(d)),
            std::as_bytes(std::span(meta)), std::as_bytes(std::span(descriptors))};
  }
};

Buffers some_buffers(Random& random, const WgmmaSpec& spec, unsigned blocks) {
  Buffers out;
  out.images.resize(std::size_t{spec.image_bytes} * blocks);
  for (unsigned i = 0; i < blocks; ++i) {
    const std::span<std::byte> image(&out.images[std::size_t{i} * spec.image_bytes],
                                     spec.image_bytes);
    if (i < kImages) {
      fill(random, image, spec);
    } else {
      const std::size_t from = std::size_t{below(random, kImages)} * spec.image_bytes;
      std::memcpy(image.data(), &out.images[from], spec.image_bytes);
    }
  }
  const unsigned each = 32 / spec.bits();
  for (unsigned block = 0; block < blocks; ++block) {
    const unsigned kind_a = below(random, 9);
    const unsigned kind_d = below(random, 9);
    for (unsigned i = 0; i < 128 * 4; ++i) {
      std::uint32_t word = 0;
      const std::uint32_t mask = each == 1 ? ~0U : (1U << spec.bits()) - 1;
      for (unsigned j = 0; j < each; ++j)
        word |= (element(random, spec.a, kind_a) & mask) << (j * spec.bits());
      out.a.push_back(word);
    }
    for (unsigned i = 0; i < 128 * spec.d_registers(); ++i)
      out.d.push_back(addend(random, spec.d, kind_d));
    for (unsigned i = 0; i < 128; ++i) out.meta.push_back(metadata(random, spec));
    out.descriptors.push_back(some_descriptor(random, spec, 64, 32, spec.trans_a));
    out.descriptors.push_back(
        some_descriptor(random, spec, spec.n, spec.is_sparse ? 64 : 32, spec.trans_b));
    out.descriptors.push_back(below(random, 8) != 0 ? 1 : 0);
  }
  out.out_words = out.d.size();
  return out;
}

void must(const std::string& words) {
  if (words.empty()) return;
  fmt::print(stderr, "{}\n", words);
  std::exit(2);
}

Words on_device(Gpu& gpu, const std::string& text, const Buffers& buffers, unsigned blocks) {
  void* module = nullptr;
  void* function = nullptr;
  must(gpu.load(std::as_bytes(std::span(text.c_str(), text.size() + 1)), module));
  must(gpu.find(module, "k", function));
  std::vector<Address> params;
  for (const std::span<const std::byte> bytes : buffers.inputs()) {
    params.emplace_back();
    must(gpu.allocate(bytes.size(), params.back()));
    must(gpu.upload(params.back(), bytes));
  }
  params.emplace_back();
  must(gpu.allocate(buffers.out_words * 4, params.back()));
  must(gpu.run(
      function,
      {.grid = {blocks, 1, 1}, .block = {128, 1, 1}, .params = std::as_bytes(std::span(params))}));
  Words out(buffers.out_words);
  must(gpu.download(std::as_writable_bytes(std::span(out)), params.back()));
  for (const Address address : params) gpu.release(address);
  gpu.unload(module);
  return out;
}

Words on_virtual(const std::string& text, const Buffers& buffers, unsigned blocks) {
  const sim::LoadResult loaded = sim::load(text, "wgmma.ptx");
  if (loaded.program == nullptr) must(loaded.errors.front().text);
  sim::Device device(loaded.program);
  sim::Launch launch{.kernel = loaded.program->find_kernel("k"), .grid = {blocks}, .block = {128}};
  std::vector<std::uint64_t> params;
  for (const std::span<const std::byte> bytes : buffers.inputs()) {
    sim::Region& region = device.memory().allocate(bytes.size(), 256, "input");
    sim::GlobalMemory::write(region, bytes);
    params.push_back(region.base);
  }
  sim::Region& out = device.memory().allocate(buffers.out_words * 4, 256, "output");
  params.push_back(out.base);
  launch.params.resize(params.size() * 8);
  std::memcpy(launch.params.data(), params.data(), launch.params.size());
  sim::RunOptions options;
  options.checks = sim::CheckSet::nothing();
  const Result<sim::LaunchReport> report = device.run(launch, options);
  if (!report) must(report.error().text);
  if (report->outcome != sim::Outcome::Finished) must(report->reason);
  Words words(buffers.out_words);
  std::memcpy(words.data(), out.data, words.size() * 4);
  return words;
}

// --- forms ---------------------------------------------------------------------------------------

struct Tally {
  std::uint64_t elements = 0, wrong = 0;
};

// Counts elements that differ and shows the first few.
void compare(const WgmmaSpec& spec, const Buffers& buffers, const Words& have, const Words& want,
             Tally& tally) {
  const bool halves = spec.d == "f16";
  unsigned shown = 0;
  for (std::size_t i = 0; i < have.size(); ++i) {
    tally.elements += halves ? 2 : 1;
    if (have[i] == want[i]) continue;
    const std::uint32_t differ = have[i] ^ want[i];
    tally.wrong += halves && (differ & 0xFFFFU) != 0 && differ >> 16U != 0 ? 2 : 1;
    const std::size_t block = i / (std::size_t{128} * spec.d_registers());
    if (++shown <= 3) {
      fmt::print("    {} word {}: C {:08x}, device {:08x}, virtual {:08x}, A {:016x}, B {:016x}\n",
                 spec.opcode(), i, buffers.d[i], have[i], want[i], buffers.descriptors[3 * block],
                 buffers.descriptors[3 * block + 1]);
    }
  }
}

// Kernels of a form: wide and narrow, A here and there, both majors.
std::vector<WgmmaSpec> kernels_of(WgmmaSpec spec) {
  std::vector<WgmmaSpec> specs;
  unsigned next = 0;
  for (const unsigned n : {8U, 32U, 96U, 256U}) {
    spec.n = n;
    spec.a_in_registers = next % 2 == 0;
    spec.trans_a = spec.is_half() && !spec.a_in_registers && next == 3;
    spec.trans_b = spec.is_half() && (next == 1 || next == 2);
    spec.scale_a = !spec.is_integer() && next == 1 ? -1 : 1;
    spec.scale_b = !spec.is_integer() && next == 2 ? -1 : 1;
    spec.selector = spec.is_sparse && spec.bits() != 8 ? next % 2 : 0;
    specs.push_back(spec);
    ++next;
  }
  if (spec.is_half() && !spec.is_sparse) {  // both majors at once
    spec.n = 128;
    spec.a_in_registers = false;
    spec.trans_a = spec.trans_b = true;
    specs.push_back(spec);
  }
  return specs;
}

std::vector<WgmmaSpec> all_forms() {
  std::vector<WgmmaSpec> forms;
  for (const bool sparse : {false, true}) {
    const auto add = [&](std::string_view d, std::string_view a, std::string_view b,
                         bool saturates = false) {
      forms.push_back({.d = d, .a = a, .b = b, .saturates = saturates, .is_sparse = sparse});
    };
    add("f32", "f16", "f16");
    add("f16", "f16", "f16");
    add("f32", "bf16", "bf16");
    add("f32", "tf32", "tf32");
    for (const std::string_view d : {"f32", "f16"}) {
      for (const std::string_view a : {"e4m3", "e5m2"})
        for (const std::string_view b : {"e4m3", "e5m2"}) add(d, a, b);
    }
    for (const bool saturates : {false, true}) {
      for (const std::string_view a : {"s8", "u8"})
        for (const std::string_view b : {"s8", "u8"}) add("s32", a, b, saturates);
    }
    if (!sparse) add("s32", "b1", "b1");
  }
  return forms;
}

Tally compare_form(Gpu* gpu, const WgmmaSpec& form, std::uint64_t elements) {
  Tally tally;
  Random random(2026);
  const std::vector<WgmmaSpec> kernels = kernels_of(form);
  for (const WgmmaSpec& spec : kernels) {
    const std::uint64_t each = elements / kernels.size();
    const auto blocks = static_cast<unsigned>(each / (std::uint64_t{64} * spec.n) + 1);
    const std::string text = sim::wgmma_kernel(spec);
    const Buffers buffers = some_buffers(random, spec, blocks);
    const Words want = on_virtual(text, buffers, blocks);
    const Words have = gpu != nullptr ? on_device(*gpu, text, buffers, blocks) : want;
    compare(spec, buffers, have, want, tally);
  }
  WgmmaSpec name = form;
  name.n = 0;
  std::string opcode = name.opcode();
  opcode.replace(opcode.find("n0k"), 2, "nN");
  fmt::print("| {} | {} | {} |\n", opcode, tally.elements, tally.wrong);
  std::fflush(stdout);
  return tally;
}

int compare_all(std::uint64_t elements, bool needs_device) {
  std::string reason;
  const std::unique_ptr<Gpu> gpu = needs_device ? Gpu::open(reason) : nullptr;
  if (gpu == nullptr && needs_device) {
    fmt::print(stderr, "no device: {}\n", reason);
    return 2;
  }
  fmt::print("| form | elements of D | mismatches |\n|---|--:|--:|\n");
  std::uint64_t wrong = 0;
  for (const WgmmaSpec& form : all_forms()) wrong += compare_form(gpu.get(), form, elements).wrong;
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace ww::device

int main(int argc, char** argv) {
  const bool is_virtual = argc > 2 && std::strcmp(argv[2], "--virtual") == 0;
  const std::uint64_t elements = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1U << 22U;
  return ww::device::compare_all(elements, !is_virtual);
}
