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

#include "corpus/toolchain.h"
#include "harness/emitted.h"
#include "num/dtype.h"
#include "num/float_format.h"

namespace ww::engines::ptx_test {
namespace {

using num::DType;
using target::Arch;

constexpr std::size_t kElements = 512;
const target::Target kTargets[] = {{Arch::Sm80, 80}, {Arch::Sm90a, 86}, {Arch::Sm100a, 88}};

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
  const corpus::ScratchFolder folder;
  for (const target::Target& target : targets) {
    const std::string name(target::info(target.arch).name);
    std::ofstream(folder.path() / "k.ptx") << ptx_of(kernel, target);
    const corpus::Outcome out = toolchain->assemble(folder.path(), "k.ptx", name, "k.cubin");
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

struct Case {
  std::string name;
  std::string text;
  std::vector<DType> types;  // of the arrays, 512 elements each; all are inputs and outputs
  target::Target target = kTargets[1];
  double bound = 0;
};

std::vector<Case> cases();

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
  for (const Case& c : cases()) {
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

std::vector<Case> cases() {
  const DType f16 = DType::Float16;
  const DType f32 = DType::Float32;
  const DType i32 = DType::Int32;
  return {
      {"control",
       R"(def kernel(a_ptr: T.handle, o_ptr: T.handle):
    a = T.match_buffer(a_ptr, (512,), "int32", layout=None)
    o = T.match_buffer(o_ptr, (512,), "int32", layout=None)
    T.device_entry()
    tx = T.launch_thread("threadIdx.x", 128)
    total: T.int32 = 0
    for i in range(a[tx]):
        if i % 3 == 1:
            continue
        if i > 20:
            break
        total = total + i * a[i]
    n: T.int32 = a[tx] + 1
    while n > 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = n * 3 + 1
        total = total + 1
    for i in range(4, 12, 3):
        for j in range(i):
            total = total + i * j
    for i in range(1):
        if total % 2 == 0:
            break
        total = total * 3
    o[tx] = total
    if tx < 7:
        return
    o[128 + tx] = T.if_then_else(tx < 100, a[tx + 384], -5)
    o[256 + tx] = T.if_then_else(tx > 100, a[tx + 300] + 1, a[tx] * 2)
    if tx > 3 and a[tx] > 5:
        o[384 + tx] = 1
)",
       {i32, i32}},
      {"packed",
       R"(def kernel(a_ptr: T.handle, o_ptr: T.handle):
    a = T.match_buffer(a_ptr, (512,), "float16", layout=None)
    o = T.match_buffer(o_ptr, (512,), "float16", layout=None)
    T.device_entry()
    tx = T.launch_thread("threadIdx.x", 64)
    r = T.alloc_local((8,), "float16", layout=None)
    s = T.alloc_local((4,), "float16", layout=None)
    w = T.decl_buffer((4,), "uint32", data=r.data, scope="local", layout=None)
    T.cuda.copy_bytes(T.address_of(r[0]), T.address_of(a[tx * 8]), 16)
    s[0] = r[3]
    s[1] = r[2] + r[7]
    r[1] = s[0]
    if tx > 10:
        r[0] = s[1]
        s[2] = r[5]
    else:
        s[2] = r[4]
    s[3] = T.float16(2.0)
    w[3] = w[3] ^ T.uint32(65537)
    T.cuda.copy_bytes(T.address_of(r[4]), T.address_of(s[0]), 8)
    T.cuda.copy_bytes(T.address_of(o[tx * 8]), T.address_of(r[0]), 16)
)",
       {f16, f16}},
      {"bytes",
       R"(def kernel(a_ptr: T.handle, o_ptr: T.handle):
    a = T.match_buffer(a_ptr, (512,), "int8", layout=None)
    o = T.match_buffer(o_ptr, (512,), "int8", layout=None)
    T.device_entry()
    tx = T.launch_thread("threadIdx.x", 64)
    r = T.alloc_local((8,), "int8", layout=None)
    T.cuda.copy_bytes(T.address_of(r[0]), T.address_of(a[tx * 8]), 8)
    r[2] = r[1] - T.int8(100)
    r[4] = r[0]
    r[5] = r[2]
    r[6] = r[3] * r[3]
    r[7] = T.int8(-3)
    T.cuda.copy_bytes(T.address_of(o[tx * 8]), T.address_of(r[0]), 8)
)",
       {DType::Int8, DType::Int8}},
      {"local memory",
       R"(def kernel(a_ptr: T.handle, o_ptr: T.handle):
    a = T.match_buffer(a_ptr, (512,), "int32", layout=None)
    o = T.match_buffer(o_ptr, (512,), "int32", layout=None)
    T.device_entry()
    tx = T.launch_thread("threadIdx.x", 64)
    r = T.alloc_local((8,), "int32", layout=None)
    for i in range(8):
        r[i] = a[tx * 8 + i]
    for i in range(8):
        o[tx * 8 + i] = r[(i + tx) % 8]
)",
       {i32, i32}},
      {"shared",
       R"(def kernel(a_ptr: T.handle, o_ptr: T.handle):
    a = T.match_buffer(a_ptr, (512,), "float32", layout=None)
    o = T.match_buffer(o_ptr, (512,), "float32", layout=None)
    T.device_entry()
    tx = T.launch_thread("threadIdx.x", 64)
    s = T.alloc_buffer((512,), "float32", scope="shared", layout=None)
    d = T.alloc_buffer((512,), "float32", scope="shared.dyn", layout=None)
    for i in range(2):
        p: T.let[T.handle("float32")] = T.pointer_offset(T.address_of(s[0]), tx * 8 + i * 4)
        T.cuda.copy_bytes(p, T.address_of(a[tx * 8 + i * 4]), 16)
    T.cuda.cta_sync()
    for i in range(8):
        d[i * 64 + tx] = s[(tx ^ 5) * 8 + i]
    T.tvm_storage_sync("shared")
    v = T.decl_buffer((128,), "float32", data=d.data, scope="shared.dyn", elem_offset=64, layout=None)
    for i in range(8):
        o[tx * 8 + i] = d[tx * 8 + 7 - i] + v[tx]
)",
       {f32, f32}},
      {"vectors",
       R"(def kernel(a_ptr: T.handle, o_ptr: T.handle, h_ptr: T.handle):
    a = T.match_buffer(a_ptr, (512,), "float32", layout=None)
    o = T.match_buffer(o_ptr, (512,), "float32", layout=None)
    h = T.match_buffer(h_ptr, (512,), "float16", layout=None)
    T.device_entry()
    tx = T.launch_thread("threadIdx.x", 64)
    o[T.Ramp(tx * 4, 1, 4)] = a[T.Ramp(tx * 4, 1, 4)] * T.Broadcast(T.float32(2.0), 4) + a[T.Ramp(tx * 4 + 256, 1, 4)]
    o[T.Ramp(tx + 256, 64, 4)] = a[T.Ramp(tx * 3, 2, 4)]
    h[T.Ramp(tx * 8, 1, 8)] = T.Cast("float16x8", a[T.Ramp(tx * 8, 1, 8)])
)",
       {f32, f32, f16}},
      {"lanes",
       R"(def kernel(a_ptr: T.handle, o_ptr: T.handle, h_ptr: T.handle):
    a = T.match_buffer(a_ptr, (512,), "int32", layout=None)
    o = T.match_buffer(o_ptr, (512,), "int32", layout=None)
    h = T.match_buffer(h_ptr, (512,), "float64", layout=None)
    T.device_entry()
    tx = T.launch_thread("threadIdx.x", 64)
    full: T.let[T.uint32] = T.uint32(4294967295)
    o[tx] = T.tvm_warp_shuffle(full, a[tx], tx % 7, 16, 32) + T.tvm_warp_shuffle_up(full, a[tx], 3, 32, 32)
    o[64 + tx] = T.tvm_warp_shuffle_down(full, a[tx], 5, 8, 32) + T.tvm_warp_shuffle_xor(full, a[tx], 9, 32, 32)
    o[128 + tx] = T.Cast("int32", T.cuda.ballot_sync(full, a[tx] > 20))
    o[192 + tx] = T.Cast("int32", T.cuda.any_sync(full, a[tx] > 60)) + 2 * T.Cast("int32", T.cuda.all_sync(full, a[tx] > 0))
    o[256 + tx] = T.cuda.warp_reduce(a[tx], "sum", 32) + T.cuda.warp_reduce(a[tx], "max", 8)
    o[320 + tx] = T.Cast("int32", T.cuda.elect_sync())
    h[tx] = T.tvm_warp_shuffle_xor(full, h[64 + tx], 1, 32, 32)
    h[128 + tx] = T.cuda.warp_reduce(h[64 + tx], "sum", 32)
    s = T.alloc_buffer((32,), "float64", scope="shared", layout=None)
    h[192 + tx] = T.cuda.cta_reduce(h[64 + tx], "sum", 2, T.address_of(s[0]))
    h[256 + tx] = T.cuda.cta_reduce(h[64 + tx], "max", 2, T.address_of(s[0]))
)",
       {i32, i32, DType::Float64}},
      {"atomics",
       R"(def kernel(a_ptr: T.handle, o_ptr: T.handle, f_ptr: T.handle):
    a = T.match_buffer(a_ptr, (512,), "int32", layout=None)
    o = T.match_buffer(o_ptr, (512,), "int32", layout=None)
    f = T.match_buffer(f_ptr, (512,), "float32", layout=None)
    T.device_entry()
    tx = T.launch_thread("threadIdx.x", 64)
    s = T.alloc_buffer((4,), "int32", scope="shared", layout=None)
    if tx < 4:
        s[tx] = 0
    T.cuda.cta_sync()
    T.cuda.atomic_add(T.address_of(s[tx % 4]), a[tx])
    T.cuda.atomic_max(T.address_of(o[0]), a[tx] * 3)
    T.cuda.atomic_min(T.address_of(o[1]), a[tx] - 30)
    T.cuda.atomic_or(T.address_of(o[2]), a[tx])
    T.cuda.atomic_xor(T.address_of(o[3]), a[tx])
    T.cuda.atomic_and(T.address_of(o[4]), a[tx])
    T.cuda.atomic_max(T.address_of(f[0]), f[tx + 64])
    T.cuda.atomic_min(T.address_of(f[1]), f[tx + 64])
    o[tx + 64] = T.cuda.atomic_exch(T.address_of(o[tx + 128]), a[tx])
    o[tx + 192] = T.cuda.atomic_cas(T.address_of(o[tx + 256]), 7, 9)
    T.cuda.cta_sync()
    if tx < 4:
        o[tx + 320] = s[tx] + T.cuda.ldg(T.address_of(a[tx]))
)",
       {i32, i32, f32}},
      {"prints",
       R"(def kernel(a_ptr: T.handle):
    a = T.match_buffer(a_ptr, (512,), "int32", layout=None)
    T.device_entry()
    tx = T.launch_thread("threadIdx.x", 2)
    T.cuda.printf("%d: %f %s 100%% %lld\n", tx, T.Cast("float32", a[tx]) / T.float32(4.0), "text", T.Cast("int64", a[tx]) * T.int64(10000000000))
    assert a[tx] < 100, "small"
)",
       {i32}},
      {"matrix",
       R"(def kernel(a_ptr: T.handle, o_ptr: T.handle, d_ptr: T.handle):
    a = T.match_buffer(a_ptr, (512,), "float16", layout=None)
    o = T.match_buffer(o_ptr, (512,), "float16", layout=None)
    d = T.match_buffer(d_ptr, (512,), "float32", layout=None)
    T.device_entry()
    tx = T.launch_thread("threadIdx.x", 32)
    s = T.alloc_buffer((512,), "float16", scope="shared", layout=None)
    for i in range(2):
        T.ptx.cp_async(T.address_of(s[tx * 16 + i * 8]), T.address_of(a[tx * 16 + i * 8]), 16)
    T.ptx.cp_async.commit_group()
    T.ptx.cp_async.wait_group(0)
    T.cuda.cta_sync()
    r = T.alloc_local((8,), "float16", layout=None)
    c = T.alloc_local((4,), "float32", layout=None)
    for i in T.unroll(1):
        c[0] = T.float32(1.0)
        c[1] = T.float32(2.0)
        c[2] = T.float32(3.0)
        c[3] = T.float32(4.0)
    T.ptx.ldmatrix(T.bool(False), 4, ".b16", T.address_of(s[tx * 8]), T.address_of(r[0]), T.address_of(r[2]), T.address_of(r[4]), T.address_of(r[6]))
    T.ptx.mma("m16n8k16", "row", "col", "float32", "float16", "float16", "float32", 4, 4, 2, 4, False, T.address_of(c[0]), T.address_of(c[1]), T.address_of(c[2]), T.address_of(c[3]), T.address_of(r[0]), T.address_of(r[2]), T.address_of(r[4]), T.address_of(r[6]), T.address_of(r[0]), T.address_of(r[2]), T.address_of(c[0]), T.address_of(c[1]), T.address_of(c[2]), T.address_of(c[3]))
    T.ptx.stmatrix(T.bool(True), 2, ".b16", T.address_of(s[tx * 8]), T.address_of(r[4]), T.address_of(r[6]))
    T.cuda.cta_sync()
    T.cuda.copy_bytes(T.address_of(o[tx * 8]), T.address_of(s[tx * 8]), 16)
    T.cuda.copy_bytes(T.address_of(d[tx * 4]), T.address_of(c[0]), 16)
)",
       {f16, f16, f32},
       kTargets[1],
       1e-5},
      {"cells",
       R"(def kernel(a_ptr: T.handle, o_ptr: T.handle, h_ptr: T.handle, g_ptr: T.handle):
    a = T.match_buffer(a_ptr, (512,), "int32", layout=None)
    o = T.match_buffer(o_ptr, (512,), "int16", layout=None)
    h = T.match_buffer(h_ptr, (512,), "float16", layout=None)
    g = T.match_buffer(g_ptr, (512,), "float64", layout=None)
    T.device_entry()
    tx = T.launch_thread("threadIdx.x", 64)
    flag: T.bool = a[tx] > 9
    small: T.int16 = T.Cast("int16", a[tx])
    half: T.float16 = h[tx]
    wide: T.float64 = g[tx]
    bits = T.alloc_local((2,), "int16", layout=None)
    over = T.decl_buffer((2,), "float16", data=bits.data, scope="local", layout=None)
    over[1] = half
    bits[0] = small
    for i in range(a[tx]):
        flag = not flag
        small = small * T.int16(17) + T.int16(3)
        half = half + T.float16(0.5)
        wide = wide * T.float64(1.5)
        if i > 3:
            bits[0] = bits[0] + bits[1]
    o[tx] = T.Select(flag, small, bits[0])
    o[tx + 64] = bits[1]
    h[tx + 64] = half
    h[tx + 128] = over[0]
    g[tx + 64] = wide
    pair = T.alloc_local((4,), "float64", layout=None)
    T.cuda.copy_bytes(T.address_of(pair[0]), T.address_of(g[tx * 2 + 128]), 16)
    pair[2] = pair[1] + wide
    pair[3] = pair[0]
    T.cuda.copy_bytes(T.address_of(g[tx * 2 + 256]), T.address_of(pair[2]), 16)
    g[tx + 448] = T.reinterpret("float64", T.Cast("int64", a[tx]) * T.int64(72057594037927937))
    a[tx + 64] = T.reinterpret("int32", T.Cast("float32", a[tx]))
    a[tx + 128] = T.Cast("int32", T.reinterpret("uint16", h[tx]))
)",
       {i32, DType::Int16, f16, DType::Float64}},
      {"pointers",
       R"(def kernel(a_ptr: T.handle, o_ptr: T.handle, flag: T.int32):
    a = T.match_buffer(a_ptr, (512,), "float32", layout=None)
    o = T.match_buffer(o_ptr, (512,), "float32", layout=None)
    T.device_entry()
    bx = T.launch_thread("blockIdx.x", 2)
    tx = T.launch_thread("threadIdx.x", 64)
    s = T.alloc_buffer((128,), "float32", scope="shared", layout=None)
    p: T.let[T.handle("float32")] = T.pointer_offset(T.address_of(a[bx * 64]), tx)
    q: T.let[T.handle("float32")] = T.pointer_offset(T.address_of(s[0]), tx)
    T.cuda.copy_bytes(q, p, 4)
    b = T.decl_buffer((64,), "float32", data=q, scope="shared", layout=None)
    o[bx * 64 + tx] = b[0] + T.Cast("float32", flag)
)",
       {f32, f32, i32}},
      {"choices of vectors",
       R"(def kernel(a_ptr: T.handle, o_ptr: T.handle, h_ptr: T.handle):
    a = T.match_buffer(a_ptr, (512,), "float32", layout=None)
    o = T.match_buffer(o_ptr, (512,), "float32", layout=None)
    h = T.match_buffer(h_ptr, (512,), "uint8", layout=None)
    T.device_entry()
    bx = T.launch_thread("blockIdx.x", 2)
    ty = T.launch_thread("threadIdx.y", 2)
    tx = T.launch_thread("threadIdx.x", 16)
    i: T.let[T.int32] = (bx * 2 + ty) * 16 + tx
    r = T.alloc_local((4,), "float32", layout=None)
    r[T.Ramp(0, 1, 4)] = T.if_then_else(i < 20, a[T.Ramp(i * 4, 1, 4)], T.Broadcast(a[i], 4))
    o[T.Ramp(i * 4, 1, 4)] = r[T.Ramp(0, 1, 4)]
    r[T.Ramp(0, 1, 4)] = T.Broadcast(r[1] * T.float32(2.0), 4)
    o[T.Ramp(i * 2 + 256, 1, 2)] = r[T.Ramp(2, 1, 2)]
    h[T.Ramp(i * 8, 1, 8)] = h[T.Ramp(i * 8, 1, 8)] + T.Broadcast(T.uint8(250), 8)
    x: T.uint32 = T.Cast("uint32", h[i * 8]) - T.uint32(3)
    o[i + 448] = a[x % T.uint32(512)]
)",
       {f32, f32, DType::Uint8}},
  };
}

}  // namespace
}  // namespace ww::engines::ptx_test
