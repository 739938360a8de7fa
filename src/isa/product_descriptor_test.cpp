// SPDX-License-Identifier: Apache-2.0
// The instruction descriptor: written and read by one table, held against bits that others write.
#include "isa/product_descriptor.h"

#include <gtest/gtest.h>

#include <random>

namespace ww::isa {
namespace {

using num::DType;

std::string fault(const ProductForm& form, std::uint32_t bits) {
  return read_descriptor(form, bits).fault;
}

// As CUTLASS's bit fields give them, in hexadecimal.
TEST(ProductDescriptor, HasTheBitsThatOthersWrite) {
  ProductDescriptor f16{.m = 128, .n = 256, .a = DType::Float16, .b = DType::Float16};
  EXPECT_EQ(write_descriptor(ProductKind::F16, f16), 0x08400010U);
  ProductDescriptor bf16{.m = 256, .n = 128, .a = DType::Bfloat16, .b = DType::Bfloat16};
  bf16.b_is_mn_major = true;
  EXPECT_EQ(write_descriptor(ProductKind::F16, bf16), 0x10210490U);
  ProductDescriptor s8{.m = 64, .n = 8, .a = DType::Int8, .b = DType::Uint8, .d = DType::Int32};
  s8.saturates = true;
  EXPECT_EQ(write_descriptor(ProductKind::I8, s8), 0x040200A8U);
  ProductDescriptor nvf4{.m = 256, .n = 256, .a = DType::Float4E2M1fn, .b = DType::Float4E2M1fn};
  nvf4.scale_type = DType::Float8E4M3fn;
  EXPECT_EQ(write_descriptor(ProductKind::Mxf4nvf4, nvf4), 0x10400480U);
  ProductDescriptor mxf8{.m = 128, .n = 64, .a = DType::Float8E4M3fn, .b = DType::Float4E2M1fn};
  mxf8.scale_a_id = 3;
  mxf8.scale_b_id = 1;
  EXPECT_EQ(write_descriptor(ProductKind::Mxf8f6f4, mxf8), 0x68901410U);
}

TEST(ProductDescriptor, ReadsWhatItWrites) {
  std::mt19937 random(3);
  const auto flag = [&] { return random() % 2 == 1; };
  constexpr DType kNarrow[] = {DType::Float8E4M3fn, DType::Float8E5M2, DType::Float6E2M3fn,
                               DType::Float6E3M2fn, DType::Float4E2M1fn};
  for (int i = 0; i < 200; ++i) {
    const ProductKind kind = i % 2 == 0 ? ProductKind::F8f6f4 : ProductKind::Mxf8f6f4;
    ProductDescriptor out{.m = 128, .n = 8 * (static_cast<unsigned>(random() % 32) + 1)};
    out.a = kNarrow[random() % 5];
    out.b = kNarrow[random() % 5];
    out.negates_a = flag();
    out.negates_b = flag();
    out.a_is_mn_major = flag();
    out.b_is_mn_major = flag();
    if (has_scales(kind)) out.scale_a_id = static_cast<unsigned>(random() % 4);
    const auto [in, fault] = read_descriptor(
        {.kind = kind, .scale_count = has_scales(kind) ? 1U : 0U}, write_descriptor(kind, out));
    ASSERT_EQ(fault, "");
    EXPECT_EQ(in.n, out.n);
    EXPECT_EQ(in.m, out.m);
    EXPECT_EQ(in.a, out.a);
    EXPECT_EQ(in.b, out.b);
    EXPECT_EQ(in.negates_a, out.negates_a);
    EXPECT_EQ(in.negates_b, out.negates_b);
    EXPECT_EQ(in.a_is_mn_major, out.a_is_mn_major);
    EXPECT_EQ(in.b_is_mn_major, out.b_is_mn_major);
    EXPECT_EQ(in.scale_a_id, out.scale_a_id);
  }
}

TEST(ProductDescriptor, NamesWhatIsWrong) {
  const ProductForm f16{.kind = ProductKind::F16};
  constexpr std::uint32_t kFine = 0x08400010;
  EXPECT_EQ(fault(f16, kFine), "");
  EXPECT_EQ(fault(f16, kFine | 0x20800040), "bits 0x20800040 are set, which must be 0");
  EXPECT_EQ(fault(f16, kFine | 3U << 7U),
            "type of A (bits 9:7) is 3; `.kind::f16` has 0 (float16), 1 (bfloat16)");
  EXPECT_EQ(fault(f16, kFine | 1U << 7U),
            "A of bfloat16 and B of float16; the manual has no such product");
  EXPECT_EQ(fault(f16, 0x08400490 & ~0x30U), "D of float16 needs A and B of float16");
  EXPECT_EQ(fault(f16, kFine | 4U), "the sparsity bit is set, and the instruction has no `.sp`");
  EXPECT_EQ(fault(f16, kFine | 2U), "a sparsity selector without sparsity");
  EXPECT_EQ(fault(f16, kFine | 8U), "saturation is of `.kind::i8` alone");
  EXPECT_EQ(fault(f16, kFine | 1U << 30U), "a maximum shift of B is of `.ws` alone");
  EXPECT_EQ(fault(f16, 0x0C400010),
            "M is 192; `tcgen05.mma.cta_group::1.kind::f16` has 64 and 128");
  EXPECT_EQ(fault(f16, 0x08000010),
            "N is 0; `tcgen05.mma.cta_group::1.kind::f16` has multiples of 8 from 8 to 256");
  EXPECT_EQ(fault({.kind = ProductKind::F16, .is_pair = true}, 0x10020010),
            "N is 8; `tcgen05.mma.cta_group::2.kind::f16` has multiples of 16 up to 256");
  EXPECT_EQ(fault({.kind = ProductKind::F16, .is_ws = true}, 0x02080010),
            "N is 32; `tcgen05.mma.ws.cta_group::1.kind::f16` has 64, 128 and 256");
  EXPECT_EQ(fault({.kind = ProductKind::I8}, 0x080A0020),
            "N is 40; `tcgen05.mma.cta_group::1.kind::i8` has 8, 16, 24, 32 and multiples of 16 up "
            "to 256");
  EXPECT_EQ(fault({.kind = ProductKind::I8}, 0x08082020), "`.kind::i8` negates neither A nor B");
}

TEST(ProductDescriptor, NamesWhatIsWrongWithScales) {
  const ProductForm nvf4{.kind = ProductKind::Mxf4nvf4, .scale_count = 4};
  EXPECT_EQ(fault(nvf4, 0x08400480), "");
  EXPECT_EQ(fault(nvf4, 0x08400480 | 2U << 29U),
            "scale factor ID 2 of A; with 4 scales to a row it is a multiple of 4");
  EXPECT_EQ(fault(nvf4, 0x08400480 | 1U << 15U), "`.kind::mxf4nvf4` takes K-major operands alone");
  EXPECT_EQ(fault(nvf4, 0x88400480), "");  // K = 96, of sm_103a
  EXPECT_EQ(fault({.kind = ProductKind::Mxf4nvf4, .scale_count = 2}, 0x08400480),
            "scales of ue4m3 for 32 elements each; they are ue8m0 then");
  EXPECT_EQ(fault({.kind = ProductKind::Mxf4, .scale_count = 2}, 0x08400480),
            "type of the scales (bits 23:23) is 0; `.kind::mxf4` has 1 (float8_e8m0fnu)");
  EXPECT_EQ(fault({.kind = ProductKind::Mxf8f6f4, .scale_count = 1}, 0x10C00000),
            "M is 256; `tcgen05.mma.cta_group::1.kind::mxf8f6f4` has 128");
}

}  // namespace
}  // namespace ww::isa
