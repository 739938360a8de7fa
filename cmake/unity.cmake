# SPDX-License-Identifier: Apache-2.0
#
# WW_UNITY: compile the files of a target together, as one file (CMake's unity builds), so that headers are
# read, and templates instantiated, once for all of them. That takes more than half off a full build and
# far more off a lint. Two files of a library may therefore not define the same name in the same namespace,
# the anonymous one included: files of a list (families, variants, commands, tests) are namespaces of their
# own. Switch it off when you edit much: then a change recompiles one file, not a folder.
#
#   ww_compile_together(<target>)                   this target, if WW_UNITY is on
#   ww_compile_together(<target> APART <files>)     those files as one, and the others as another

set(unity OFF)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(unity ON)
endif()
option(WW_UNITY "Compile files of a target in batches" ${unity})
if(WW_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ looks for garbage after every 128 MB; looking less often, it needs a sixteenth less time here and
  # a sixth more memory.
  target_compile_options(ww_flags INTERFACE --param=ggc-min-heapsize=1048576)
endif()

function(ww_compile_together target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "APART")
  if(NOT WW_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  if(arg_APART)
    get_target_property(sources ${target} SOURCES)
    set_source_files_properties(${sources} PROPERTIES UNITY_GROUP together)
    set_source_files_properties(${arg_APART} PROPERTIES UNITY_GROUP apart)
    set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  endif()
endfunction()
