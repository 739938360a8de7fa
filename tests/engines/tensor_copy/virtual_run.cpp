// SPDX-License-Identifier: Apache-2.0
#include "engines/tensor_copy/virtual_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <map>
#include <memory>
#include <span>

#include "base/check.h"
#include "sim/launch.h"
#include "sim/tensor_map/image.h"

namespace ww::tensor_cases {
namespace {

constexpr std::string_view kReductions[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};

// `{%c0, %c1}`
std::string list(std::string_view prefix, unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i)
    text += fmt::format("{}%{}{}", i == 0 ? "" : ", ", prefix, i);
  return "{" + text + "}";
}

std::string copy_text(const Case& c) {
  const std::string map = fmt::format("[%m, {}]", list("c", c.rank));
  const std::string mode = is_im2col(c) ? (writes_tensor(c) ? "im2col_no_offs" : "im2col") : "tile";
  if (!writes_tensor(c)) {
    const std::string offsets = is_im2col(c) ? ", " + list("o", c.rank - 2) : "";
    return fmt::format(
        "mbarrier.arrive.expect_tx.shared.b64 _, [bar], %n;\n"
        "cp.async.bulk.tensor.{}d.shared::cluster.global.{}.mbarrier::complete_tx::bytes [%at], "
        "{}, "
        "[bar]{};\n",
        c.rank, mode, map, offsets);
  }
  const std::string what =
      c.kind == kReduce ? "cp.reduce.async.bulk.tensor" : "cp.async.bulk.tensor";
  const std::string op = c.kind == kReduce ? fmt::format(".{}", kReductions[c.reduction]) : "";
  return fmt::format(
      "{}.{}d.global.shared::cta{}.{}.bulk_group {}, [%at];\n"
      "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n",
      what, c.rank, op, mode, map);
}

// 32 threads bring `words` words from `from` to shared memory, the first one copies, then they bring
// them to `to`.
std::string kernel_text(const Case& c) {
  std::string text =
      ".version 8.3\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 box[];\n"
      ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 from, .param .u64 to,\n"
      ".param .u32 bytes, .param .u32 at, .param .u32 n, .param .align 4 .b8 numbers[32])\n{\n"
      ".shared .align 8 .b64 bar;\n.reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %d<8>;\n"
      ".reg .b64 %m; .reg .b32 %at, %n, %c<5>, %bytes; .reg .b16 %o<3>;\n"
      "mov.b64 %m, map; cvta.param.u64 %m, %m; ld.param.u32 %at, [at]; ld.param.u32 %n, [n];\n"
      "ld.param.u32 %bytes, [bytes]; mov.u32 %r1, box; add.u32 %at, %at, %r1;\n";
  for (unsigned d = 0; d < 5; ++d)
    text += fmt::format("ld.param.u32 %c{}, [numbers+{}];\n", d, 4 * d);
  for (unsigned d = 0; d < 3; ++d)
    text += fmt::format("ld.param.u16 %o{}, [numbers+{}];\n", d, 20 + 4 * d);
  const auto move = [](std::string_view name, std::string_view from, std::string_view to) {
    return fmt::format(
        "mov.u32 %r2, %tid.x; shl.b32 %r2, %r2, 4;\n{0}_next: setp.ge.u32 %p1, %r2, %bytes;\n"
        "@%p1 bra {0}_end; cvt.u64.u32 %d1, %r2; add.u64 %d1, %d1, %d0; add.u32 %r3, %r1, %r2;\n"
        "ld.{1} {{%r4, %r5, %r6, %r7}}, [%{2}]; st.{3} [%{4}], {{%r4, %r5, %r6, %r7}};\n"
        "add.u32 %r2, %r2, 512; bra {0}_next; {0}_end:\n",
        name, fmt::format("{}.v4.b32", from), from == "global" ? "d1" : "r3",
        fmt::format("{}.v4.b32", to), to == "global" ? "d1" : "r3");
  };
  text += "ld.param.u64 %d0, [from];\n" + move("in", "global", "shared");
  text +=
      "mov.u32 %r8, %tid.x; setp.ne.u32 %p2, %r8, 0; @%p2 bra made; mbarrier.init.shared.b64 "
      "[bar], "
      "1; made: fence.proxy.async; bar.sync 0; @%p2 bra copied;\n";
  text += copy_text(c) + "copied:\n";
  if (!writes_tensor(c))
    text += "wait: mbarrier.try_wait.parity.shared.b64 %p3, [bar], 0; @!%p3 bra wait;\n";
  text += "bar.sync 0; ld.param.u64 %d0, [to];\n" + move("out", "shared", "global");
  return text + "ret;\n}\n";
}

std::shared_ptr<const sim::Program> program_of(const Case& c) {
  static std::map<std::string, std::shared_ptr<const sim::Program>> programs;
  const std::string text = kernel_text(c);
  auto& program = programs[text];
  if (program != nullptr) return program;
  const sim::LoadResult loaded = sim::load(text, "case.ptx");
  WW_CHECK(loaded.program != nullptr, "{}\n{}", loaded.errors[0].text, text);
  program = loaded.program;
  return program;
}

std::vector<std::uint32_t> words(std::uint32_t count, std::uint32_t seed, bool is_indexed) {
  std::vector<std::uint32_t> all(count);
  for (std::uint32_t i = 0; i < count; ++i) all[i] = word_of(seed, is_indexed ? 1 : 0, i);
  return all;
}

std::vector<std::uint32_t> read(const sim::Region& region) {
  std::vector<std::uint32_t> all(region.size / 4);
  std::memcpy(all.data(), region.data, region.size);
  return all;
}

}  // namespace

