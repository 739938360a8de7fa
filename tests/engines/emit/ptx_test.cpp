// SPDX-License-Identifier: Apache-2.0
// The PTX emitter against the reference evaluator: lowered kernels run on both, on the virtual GPU
// with every check, and must leave the same bits (functions that hardware approximates: numbers
// within a bound). ptxas must take what is written, for several targets.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <random>

#include "engines/emit/ptx_kernels.h"
#include "foreign/toolchain.h"
#include "harness/emitted.h"
#include "num/dtype.h"
#include "num/float_format.h"

namespace ww::engines::ptx_test {
namespace {

using num::DType;

constexpr std::size_t kElements = 512;

std::size_t size_of(DType type) { return static_cast<std::size_t>((num::bits_of(type) + 7) / 8); }

// Numbers of every sort: small ones, ends of the range, and any bits at all.
Bytes random_bytes(DType type, std::mt19937_64& random, std::size_t count = kElements) {
  Bytes out(count * size_of(type));
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t bits = random();
    const bool is_float = num::kind_of(type) == num::DTypeKind::Float;
    const int sort = static_cast<int>(random() % 4);
    const double small =
        static_cast<double>(static_cast<std::int64_t>(random() % 4001) - 2000) / 16;
    if (is_float && sort != 0)
      bits = num::encode(type, sort == 1 ? std::round(small) : small);
    else if (!is_float && sort < 3)
      bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(small));
    if (type == DType::Bool) bits &= 1;
    std::memcpy(out.data() + i * size_of(type), &bits, size_of(type));
  }
  return out;
}

std::uint64_t element(const Bytes& bytes, DType type, std::size_t i) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + i * size_of(type), size_of(type));
  return bits;
}

double number(std::uint64_t bits, DType type) { return num::decode(type, bits); }

bool agrees(std::uint64_t a, std::uint64_t b, DType type, double bound) {
  if (a == b) return true;
  if (num::kind_of(type) != num::DTypeKind::Float) return false;
  const double x = number(a, type);
  const double y = number(b, type);
  if (std::isnan(x) && std::isnan(y)) return true;  // the payload is nobody's promise
  return bound > 0 && std::abs(x - y) <= bound * std::max({std::abs(x), std::abs(y), 1e-30});
}

void expect_assembles(const ir::Function& kernel, const std::string& what,
                      std::span<const target::Target> targets = kTargets) {
  static const auto toolchain = corpus::Toolchain::find();
  if (!toolchain) return;
  const corpus::TestFolder folder;
  for (const target::Target& target : targets) {
    const std::string name(target::info(target.arch).name);
    std::ofstream(folder.path() / "k.ptx") << ptx_of(kernel, target);
    const corpus::Outcome out = toolchain->try_assemble(folder.path(), "k.ptx", name, "k.cubin");
    EXPECT_EQ(out.status, 0) << what << " for " << name << ":\n" << out.output;
  }
}

// --- expressions ---------------------------------------------------------------------------------

struct Expression {
  std::string text;  // over a, b, c of the type
  DType result;
  double bound = 0;
};

std::string kernel_text(DType type, const std::vector<Expression>& expressions) {
  std::string out = "def kernel(a_ptr: T.handle, b_ptr: T.handle, c_ptr: T.handle";
  for (std::size_t i = 0; i < expressions.size(); ++i) out += fmt::format(", o{}_ptr: T.handle", i);
  out += "):\n";
  for (const char c : {'a', 'b', 'c'})
    out += fmt::format("    {0}_m = T.match_buffer({0}_ptr, (512,), \"{1}\", layout=None)\n", c,
                       num::name_of(type));
  for (std::size_t i = 0; i < expressions.size(); ++i)
    out += fmt::format("    o{0} = T.match_buffer(o{0}_ptr, (512,), \"{1}\", layout=None)\n", i,
                       num::name_of(expressions[i].result));
  out +=
      "    T.device_entry()\n"
      "    bx = T.launch_thread(\"blockIdx.x\", 2)\n"
      "    tx = T.launch_thread(\"threadIdx.x\", 64)\n"
      "    for k in range(4):\n"
      "        i: T.let[T.int32] = bx * 256 + k * 64 + tx\n";
  for (const char c : {'a', 'b', 'c'})
    out += fmt::format("        {0}: T.let[T.{1}] = {0}_m[i]\n", c, num::name_of(type));
  for (std::size_t i = 0; i < expressions.size(); ++i)
    out += fmt::format("        o{}[i] = {}\n", i, expressions[i].text);
  return out;
}

