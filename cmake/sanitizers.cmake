# SPDX-License-Identifier: Apache-2.0
#
# WW_SANITIZE: build everything with the address and undefined-behaviour sanitizers, as the preset
# `dev` does. The first finding ends the program.
#
# WW_THOROUGH: what takes minutes more. Null and misaligned pointers are looked for at every access
# (which doubles the time to compile, and the address sanitizer sees most of them); leaks once per
# unit-test executable (ctest cases `leaks/...`), since on AArch64 one such look takes seconds even in
# an empty program; and the longest tests run with the sanitizers, too.

#
# WW_FUZZ: a build for nothing but the program `fuzz` (tests/hostile): every branch and comparison of ours
# is told to libFuzzer.

option(WW_SANITIZE "Build with the address and undefined-behaviour sanitizers" OFF)
option(WW_THOROUGH "Check and test all that the sanitizers can" OFF)
option(WW_FUZZ "Build for fuzzing" OFF)

if(WW_FUZZ)
  add_compile_options(-fsanitize-coverage=trace-pc,trace-cmp)
endif()

if(WW_SANITIZE)
  if(NOT WW_THOROUGH)
    set(WW_QUICK_SANITIZERS -fno-sanitize=null,alignment,vptr,object-size,pointer-overflow)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # Accesses are checked in functions of the run-time library, not in place: a sixth less to compile.
      list(APPEND WW_QUICK_SANITIZERS --param=asan-instrumentation-with-call-threshold=0)
      # For code that runs for long: g++'s default.
      set(WW_CHECKS_IN_PLACE --param=asan-instrumentation-with-call-threshold=7000)
    endif()
  endif()
  add_compile_options(-fsanitize=address,undefined ${WW_QUICK_SANITIZERS} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer -D_GLIBCXX_ASSERTIONS
                      # Under a sanitizer this warning is mostly wrong.
                      -Wno-maybe-uninitialized)
  add_link_options(-fsanitize=address,undefined)
endif()

# ww_sanitizer_defaults(<executable>): run time defaults, which ASAN_OPTIONS overrides.
function(ww_sanitizer_defaults target)
  if(WW_SANITIZE)
    target_sources(${target} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/sanitizer_defaults.cpp")
  endif()
endfunction()

# ww_add_leak_test(<test executable>): all its cases in one process, and then the look for leaks.
function(ww_add_leak_test target)
  if(WW_SANITIZE AND WW_THOROUGH)
    add_test(NAME leaks/${target} COMMAND ${target} --gtest_brief=1)
    set_tests_properties(
      leaks/${target} PROPERTIES ENVIRONMENT "ASAN_OPTIONS=detect_leaks=1" LABELS leaks TIMEOUT 300)
  endif()
endfunction()