sim::TensorMap map_of(const Case& c, std::uint64_t slot) {
  sim::TensorMap map;
  map.type = static_cast<sim::TensorType>(c.type);
  map.rank = c.rank;
  map.address = slot + c.base;
  for (unsigned d = 0; d < kMaxRank; ++d) {
    map.dims[d] = c.dims[d];
    map.box[d] = c.box[d];
    map.element_strides[d] = c.steps[d];
    if (d + 1 < kMaxRank) map.strides[d] = c.strides[d];
  }
  map.interleave = static_cast<sim::Interleave>(c.interleave);
  map.swizzle = static_cast<sim::TensorSwizzle>(c.swizzle);
  map.promotion = static_cast<sim::Promotion>(c.promotion);
  map.fill = static_cast<sim::TensorFill>(c.fill);
  if (is_im2col(c)) {
    sim::Im2col& columns = map.im2col.emplace();
    columns.channels = c.channels;
    columns.pixels = c.pixels;
    for (unsigned d = 0; d < 3; ++d) {
      columns.lower[d] = c.lower[d];
      columns.upper[d] = c.upper[d];
    }
  }
  return map;
}

std::vector<std::uint32_t> shared_before(const Case& c) {
  return words(c.shared_bytes / 4, ~c.seed, c.is_indexed);
}
std::uint32_t slot_words(const Case& c) { return (c.tensor_bytes + 1024) / 4; }
std::vector<std::uint32_t> slot_before(const Case& c) {
  return words(slot_words(c), c.seed, c.is_indexed);
}

VirtualRun run_case(const Case& c) {
  const auto program = program_of(c);
  sim::Device device(program);
  const auto place = [&](const std::vector<std::uint32_t>& contents, std::string name) {
    sim::Region& region = device.memory().allocate(contents.size() * 4, 256, std::move(name));
    sim::GlobalMemory::write(region, std::as_bytes(std::span(contents)));
    return &region;
  };
  const sim::Region* slot = place(slot_before(c), "the tensor");
  const sim::Region* from = place(shared_before(c), "the contents of shared memory");
  const sim::Region* to = place(std::vector<std::uint32_t>(c.shared_bytes / 4), "the result");
  const sim::TensorMap map = map_of(c, slot->base);
  VirtualRun run;
  if (const auto checked = sim::check_tensor_map(map); !checked) {
    run.problem = checked.error().text;
    return run;
  }
  sim::Launch launch{.kernel = program->kernels().at(0), .block = {32}};
  launch.dynamic_shared = c.shared_bytes;
  const auto image = sim::encode(map);
  const std::uint32_t scalars[] = {c.shared_bytes, c.shared, c.box_bytes};
  const std::uint64_t pointers[] = {from->base, to->base};
  std::uint32_t numbers[8] = {};
  std::memcpy(numbers, c.at, sizeof c.at);
  std::memcpy(numbers + 5, c.offsets, sizeof c.offsets);
  launch.params.resize(launch.kernel->param_bytes);
  const auto put = [&](std::size_t index, const void* value, std::size_t bytes) {
    std::memcpy(launch.params.data() + launch.kernel->params[index].offset, value, bytes);
  };
  put(0, image.data(), image.size());
  for (std::size_t i = 0; i < 2; ++i) put(1 + i, &pointers[i], 8);
  for (std::size_t i = 0; i < 3; ++i) put(3 + i, &scalars[i], 4);
  put(6, numbers, sizeof numbers);
  sim::RunOptions options;
  options.threads = 1;
  const Result<sim::LaunchReport> report = device.run(launch, options);
  if (!report) {
    run.problem = report.error().text;
    return run;
  }
  run.problem = report->reason;
  for (const sim::Finding& finding : report->findings.list()) run.problem += finding.text + "\n";
  run.shared = read(*to);
  run.slot = read(*slot);
  return run;
}

std::uint64_t digest_of_run(const Case& c, const VirtualRun& run) {
  const std::vector<std::uint32_t>& memory = writes_tensor(c) ? run.slot : run.shared;
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < memory.size(); ++i) sum += digest_of(memory[i], i);
  return sum;
}

std::string describe(const Case& c) {
  const auto n = c.rank;
  return fmt::format(
      "{}{} {}, rank {}, dims {}, strides {}, box {}, steps {}, at {}, interleave {}, swizzle {}, "
      "fill {}, base {}, shared {}, lower {}, upper {}, channels {}, pixels {}, offsets {}",
      kKindNames[c.kind], c.kind == kReduce ? fmt::format(" {}", kReductions[c.reduction]) : "",
      sim::info(static_cast<sim::TensorType>(c.type)).name, n, std::span(c.dims, n),
      std::span(c.strides, n - 1), std::span(c.box, n), std::span(c.steps, n), std::span(c.at, n),
      c.interleave, c.swizzle, c.fill, c.base, c.shared, std::span(c.lower), std::span(c.upper),
      c.channels, c.pixels, std::span(c.offsets));
}

}  // namespace ww::tensor_cases