void expect_same(DType type, const std::vector<Expression>& expressions, target::Target target) {
  std::mt19937_64 random(7);
  std::vector<Bytes> arguments;
  for (int i = 0; i < 3; ++i) arguments.push_back(random_bytes(type, random));
  for (const Expression& e : expressions) arguments.emplace_back(kElements * size_of(e.result));
  const ir::Function kernel = kernel_of(kernel_text(type, expressions));
  const KernelRun wanted = evaluate(kernel, arguments);
  const KernelRun got = simulate(kernel, arguments, target);
  EXPECT_EQ(wanted.complaints, "");
  ASSERT_EQ(got.complaints, "") << ptx_of(kernel, target);
  for (std::size_t e = 0; e < expressions.size(); ++e) {
    const DType result = expressions[e].result;
    for (std::size_t i = 0; i < kElements; ++i) {
      const std::uint64_t w = element(wanted.arrays[e + 3], result, i);
      const std::uint64_t g = element(got.arrays[e + 3], result, i);
      if (agrees(w, g, result, expressions[e].bound)) continue;
      const auto input = [&](std::size_t n) { return element(arguments[n], type, i); };
      ADD_FAILURE() << fmt::format(
          "{} of {} on {}: {:#x}, expected {:#x} for a={:#x} b={:#x} c={:#x}", expressions[e].text,
          num::name_of(type), target::info(target.arch).name, g, w, input(0), input(1), input(2));
      break;
    }
  }
}

std::vector<Expression> typed(DType result, const std::vector<std::string>& texts,
                              double bound = 0) {
  std::vector<Expression> out;
  for (const std::string& text : texts) out.push_back({text, result, bound});
  return out;
}

const std::vector<DType> kInts = {DType::Int8,  DType::Int16,  DType::Int32,  DType::Int64,
                                  DType::Uint8, DType::Uint16, DType::Uint32, DType::Uint64};
const std::vector<DType> kFloats = {DType::Float16, DType::Bfloat16, DType::Float32,
                                    DType::Float64};
const std::vector<std::string> kCompares = {"a < b",  "a <= b", "a > b",
                                            "a >= b", "a == b", "a != b"};

TEST(PtxEmitter, Integers) {
  for (const DType type : kInts) {
    SCOPED_TRACE(num::name_of(type));
    std::vector<std::string> texts = {"a + b",
                                      "a - b",
                                      "a * b",
                                      "a * b + c",
                                      "T.min(a, b)",
                                      "T.max(a, b)",
                                      "a & b",
                                      "a | b",
                                      "a ^ b",
                                      "~a",
                                      "a << (b & 7)",
                                      "a >> (b & 7)",
                                      "a << 3",
                                      "a >> 3",
                                      "a // 4",
                                      "a % 4",
                                      "a // 7",
                                      "a % 7",
                                      "T.truncdiv(a, 8)",
                                      "T.truncmod(a, 8)",
                                      "a // T.max(b, 1)",
                                      "a % T.max(b, 1)",
                                      "T.Select(b == 0, a, a // b)",
                                      "T.Select(b == 0, a, a % b)",
                                      "T.Select(b == 0, a, T.truncdiv(a, b))",
                                      "T.Select(b == 0, a, T.truncmod(a, b))",
                                      "T.abs(a)",
                                      "T.popcount(a)",
                                      "T.clz(a)",
                                      "T.Select(a < b, c, a)",
                                      "T.if_then_else(a < b, b, c)",
                                      "5 - a"};
    if (num::kind_of(type) == num::DTypeKind::Int) texts.emplace_back("-a");
    std::vector<Expression> all = typed(type, texts);
    for (const Expression& e : typed(DType::Bool, kCompares)) all.push_back(e);
    for (const Expression& e : typed(DType::Bool, {"a < b and b < c", "a < b or not b < c"}))
      all.push_back(e);
    expect_same(type, all, kTargets[1]);
    expect_assembles(kernel_of(kernel_text(type, all)), std::string(num::name_of(type)));
  }
}

TEST(PtxEmitter, Floats) {
  for (const DType type : kFloats) {
    SCOPED_TRACE(num::name_of(type));
    std::vector<Expression> all =
        typed(type, {"a + b", "a - b", "a * b", "a / b", "a * b + c", "T.min(a, b)", "T.max(a, b)",
                     "-a", "T.abs(a)", "T.fma(a, b, c)", "T.floor(a)", "T.ceil(a)", "T.trunc(a)",
                     "T.round(a)", "T.nearbyint(a)", "T.copysign(a, b)", "T.sqrt(T.abs(a))",
                     "T.Select(a < b, a, c)", "a * 2.5 + 1.0"});
    for (const Expression& e : typed(DType::Bool, kCompares)) all.push_back(e);
    for (const Expression& e : typed(DType::Bool, {"T.isnan(a)", "T.isinf(a)", "T.isfinite(a)"}))
      all.push_back(e);
    for (const target::Target& target : kTargets) expect_same(type, all, target);
    expect_assembles(kernel_of(kernel_text(type, all)), std::string(num::name_of(type)));
  }
}

