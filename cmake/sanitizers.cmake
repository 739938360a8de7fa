# SPDX-License-Identifier: Apache-2.0
#
# WW_SANITIZE: build everything with the address and undefined-behaviour sanitizers, as the preset
# `dev` does. The first finding ends the program.
#
# Leaks are looked for once per unit-test executable (ctest cases `leaks/...`) and not at the end of
# every test case: on AArch64 one such look takes seconds even in an empty program.

option(WW_SANITIZE "Build with the address and undefined-behaviour sanitizers" OFF)

if(WW_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all
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
  if(WW_SANITIZE)
    add_test(NAME leaks/${target} COMMAND ${target} --gtest_brief=1)
    set_tests_properties(
      leaks/${target} PROPERTIES ENVIRONMENT "ASAN_OPTIONS=detect_leaks=1" LABELS leaks TIMEOUT 300)
  endif()
endfunction()
