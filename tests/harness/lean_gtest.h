// SPDX-License-Identifier: Apache-2.0
// TEST, EXPECT_EQ and ASSERT_EQ with less code. GoogleTest makes a class and ten functions of each
// TEST, and eight functions of each length of literal that something is compared with; compiling
// these takes a tenth of the time of a file of tests. Here a TEST is one function, and literals of all
// lengths share the comparison. Names, places and messages are GoogleTest's.
//
// Precompiled with its headers for all tests (ww_test_compilation), so that no test includes it. Tests
// mean the same without it.
#pragma once

#include <gtest/gtest.h>

#include <string_view>
#include <type_traits>

namespace ww::test {

class FunctionTest : public testing::Test {
 public:
  explicit FunctionTest(void (*body)()) : body_(body) {}
  void TestBody() override { body_(); }

 private:
  void (*body_)();
};

inline bool add_test(const char* suite, const char* name, const char* file, int line,
                     void (*body)()) {
  testing::RegisterTest(suite, name, nullptr, nullptr, file, line,
                        [body]() -> testing::Test* { return new FunctionTest(body); });
  return true;
}

struct Equal {
  template <typename A, typename B>
  static testing::AssertionResult compare(const char* left, const char* right, const A& a,
                                          const B& b) {
    return testing::internal::EqHelper::Compare(left, right, a, b);
  }
  /// Literals come here: a pointer says more about the type than B does.
  template <typename A>
  static testing::AssertionResult compare(const char* left, const char* right, const A& a,
                                          const char* b) {
    constexpr bool is_text = std::is_convertible_v<const A&, std::string_view>;
    if constexpr (is_text && !std::is_pointer_v<A>)
      return testing::internal::EqHelper::Compare(left, right, std::string_view(a),
                                                  std::string_view(b));
    else
      return testing::internal::EqHelper::Compare(left, right, a, b);
  }
};

}  // namespace ww::test

#undef TEST
#define TEST(suite, name)                                                             \
  static void suite##_##name##_Test();                                                \
  [[maybe_unused]] static const bool suite##_##name##_is_added =                      \
      ::ww::test::add_test(#suite, #name, __FILE__, __LINE__, suite##_##name##_Test); \
  static void suite##_##name##_Test()

#undef EXPECT_EQ
#undef ASSERT_EQ
#define EXPECT_EQ(a, b) EXPECT_PRED_FORMAT2(::ww::test::Equal::compare, a, b)
#define ASSERT_EQ(a, b) ASSERT_PRED_FORMAT2(::ww::test::Equal::compare, a, b)