TEST(PtxEmitter, Casts) {
  std::vector<DType> types = kInts;
  types.insert(types.end(), kFloats.begin(), kFloats.end());
  types.push_back(DType::Bool);
  for (const DType from : types) {
    SCOPED_TRACE(num::name_of(from));
    std::vector<Expression> all;
    for (const DType to : types)
      all.push_back({fmt::format("T.Cast(\"{}\", a)", num::name_of(to)), to});
    for (const target::Target& target : kTargets) expect_same(from, all, target);
    expect_assembles(kernel_of(kernel_text(from, all)), std::string(num::name_of(from)));
  }
}

TEST(PtxEmitter, NarrowFloats) {
  for (const DType narrow : {DType::Float8E4M3fn, DType::Float8E5M2}) {
    SCOPED_TRACE(num::name_of(narrow));
    const std::string name(num::name_of(narrow));
    std::vector<DType> others = kFloats;
    others.push_back(DType::Int32);
    std::vector<Expression> out;
    for (const DType type : others) {
      expect_same(type, {{fmt::format("T.Cast(\"{}\", a)", name), narrow}}, kTargets[1]);
      out.push_back({fmt::format("T.Cast(\"{}\", a)", num::name_of(type)), type});
    }
    expect_same(narrow, out, kTargets[1]);
    expect_assembles(kernel_of(kernel_text(narrow, out)), name, std::span(kTargets).subspan(1));
  }
}

TEST(PtxEmitter, Mathematics) {
  const std::vector<std::string> texts = {"T.exp(a * 0.25)",
                                          "T.exp2(a * 0.25)",
                                          "T.exp10(a * 0.125)",
                                          "T.log(T.abs(a) + 2.0)",
                                          "T.log2(T.abs(a) + 2.0)",
                                          "T.log10(T.abs(a) + 2.0)",
                                          "T.log1p(T.abs(a))",
                                          "T.expm1(a * 0.25)",
                                          "T.gelu(T.abs(a) * 0.03125)",
                                          "T.gelu_tanh(a * 0.03125)",
                                          "T.rsqrt(T.abs(a) + 0.5)",
                                          "T.tanh(a * 0.03125)",
                                          "T.sigmoid(a * 0.125)",
                                          "T.erf(a * 0.03125)",
                                          "T.pow(T.abs(a) + 0.5, b * 0.0078125)",
                                          "T.fmod(T.min(T.max(a, -900.0), 900.0), T.abs(b) + 0.75)",
                                          "T.sin(T.min(T.max(a, -900.0), 900.0)) + 3.0",
                                          "T.cos(T.min(T.max(a, -900.0), 900.0)) + 3.0"};
  for (const DType type : {DType::Float32, DType::Float16, DType::Bfloat16}) {
    SCOPED_TRACE(num::name_of(type));
    const double bound = type == DType::Float32 ? 4e-6 : type == DType::Float16 ? 2e-3 : 2e-2;
    for (const std::string& text : texts)
      expect_same(type, typed(type, {text}, bound), kTargets[0]);
    expect_assembles(kernel_of(kernel_text(type, typed(type, texts))),
                     std::string(num::name_of(type)));
  }
}

// --- kernels -------------------------------------------------------------------------------------

