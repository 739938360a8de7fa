// SPDX-License-Identifier: Apache-2.0
// What the CUDA emitter writes means what the evaluator computes: element types and their
// operations, control, vectors, views, exchange between lanes, atomics, PTX instructions.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>

#include "harness/cuda_run.h"
#include "harness/emitted.h"

namespace ww::emit::test::cuda_test {
namespace {

// Every thread computes one of each expression over its elements `a` and `b`.
std::string element_kernel(const std::string& name, const std::string& in, const std::string& out,
                           const std::vector<std::string>& expressions) {
  constexpr int kThreads = 128;
  std::string text = fmt::format(
      "@T.prim_func\n"
      "def {}(A: T.Buffer(({},), \"{}\"), B: T.Buffer(({},), \"{}\"), C: T.Buffer(({},), "
      "\"{}\")):\n"
      "    T.device_entry()\n"
      "    bx = T.launch_thread(\"blockIdx.x\", 1)\n"
      "    tx = T.launch_thread(\"threadIdx.x\", {})\n"
      "    a: T.let[T.{}] = A[tx]\n"
      "    b: T.let[T.{}] = B[tx]\n",
      name, kThreads, in, kThreads, in, kThreads * expressions.size(), out, kThreads, in, in);
  for (std::size_t i = 0; i < expressions.size(); ++i)
    text += fmt::format("    C[tx * {} + {}] = {}\n", expressions.size(), i, expressions[i]);
  return text;
}

const std::vector<std::string> kIntegers = {"int8",  "int16",  "int32",  "int64",
                                            "uint8", "uint16", "uint32", "uint64"};
const std::vector<std::string> kFloats = {"float16", "bfloat16", "float32", "float64"};

std::vector<std::string> cast_to(const std::string& dtype, const std::vector<std::string>& values) {
  std::vector<std::string> out;
  for (const std::string& value : values)
    out.push_back(fmt::format("T.Cast(\"{}\", {})", dtype, value));
  return out;
}

// Operations with numbers of the type: one near its end, a small one.
std::vector<std::string> with_constants(const std::string& dtype) {
  const bool is_signed = dtype.starts_with("int");
  const int bits = std::stoi(dtype.substr(dtype.find("int") + 3));
  const std::uint64_t most = ~std::uint64_t{0} >> (64 - bits + (is_signed ? 1 : 0));
  std::vector<std::string> out;
  for (const std::string& number :
       {fmt::format("{}", most - 2), std::string(is_signed ? "-3" : "3")})
    for (const char* const form :
         {"a + {}", "a - {}", "a * {}", "{} - a", "a * {} + b", "T.max(a, {})", "T.truncdiv({}, a)",
          "a & {}", "T.Select(a < {}, a, b)", "T.Select({} == b, a, b)"})
      out.push_back(fmt::format(fmt::runtime(form), fmt::format("T.{}({})", dtype, number)));
  return out;
}

void expect_same(const std::vector<Kernel>& kernels, const std::string& arch) {
  bool skipped = false;
  EXPECT_EQ(run_all(kernels, arch, skipped), "");
  if (skipped) GTEST_SKIP() << "no nvcc that compiles for " << arch;
}

TEST(CudaRuns, IntegersOfAllWidths) {
  std::vector<Kernel> kernels;
  for (const std::string& dtype : kIntegers) {
    kernels.push_back({element_kernel("arithmetic_" + dtype, dtype, dtype,
                                      {"a + b",
                                       "a - b",
                                       "a * b",
                                       "a * b - a + b",
                                       "a // b",
                                       "a % b",
                                       "T.truncdiv(a, b)",
                                       "T.truncmod(a, b)",
                                       "T.min(a, b)",
                                       "T.max(a, b)",
                                       "a & b",
                                       "a | b",
                                       "a ^ b",
                                       "a << b",
                                       "a >> b",
                                       "-a",
                                       "~a",
                                       "T.abs(a)",
                                       "T.popcount(a)",
                                       "T.clz(a)",
                                       "a // 3",
                                       "a % 3",
                                       "a << 3",
                                       "a >> 3",
                                       "T.Select(a < b, a, b)",
                                       "T.if_then_else(a >= b, a + b, b)"})});
    kernels.push_back({element_kernel("constants_" + dtype, dtype, dtype, with_constants(dtype))});
    kernels.push_back({element_kernel(
        "compare_" + dtype, dtype, "bool",
        {"a == b", "a != b", "a < b", "a <= b", "a > b", "a >= b", "a < b and a != b",
         "a < b or a == b", "not (a < b)", "(a < b) == (b < a)"})});
    for (const std::string to : {"int8", "uint16", "int32", "uint64", "float16", "bfloat16",
                                 "float32", "float64", "float8_e4m3fn", "float8_e5m2", "bool"})
      kernels.push_back(
          {element_kernel(fmt::format("{}_to_{}", dtype, to), dtype, to, cast_to(to, {"a", "b"}))});
  }
  expect_same(kernels, "sm_80");
}

TEST(CudaRuns, FloatsOfAllWidths) {
  std::vector<Kernel> kernels;
  for (const std::string& dtype : kFloats) {
    kernels.push_back({element_kernel("arithmetic_" + dtype, dtype, dtype,
                                      {"a + b",
                                       "a - b",
                                       "a * b",
                                       "a / b",
                                       "a * b + a",
                                       "a * b - b",
                                       "T.min(a, b)",
                                       "T.max(a, b)",
                                       "-a",
                                       "T.abs(a)",
                                       "T.sqrt(T.abs(a))",
                                       "T.floor(a)",
                                       "T.ceil(a)",
                                       "T.trunc(a)",
                                       "T.round(a)",
                                       "T.nearbyint(a)",
                                       "T.fma(a, b, a)",
                                       "T.copysign(a, b)",
                                       fmt::format("a + T.{}(0.1)", dtype),
                                       fmt::format("a * T.{}(-2.5)", dtype)})});
    kernels.push_back({element_kernel("compare_" + dtype, dtype, "bool",
                                      {"a == b", "a != b", "a < b", "a <= b", "a > b", "a >= b",
                                       "T.isnan(a)", "T.isinf(a)", "T.isfinite(a)"})});
    kernels.push_back({element_kernel("math_" + dtype, dtype, dtype,
                                      {"T.exp(a)", "T.exp2(a)", "T.sin(a)", "T.cos(a)", "T.tanh(a)",
                                       "T.erf(a)", "T.sigmoid(a)", "T.rsqrt(a * a + b * b + a / a)",
                                       "T.log(T.abs(a))", "T.log2(T.abs(a))", "T.pow(T.abs(a), b)",
                                       "T.log1p(T.abs(a))", "T.log10(T.abs(a))", "T.tan(a)",
                                       "T.expm1(a)", "T.gelu(a)", "T.gelu_tanh(a)"}),
                       0.01, true});
    for (const std::string to :
         {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
          "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2", "tfloat32", "bool"}) {
      if (to == "tfloat32" && dtype == "float64") continue;
      kernels.push_back(
          {element_kernel(fmt::format("{}_to_{}", dtype, to), dtype, to, cast_to(to, {"a", "b"}))});
    }
  }
  for (const std::string dtype : {"float8_e4m3fn", "float8_e5m2"})
    for (const std::string to : {"float16", "bfloat16", "float32", "float64", "int32", "bool"})
      kernels.push_back(
          {element_kernel(fmt::format("{}_to_{}", dtype, to), dtype, to, cast_to(to, {"a", "b"}))});
  expect_same(kernels, "sm_90a");
}

// A kernel of one CTA: parameters, then the body behind the launch of `threads` threads.
std::string kernel_of(const std::string& name, const std::string& params, int threads,
                      const std::string& body) {
  std::string out = fmt::format(
      "@T.prim_func\ndef {}({}):\n    T.device_entry()\n"
      "    tx = T.launch_thread(\"threadIdx.x\", {})\n",
      name, params, threads);
  std::istringstream in(body);
  for (std::string line; std::getline(in, line);) out += "    " + line + "\n";
  return out;
}

TEST(CudaRuns, ControlAndMemory) {
  const std::vector<Kernel> kernels = {
      {kernel_of("loops",
                 "A: T.Buffer((64,), \"int32\"), B: T.Buffer((64,), \"int32\"), n: T.int32", 32,
                 R"(s: T.int32 = 0
for i in range(8):
    if i == 5:
        continue
    s = s + i * tx
    if s > 40:
        break
for j in T.serial(2, 14, step=3):
    s = s - j
for j in T.unroll(4):
    s = s * 3 + j
while s > 1000:
    s = s // 2 - 1
for m in range(A[tx] % 4, A[tx] % 4 + 3):
    s = s + m
if tx < 8:
    B[tx] = s
elif tx < 16:
    B[tx] = -s
else:
    B[tx] = s % 7 + n
u: T.uint32 = T.uint32(3000000000)
B[tx + 32] = T.Cast("int32", u * T.uint32(3) + T.Cast("uint32", tx))
)")},
      {kernel_of("views", "A: T.Buffer((64,), \"float32\"), B: T.Buffer((128,), \"uint16\")", 32,
                 R"(S = T.alloc_shared((64,), "float32")
W = T.decl_buffer((128,), "uint16", data=S.data, scope="shared", layout=None)
H = T.decl_buffer((32,), "float32", data=S.data, elem_offset=32, scope="shared", layout=None)
S[tx] = A[tx]
H[tx] = A[tx + 32]
T.cuda.cta_sync()
R = T.alloc_local((4,), "uint16")
p: T.let[T.handle("uint16")] = T.pointer_offset(T.address_of(W[0]), tx * 4)
T.cuda.copy_bytes(T.address_of(R[0]), p, 8)
for i in range(4):
    B[tx * 4 + i] = R[i] ^ T.uint16(1)
)")},
      {kernel_of("copies", "A: T.Buffer((256,), \"uint8\"), B: T.Buffer((256,), \"uint8\")", 8,
                 R"(T.cuda.copy_bytes(T.address_of(B[tx * 32]), T.address_of(A[tx * 32]), 16)
T.cuda.copy_bytes(T.address_of(B[tx * 32 + 16]), T.address_of(A[tx * 32 + 16]), 8)
T.cuda.copy_bytes(T.address_of(B[tx * 32 + 24]), T.address_of(A[tx * 32 + 24]), 4)
T.cuda.copy_bytes(T.address_of(B[tx * 32 + 28]), T.address_of(A[tx * 32 + 28]), 2)
T.cuda.copy_bytes(T.address_of(B[tx * 32 + 30]), T.address_of(A[tx * 32 + 30]), 1)
)")},
      {kernel_of("bools", "A: T.Buffer((32,), \"bool\"), B: T.Buffer((32,), \"bool\")", 32,
                 R"(x: T.bool = A[tx] and tx < 20
y: T.bool = not x
B[tx] = (x or A[31 - tx]) and (y or A[tx])
)")},
      {kernel_of(
          "scalar_types",
          "A: T.Buffer((4,), \"float32\"), h: T.float16, d: T.float64, b: T.int8, u: T.uint64", 1,
          R"(A[0] = T.Cast("float32", h)
A[1] = T.Cast("float32", d)
A[2] = T.Cast("float32", b)
A[3] = T.Cast("float32", u) + T.Cast("float32", tx)
)")},
      {kernel_of("dynamic", "A: T.Buffer((64,), \"float16\"), B: T.Buffer((64,), \"float16\")", 32,
                 R"(S = T.alloc_buffer((64,), "float16", scope="shared.dyn", layout=None)
S[tx] = A[tx]
S[tx + 32] = A[tx + 32]
T.tvm_storage_sync("shared.dyn")
B[tx] = S[63 - tx]
B[tx + 32] = T.cuda.ldg(T.address_of(A[tx])) + S[31 - tx]
)")},
      // nvcc makes loads of four of those of three neighbours, the last ones too.
      {kernel_of("ragged", "A: T.Buffer((128,), \"float32\"), B: T.Buffer((96,), \"float32\")", 32,
                 R"(S = T.alloc_shared((127,), "float32")
for i in T.unroll(3):
    S[tx * 4 + i] = A[tx * 4 + i]
T.tvm_storage_sync("shared")
for i in T.unroll(3):
    B[tx * 3 + i] = S[(31 - tx) * 4 + i]
)")},
      {kernel_of("ragged_dynamic",
                 "A: T.Buffer((128,), \"float32\"), B: T.Buffer((96,), \"float32\")", 32,
                 R"(D = T.alloc_buffer((127,), "float32", scope="shared.dyn", layout=None)
for i in T.unroll(3):
    D[tx * 4 + i] = A[tx * 4 + i]
T.tvm_storage_sync("shared.dyn")
for i in T.unroll(3):
    B[tx * 3 + i] = D[(31 - tx) * 4 + i]
)")},
      {kernel_of("ragged_local", "A: T.Buffer((7,), \"float32\"), B: T.Buffer((3,), \"float32\")",
                 1,
                 R"(L = T.alloc_local((7,), "float32")
for i in range(7):
    L[i] = A[i]
half: T.let[T.int32] = T.Cast("int32", A[0]) & 1
for i in T.unroll(3):
    B[i] = L[half * 4 + i]
)")},
  };
  expect_same(kernels, "sm_80");
}

TEST(CudaRuns, Vectors) {
  std::vector<Kernel> kernels;
  for (const std::string dtype : {"float32", "float16", "int8", "int64", "float8_e4m3fn"})
    kernels.push_back({kernel_of(
        "move_" + dtype,
        fmt::format("A: T.Buffer((128,), \"{0}\"), B: T.Buffer((128,), \"{0}\")", dtype), 32,
        fmt::format(R"(S = T.alloc_shared((128,), "{0}")
S.vstore([tx * 4], A.vload([tx * 4], dtype="{0}x4"))
T.cuda.cta_sync()
B.vstore([tx * 4], S.vload([124 - tx * 4], dtype="{0}x4"))
)",
                    dtype))});
  kernels.push_back({kernel_of("elementwise",
                               "A: T.Buffer((128,), \"float32\"), B: T.Buffer((128,), \"float32\")",
                               32, R"(v: T.let[T.float32x4] = A.vload([tx * 4], dtype="float32x4")
B.vstore([tx * 4], v * T.Broadcast(T.float32(0.5), 4) + T.Cast("float32x4", T.Ramp(tx, 3, 4)))
)")});
  kernels.push_back(
      {kernel_of("strided", "A: T.Buffer((128,), \"int32\"), B: T.Buffer((128,), \"int32\")", 32,
                 R"(B[T.Ramp(tx, 32, 4)] = A[T.Ramp(tx * 4, 1, 4)] * T.Broadcast(3, 4)
)")});
  kernels.push_back(
      {kernel_of("bits", "A: T.Buffer((64,), \"float16\"), B: T.Buffer((32,), \"uint32\")", 32,
                 R"(B[tx] = T.reinterpret("uint32", A.vload([tx * 2], dtype="float16x2"))
)")});
  expect_same(kernels, "sm_80");
}

TEST(CudaRuns, ThreadsTogether) {
  std::vector<Kernel> kernels;
  for (const std::string dtype : {"int32", "float32", "float16", "int8", "int64", "float64"})
    kernels.push_back(
        {kernel_of("exchange_" + dtype,
                   fmt::format("A: T.Buffer((32,), \"{0}\"), B: T.Buffer((224,), \"{0}\")", dtype),
                   32, R"(m: T.let[T.uint32] = T.uint32(0xffffffff)
B[tx] = T.tvm_warp_shuffle(m, A[tx], 31 - tx, 32, 32)
B[tx + 32] = T.tvm_warp_shuffle_up(m, A[tx], 3, 16, 32)
B[tx + 64] = T.tvm_warp_shuffle_down(m, A[tx], 5, 32, 32)
B[tx + 96] = T.tvm_warp_shuffle_xor(m, A[tx], 6, 8, 32)
B[tx + 128] = T.cuda.warp_reduce(A[tx], "sum", 32)
B[tx + 160] = T.cuda.warp_reduce(A[tx], "max", 8)
B[tx + 192] = T.cuda.warp_reduce(A[tx], "min", 4)
)"),
         0, true});
  kernels.push_back(
      {kernel_of("votes", "A: T.Buffer((32,), \"int32\"), B: T.Buffer((160,), \"uint32\")", 32,
                 R"(m: T.let[T.uint32] = T.uint32(0xffffffff)
B[tx] = T.cuda.ballot_sync(m, A[tx] > 3)
B[tx + 32] = T.Cast("uint32", T.cuda.any_sync(m, A[tx] > 30))
B[tx + 64] = T.Cast("uint32", T.cuda.all_sync(m, A[tx] > 30))
B[tx + 96] = T.tvm_warp_activemask()
B[tx + 128] = T.cuda.elect_sync()
T.cuda.warp_sync()
T.cuda.thread_fence()
)")});
  for (const int warps : {4, 3})
    kernels.push_back(
        {kernel_of(fmt::format("cta_reduce_{}", warps),
                   fmt::format("A: T.Buffer(({0},), \"float32\"), B: T.Buffer(({0},), "
                               "\"float32\")",
                               warps * 32),
                   warps * 32,
                   fmt::format(R"(S = T.alloc_shared((8,), "float32")
B[tx] = T.cuda.cta_reduce(A[tx], "sum", {}, T.address_of(S[0]))
)",
                               warps)),
         0, true});
  for (const std::string dtype : {"int32", "uint32", "int64", "uint64"})
    kernels.push_back(
        {kernel_of("atomics_" + dtype,
                   fmt::format("A: T.Buffer((32,), \"{0}\"), B: T.Buffer((8,), \"{0}\")", dtype),
                   32, R"(T.evaluate(T.cuda.atomic_add(T.address_of(B[0]), A[tx]))
T.evaluate(T.cuda.atomic_min(T.address_of(B[1]), A[tx]))
T.evaluate(T.cuda.atomic_max(T.address_of(B[2]), A[tx]))
T.evaluate(T.cuda.atomic_and(T.address_of(B[3]), A[tx]))
T.evaluate(T.cuda.atomic_or(T.address_of(B[4]), A[tx]))
T.evaluate(T.cuda.atomic_xor(T.address_of(B[5]), A[tx]))
if tx == 3:
    T.evaluate(T.cuda.atomic_exch(T.address_of(B[6]), A[tx]))
    T.evaluate(T.cuda.atomic_cas(T.address_of(B[7]), B[7], A[tx]))
)"),
         0, true});
  for (const std::string dtype : {"float32", "float64", "float16", "bfloat16"})
    kernels.push_back(
        {kernel_of("atomics_" + dtype,
                   fmt::format("A: T.Buffer((32,), \"{0}\"), B: T.Buffer((5,), \"{0}\")", dtype),
                   32, R"(T.evaluate(T.cuda.atomic_add(T.address_of(B[0]), A[tx]))
T.evaluate(T.cuda.atomic_min(T.address_of(B[1]), A[tx]))
T.evaluate(T.cuda.atomic_max(T.address_of(B[2]), A[tx]))
if tx == 3:
    T.evaluate(T.cuda.atomic_exch(T.address_of(B[3]), A[tx]))
    T.evaluate(T.cuda.atomic_cas(T.address_of(B[4]), B[4], A[tx]))
)"),
         0, true});
  expect_same(kernels, "sm_90a");
}

TEST(CudaRuns, PtxInstructions) {
  const std::vector<Kernel> kernels = {
      {kernel_of("matrix", "A: T.Buffer((128,), \"float16\"), B: T.Buffer((256,), \"float16\")", 32,
                 R"(S = T.alloc_shared((128,), "float16")
for i in range(4):
    S[tx * 4 + i] = A[tx * 4 + i]
T.cuda.cta_sync()
R = T.alloc_local((8,), "float16")
p: T.let[T.handle("float16")] = T.pointer_offset(T.address_of(S[0]), tx % 8 * 16 + tx // 8 % 2 * 8)
T.ptx.ldmatrix(T.bool(False), 2, ".b16", p, T.address_of(R[0]), T.address_of(R[2]))
T.ptx.ldmatrix(T.bool(True), 2, ".b16", p, T.address_of(R[4]), T.address_of(R[6]))
for i in T.unroll(8):
    B[tx * 8 + i] = R[i]
T.cuda.cta_sync()
T.ptx.stmatrix(T.bool(True), 2, ".b16", p, T.address_of(R[0]), T.address_of(R[2]))
T.cuda.cta_sync()
for i in range(4):
    B[tx * 8 + i] = S[tx * 4 + i]
)")},
      {kernel_of("mma",
                 "A: T.Buffer((256,), \"float16\"), B: T.Buffer((128,), \"float16\"), C: "
                 "T.Buffer((128,), \"float32\")",
                 32, R"(a = T.alloc_local((8,), "float16")
b = T.alloc_local((4,), "float16")
c = T.alloc_local((4,), "float32")
for i in T.unroll(8):
    a[i] = A[tx * 8 + i]
for i in T.unroll(4):
    b[i] = B[tx * 4 + i]
    c[i] = C[tx * 4 + i]
T.ptx.mma("m16n8k16", "row", "col", "float32", "float16", "float16", "float32", 4, 4, 2, 4, False, T.address_of(c[0]), T.address_of(c[1]), T.address_of(c[2]), T.address_of(c[3]), T.address_of(a[0]), T.address_of(a[2]), T.address_of(a[4]), T.address_of(a[6]), T.address_of(b[0]), T.address_of(b[2]), T.address_of(c[0]), T.address_of(c[1]), T.address_of(c[2]), T.address_of(c[3]))
for i in T.unroll(4):
    C[tx * 4 + i] = c[i]
)"),
       0, true},
      {kernel_of("memory", "A: T.Buffer((128,), \"float32\"), B: T.Buffer((128,), \"float32\")", 32,
                 R"(S = T.alloc_shared((128,), "float32")
r = T.alloc_local((4,), "float32")
for i in range(4):
    r[i] = T.float32(1.5)
T.ptx["ld.global.v4.f32"](r[0], r[1], r[2], r[3], T.address_of(A[tx * 4]), pred=tx % 3 != 0, keep=True)
T.ptx["st.shared.v4.f32"](T.address_of(S[tx * 4]), r[3], r[2], r[1], r[0])
T.ptx["bar.sync"](0)
x: T.float32 = T.float32(0)
y: T.uint32 = T.uint32(0)
T.ptx["ld.shared.f32"](x, T.ptx.addr(T.address_of(S[tx * 4]), 4))
T.ptx["ld.shared.b32"](y, T.cuda.cvta_generic_to_shared(T.address_of(S[tx * 4 + 2])))
B[tx * 4] = x
B[tx * 4 + 1] = T.reinterpret("float32", y)
T.ptx["add.f32"](x, x, r[0])
B[tx * 4 + 2] = x
T.ptx["mov.b32"](B[tx * 4 + 3], r[1])
)"),
       0, true},
      {kernel_of("async_copy", "A: T.Buffer((128,), \"int32\"), B: T.Buffer((128,), \"int32\")", 32,
                 R"(S = T.alloc_shared((128,), "int32")
T.ptx["cp.async.cg.shared.global"](T.address_of(S[tx * 4]), T.address_of(A[tx * 4]), 16)
T.ptx["cp.async.commit_group"]()
T.ptx["cp.async.wait_group"](0)
T.cuda.cta_sync()
for i in range(4):
    B[tx * 4 + i] = S[127 - tx * 4 - i]
)")},
      {kernel_of("mbarrier", "B: T.Buffer((64,), \"uint32\")", 64,
                 R"(bar = T.alloc_shared((1,), "uint64")
S = T.alloc_shared((64,), "uint32")
if tx == 0:
    T.ptx["mbarrier.init.shared::cta.b64"](T.address_of(bar[0]), T.uint32(64))
T.cuda.cta_sync()
S[tx] = T.Cast("uint32", tx * 3)
T.ptx["mbarrier.arrive.shared::cta.b64"](T.ptx.SINK, T.address_of(bar[0]))
T.cuda.mbarrier_wait(T.address_of(bar[0]), 0)
B[tx] = S[63 - tx]
)")},
      {kernel_of("election", "B: T.Buffer((64,), \"uint32\")", 32,
                 R"(leader: T.uint32 = T.uint32(0)
is_leader: T.bool = False
T.ptx["elect.sync"](leader, is_leader, T.uint32(0xffffffff))
B[tx] = leader
B[tx + 32] = T.Select(is_leader, T.uint32(1), T.uint32(0))
)")},
  };
  expect_same(kernels, "sm_90a");
}

// What the evaluator does not execute, and what nvcc would warn about if nothing were done.
TEST(CudaCompiles, WithoutWarnings) {
  const std::string rare = kernel_of(
      "rare", "A: T.Buffer((64,), \"uint4\"), B: T.Buffer((64,), \"int32\"), n: T.int32", 128,
      R"(s: T.int32 = 3
s = tx
r = T.alloc_local((4,), "float32")
r[0] = T.float32(1)
q = T.alloc_local((4,), "float16")
S = T.alloc_shared((64,), "uint4")
T.cuda.copy_bytes(T.address_of(S[tx * 8]), T.address_of(A[tx * 8]), 4)
P = T.decl_buffer((8,), "int32", data=T.ptr_byte_offset(B.data, 16, "int32"), layout=None)
P[0] = n
T.cuda.warpgroup_sync(1)
T.cuda.cluster_sync()
B[0] = T.cuda.func_call("twice", tx, source_code="__device__ int twice(int x) { return x + x; }", return_type="int32")
assert n > 0, "n is positive"
T.cuda.printf("%d %5.2f %s %p\n", tx, T.float16(1), "text", T.address_of(B[0]))
while True:
    B[1] = 2
    if B[2] == 3:
        return
        B[1] = 3
)");
  const std::string small = kernel_of(
      "small", "A: T.Buffer((2,), \"float16\"), B: T.Buffer((2,), \"float8_e5m2\"), n: T.int64", 1,
      "A[0] = T.Cast(\"float16\", n)\n");
  HostProgram host;
  host.arguments = {{.name = "A", .dtype = num::DType::Float16, .elements = 2},
                    {.name = "B", .dtype = num::DType::Float8E5M2, .elements = 2},
                    {.name = "n", .dtype = num::DType::Int64, .is_array = false, .scalar_bits = 7}};
  for (HostArgument& argument : host.arguments)
    if (argument.is_array)
      argument.expected.resize(argument.dtype == num::DType::Float16 ? 4U : 2U);
  host.cluster[0] = 2;
  host.grid[0] = 2;
  host.dynamic_shared_bytes = 60000;
  const std::vector<std::string> sources = {
      cuda_source(engines::function_of(rare), {}).value(),
      cuda_source(engines::function_of(small), {.host = &host}).value(),
  };
  bool skipped = false;
  EXPECT_EQ(compile_all(sources, "sm_90a", skipped), "");
  if (skipped) GTEST_SKIP() << "no nvcc that compiles for sm_90a";
}

}  // namespace
}  // namespace ww::emit::test::cuda_test
