// SPDX-License-Identifier: Apache-2.0
// Read by the address sanitizer when a program starts; see cmake/sanitizers.cmake.

// NOLINTNEXTLINE(bugprone-reserved-identifier): the sanitizer chose the name
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }
