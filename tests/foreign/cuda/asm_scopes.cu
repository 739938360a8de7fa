// SPDX-License-Identifier: Apache-2.0
// targets: sm_75 sm_80 sm_89 sm_90 sm_90a sm_100 sm_100a sm_103a sm_120 sm_120a
// PTX written by hand inside kernels, in the ways the text allows and a compiler does not use:
// nested scopes with declarations of their own that hide outer ones, labels made unique by %=,
// both kinds of comments, several statements on a line and one over several lines, guards with
// and without negation, two-valued predicates, vectors of registers, literals in each base, a
// jump table, and shared memory declared inside the block.
//
//   asm_scopes(out, in)      out[i] = 3 * in[i] + 4 where in[i] is odd, in[i] / 2 elsewhere
//   asm_literals(out)        eight words, see the lines; one thread
//   asm_gcd(out, x, y)       out[i] = greatest common divisor; x[i], y[i] > 0
//   asm_table(out, in)       out[i] = in[i] + 10, in[i] * 10, 10 - in[i] or -1, by i % 4
//   asm_memory(out, in)      out[i] = in[i ^ 1] by way of shared memory; one block of 64 threads
extern "C" __global__ void asm_scopes(int* out, const int* in) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  int result;
  asm volatile(
      "{ .reg .b32 a, b<3>; .reg .pred p, q; // three declarations on a line\n"
      "  mov.b32 a, %1; and.b32 b0, a, 1;\n"
      "  setp.ne.s32 p|q, b0, 0;\n"
      "  {\n"
      "    .reg .b32 a; /* hides the outer one,\n over two lines */\n"
      "    mad.lo.s32 a, %1, 3, 4;\n"
      "    @p mov.b32 b1, a;\n"
      "    { .reg .b32 b<2>; shr.s32 b1, %1, 31; sub.s32 a, %1, b1; }\n"
      "    @!p shr.s32 b1,\n"
      "                a,\n"
      "                1;\n"
      "  }\n"
      "  mov.b32 b2, b1;\n"
      "  @q mov.b32 b2, b1; mov.b32 %0, b2;\n"
      "}"
      : "=r"(result)
      : "r"(in[i]));
  out[i] = result;
}

extern "C" __global__ void asm_literals(unsigned* out) {
  unsigned v[8];
  float f[2];
  asm("mov.u32 %0, 0x1F; mov.u32 %1, 017; mov.u32 %2, 0b1011; mov.s32 %3, -5;"
      : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]));                           // 31, 15, 11, -5
  asm("mov.f32 %0, 0f3FC00000; mov.f32 %1, 2.5e-1;" : "=f"(f[0]), "=f"(f[1]));     // 1.5, 0.25
  asm("mov.u32 %0, (7 + 3 * 4) << 2; mov.u32 %1, 10U;" : "=r"(v[6]), "=r"(v[7]));  // 76, 10
  v[4] = __float_as_uint(f[0]);
  v[5] = __float_as_uint(f[1]);
  for (int i = 0; i < 8; ++i) out[i] = v[i];
}

extern "C" __global__ void asm_gcd(unsigned* out, const unsigned* x, const unsigned* y) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned a = x[i];
  unsigned b = y[i];
  asm volatile(
      "{\n"
      "  .reg .pred %%done; .reg .u32 t$1;\n"
      "$loop_%=:\n"
      "  setp.eq.u32 %%done, %1, 0;\n"
      "  @%%done bra $end_%=;\n"
      "  rem.u32 t$1, %0, %1;\n"
      "  mov.u32 %0, %1;  mov.u32 %1, t$1;\n"
      "  bra.uni $loop_%=;\n"
      "$end_%=: }"
      : "+r"(a), "+r"(b));
  out[i] = a;
}

extern "C" __global__ void asm_table(int* out, const int* in) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  int result;
  asm volatile(
      "{\n"
      "  targets_%=: .branchtargets add_%=, mul_%=, sub_%=, none_%=;\n"
      "  brx.idx %2, targets_%=;\n"
      "  add_%=: add.s32 %0, %1, 10; bra end_%=;\n"
      "  mul_%=: mul.lo.s32 %0, %1, 10; bra end_%=;\n"
      "  sub_%=: sub.s32 %0, 10, %1; bra end_%=;\n"
      "  none_%=: mov.s32 %0, -1;\n"
      "  end_%=:\n"
      "}"
      : "=r"(result)
      : "r"(in[i]), "r"(i % 4));
  out[i] = result;
}

extern "C" __global__ void asm_memory(int* out, const int* in) {
  asm volatile(
      "{\n"
      "  .shared .align 8 .b32 cells[64];\n"
      "  .reg .v2 .b32 pair;\n"
      "  .reg .b32 at, t, v;\n"
      "  .reg .b64 place;\n"
      "  mov.u32 t, %%tid.x;\n"
      "  mov.u32 at, cells;\n"
      "  mad.lo.u32 at, t, 4, at;\n"
      "  mad.wide.u32 place, t, 4, %1;\n"
      "  ld.global.b32 v, [place+0];\n"
      "  st.volatile.shared.b32 [at], v;\n"
      "  bar.sync 0;\n"
      "  and.b32 t, t, 0xFFFFFFFE;\n"
      "  mov.u32 at, cells; mad.lo.u32 at, t, 4, at;\n"
      "  ld.shared.v2.b32 pair, [at];\n"
      "  mad.wide.u32 place, t, 4, %0;\n"
      "  st.global.b32 [place], pair.y;\n"
      "  st.global.b32 [place+4], pair.x;\n"
      "  .pragma \"nounroll\";\n"
      "}" ::"l"(out),
      "l"(in)
      : "memory");
}
