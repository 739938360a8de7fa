# SPDX-License-Identifier: Apache-2.0
#
# WW_UNITY: compile the files of a target in batches, as one file each (CMake's unity builds), so that
# headers are read, and templates instantiated, once for all files of a batch. That halves the time of a
# full build. Two files of a library may therefore not define the same name in the same namespace, the
# anonymous one included: files of a list (families, variants, commands, tests) are namespaces of their
# own. Switch it off when you edit much: then a change recompiles one file, not a batch.
#
#   ww_compile_together(<target> [<files of a batch>])   this target, if WW_UNITY is on

set(unity OFF)
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT CMAKE_CXX_CLANG_TIDY)
  set(unity ON)
endif()
option(WW_UNITY "Compile files of a target in batches" ${unity})
if(WW_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ looks for garbage after every 128 MB; looking less often, it needs a sixteenth less time here and
  # a sixth more memory.
  target_compile_options(ww_flags INTERFACE --param=ggc-min-heapsize=1048576)
endif()

function(ww_compile_together target)
  set(size 24)
  if(ARGC GREATER 1)
    set(size ${ARGV1})
  endif()
  if(WW_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${size})
  endif()
endfunction()
