// SPDX-License-Identifier: Apache-2.0
#include "ptx/register_class.h"

#include <gtest/gtest.h>

namespace ww::ptx::register_class_test {
namespace {

using isa::Type;

TEST(RegisterClass, ClassesWithTheirNumbers) {
  struct Row {
    int id;
    std::string_view name;
    int bits;
    std::string_view declaration, prefix;
  };
  const Row rows[] = {
      {0, "%p", 1, ".pred", "%p"},        {1, "%rs", 16, ".b16", "%rs"},
      {2, "Special", 32, "INTERNAL", ""}, {3, "%r", 32, ".b32", "%r"},
      {4, "%f", 32, "INTERNAL", "%f"},    {5, "%rd", 64, ".b64", "%rd"},
      {6, "%rq", 128, ".b128", "%rq"},    {7, "%b", 8, ".b8", "%b"},
  };
  ASSERT_EQ(register_classes().size(), 8U);
  for (const Row& row : rows) {
    const RegisterClassInfo& cls = register_classes()[static_cast<std::size_t>(row.id)];
    EXPECT_EQ(static_cast<int>(cls.id), row.id);
    EXPECT_EQ(cls.name, row.name);
    EXPECT_EQ(cls.bits, row.bits);
    EXPECT_EQ(cls.declaration, row.declaration);
    EXPECT_EQ(cls.prefix, row.prefix);
  }
}

TEST(RegisterClass, OfValueTypes) {
  EXPECT_EQ(class_of(Type::Pred), RegisterClass::P);
  EXPECT_EQ(class_of(Type::U8), RegisterClass::Rs);
  EXPECT_EQ(class_of(Type::E2m1x2), RegisterClass::B);
  EXPECT_EQ(class_of(Type::F16), RegisterClass::Rs);
  EXPECT_EQ(class_of(Type::Bf16), RegisterClass::Rs);
  EXPECT_EQ(class_of(Type::S32), RegisterClass::R);
  EXPECT_EQ(class_of(Type::F16x2), RegisterClass::R);
  EXPECT_EQ(class_of(Type::F32), RegisterClass::F);
  EXPECT_EQ(class_of(Type::U64), RegisterClass::Rd);
  EXPECT_EQ(class_of(Type::F64), RegisterClass::Rd);
  EXPECT_EQ(class_of(Type::B128), RegisterClass::Rq);
}

// Only %f links classes: it is below %r and below Special.
TEST(RegisterClass, SubclassesCloseThroughF) {
  for (const RegisterClassInfo& sub : register_classes()) {
    for (const RegisterClassInfo& super : register_classes()) {
      const bool through_f = sub.id == RegisterClass::F &&
                             (super.id == RegisterClass::R || super.id == RegisterClass::Special);
      EXPECT_EQ(is_subclass(sub.id, super.id), sub.id == super.id || through_f)
          << sub.name << " below " << super.name;
    }
  }
}

TEST(RegisterClass, CommonClassForACopy) {
  EXPECT_EQ(common_class(RegisterClass::R, RegisterClass::R), RegisterClass::R);
  EXPECT_EQ(common_class(RegisterClass::R, RegisterClass::F), RegisterClass::F);
  EXPECT_EQ(common_class(RegisterClass::F, RegisterClass::Special), RegisterClass::F);
  EXPECT_EQ(common_class(RegisterClass::R, RegisterClass::Special), RegisterClass::F);
  EXPECT_EQ(common_class(RegisterClass::R, RegisterClass::Rd), std::nullopt);
  EXPECT_EQ(common_class(RegisterClass::P, RegisterClass::Rs), std::nullopt);
  for (const RegisterClassInfo& a : register_classes()) {
    for (const RegisterClassInfo& b : register_classes()) {
      const auto common = common_class(a.id, b.id);
      EXPECT_EQ(common, common_class(b.id, a.id));
      EXPECT_TRUE(!common || (is_subclass(*common, a.id) && is_subclass(*common, b.id)));
    }
  }
}

TEST(RegisterUse, DeclaresOneLinePerClassInOrder) {
  RegisterUse use;
  use.note(RegisterClass::Rd, 3);
  use.note(RegisterClass::P, 0);
  use.note(RegisterClass::R, 1);
  use.note(RegisterClass::F, 6);        // a view of %r6
  use.note(RegisterClass::Special, 9);  // nothing to declare
  use.note(RegisterClass::R, 4);
  EXPECT_EQ(use.declarations(), "\t.reg .pred %p<1>;\n\t.reg .b32 %r<7>;\n\t.reg .b64 %rd<4>;\n");
  EXPECT_EQ(use.count(RegisterClass::R), 7U);
  EXPECT_EQ(use.count(RegisterClass::F), 7U);
  EXPECT_EQ(use.count(RegisterClass::Rs), 0U);
}

TEST(RegisterUse, EmptyDeclaresNothing) { EXPECT_EQ(RegisterUse().declarations(), ""); }

TEST(RegisterName, TwoStyles) {
  EXPECT_EQ(register_name(Type::F32, 5), "%r5");
  EXPECT_EQ(register_name(Type::F32, 5, RegisterStyle::Views), "%f5");
  EXPECT_EQ(register_name(Type::F64, 2), "%rd2");
  EXPECT_EQ(register_name(Type::F64, 2, RegisterStyle::Views), "%fd2");
  EXPECT_EQ(register_name(Type::S32, 5, RegisterStyle::Views), "%r5");
  EXPECT_EQ(register_name(Type::Pred, 1, RegisterStyle::Views), "%p1");
  EXPECT_EQ(register_name(Type::B16, 0), "%rs0");
  EXPECT_EQ(register_name(Type::B128, 0), "%rq0");
}

}  // namespace
}  // namespace ww::ptx::register_class_test