// The evaluator knows tensor memory by its buffers only, which lowered programs no longer have.
TEST(PtxEmitter, TensorMemory) {
  const ir::Function kernel = kernel_of(R"(def kernel(a_ptr: T.handle, o_ptr: T.handle):
    a = T.match_buffer(a_ptr, (512,), "uint32", layout=None)
    o = T.match_buffer(o_ptr, (512,), "uint32", layout=None)
    T.device_entry()
    tx = T.launch_thread("threadIdx.x", 128)
    bars = T.alloc_buffer((2,), "uint64", scope="shared", layout=None)
    tmem = T.alloc_buffer((1,), "uint32", scope="shared", layout=None)
    t = T.alloc_local((4,), "uint32", layout=None)
    if tx == 0:
        T.ptx.mbarrier.init(T.address_of(bars[0]), 1)
    T.ptx.fence.mbarrier_init()
    if tx // 32 == 0:
        T.ptx.tcgen05.alloc(T.address_of(tmem[0]), 32, 1)
    T.cuda.cta_sync()
    t[0] = a[tx]
    t[1] = a[tx + 128]
    t[2] = a[tx + 256]
    t[3] = a[tx] + T.uint32(1)
    addr: T.let[T.uint32] = T.cuda.get_tmem_addr(tmem[0], tx // 32 * 32, 0)
    T.ptx.tcgen05.st(addr, 0, 0, "32x32b", 4, False, t[0], t[1], t[2], t[3])
    T.ptx.tcgen05.wait.st()
    T.ptx.tcgen05.ld(addr, 0, 0, "32x32b", 4, False, t[3], t[2], t[1], t[0])
    T.ptx.tcgen05.wait.ld()
    if tx == 0:
        T.ptx.mbarrier.arrive(T.address_of(bars[0]))
    T.cuda.mbarrier_wait(T.address_of(bars[0]), 0)
    o[tx] = t[0]
    o[tx + 128] = t[1]
    T.cuda.cta_sync()
    if tx // 32 == 0:
        T.ptx.tcgen05.dealloc(tmem[0], 32, 1)
)");
  std::mt19937_64 random(5);
  const Bytes in = random_bytes(DType::Uint32, random);
  const KernelRun got = simulate(kernel, {in, in}, kTargets[2]);
  ASSERT_EQ(got.complaints, "");
  for (std::size_t i = 0; i < 128; ++i) {
    EXPECT_EQ(element(got.arrays[1], DType::Uint32, i),
              (element(in, DType::Uint32, i) + 1) & 0xffffffffU);
    EXPECT_EQ(element(got.arrays[1], DType::Uint32, i + 128), element(in, DType::Uint32, i + 256));
  }
  expect_assembles(kernel, "tensor memory", {&kTargets[2], 1});
}

TEST(PtxEmitter, Refusals) {
  const auto refusal = [](const std::string& body, target::Target target) -> std::string {
    try {
      ptx_of(kernel_of("def kernel(a_ptr: T.handle):\n"
                       "    a = T.match_buffer(a_ptr, (64,), \"float64\", layout=None)\n"
                       "    T.device_entry()\n"
                       "    tx = T.launch_thread(\"threadIdx.x\", 64)\n" +
                       body),
             target);
    } catch (const std::exception& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(
      refusal("    a[tx] = T.exp(a[tx])\n", kTargets[0]),
      "error: `T.exp` of `float64` has no PTX instruction (use `--emit cuda`) [NotEmitted]\n");
  EXPECT_EQ(refusal("    a[tx] = T.Cast(\"float64\", T.cuda.elect_sync())\n", kTargets[0]),
            "error: `elect` needs sm_90 or later; the target is sm_80 [NotOnTarget]\n");
  EXPECT_EQ(
      refusal("    T.cuda.func_call(\"f\", a[tx], source_code=\"\")\n", kTargets[0]),
      "error: `T.cuda.func_call` needs CUDA C++, PTX has no such function (use `--emit cuda`) "
      "[NotEmitted]\n");
}

TEST(PtxEmitter, Kernels) {
  for (const PtxKernel& c : ptx_kernels()) {
    SCOPED_TRACE(c.name);
    std::mt19937_64 random(11);
    std::vector<Bytes> arguments;
    for (const DType type : c.types) {
      arguments.push_back(random_bytes(type, random));
      if (num::kind_of(type) == num::DTypeKind::Float) continue;
      // Integers are used as indices, too: they are small.
      for (std::size_t i = 0; i < kElements; ++i) {
        const std::uint64_t bits = (i * 37 + 5) % (type == DType::Bool ? 2 : 64);
        std::memcpy(arguments.back().data() + i * size_of(type), &bits, size_of(type));
      }
    }
    try {
      const ir::Function kernel = kernel_of(c.text);
      const KernelRun wanted = evaluate(kernel, arguments);
      const KernelRun got = simulate(kernel, arguments, c.target);
      EXPECT_EQ(wanted.complaints, "");
      EXPECT_EQ(got.complaints, "") << ptx_of(kernel, c.target);
      EXPECT_EQ(got.printed, wanted.printed);
      for (std::size_t i = 0; i < wanted.arrays.size() && i < got.arrays.size(); ++i) {
        for (std::size_t at = 0; at < kElements; ++at) {
          const std::uint64_t w = element(wanted.arrays[i], c.types[i], at);
          const std::uint64_t g = element(got.arrays[i], c.types[i], at);
          if (agrees(w, g, c.types[i], c.bound)) continue;
          ADD_FAILURE() << fmt::format("element {} of parameter {}: {:#x}, expected {:#x}\n", at, i,
                                       g, w)
                        << ptx_of(kernel, c.target);
          break;
        }
      }
      expect_assembles(kernel, c.name, {&c.target, 1});
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
  }
}

}  // namespace
}  // namespace ww::engines::ptx_test
