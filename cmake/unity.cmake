# SPDX-License-Identifier: Apache-2.0
#
# WW_UNITY: compile files of a target together, as one, so that headers are read once for several of them.
# That takes a third less time. Which files do not notice is decided by scripts/unity_groups.py; without
# Python each is compiled alone. Whoever edits much switches it off: then a change recompiles one file,
# not a group.
#
#   ww_compile_together(<target>)   this target, if WW_UNITY is on
#   ww_choose_groups()              once, when all targets are known

set(unity OFF)
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT CMAKE_CXX_CLANG_TIDY)
  set(unity ON)
endif()
option(WW_UNITY "Compile files of a target together" ${unity})
find_package(Python3 3.9 COMPONENTS Interpreter QUIET)
set(WW_GROUPS OFF) # whether it is done
if(WW_UNITY AND Python3_FOUND)
  set(WW_GROUPS ON)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ looks for garbage after every 128 MB; looking less often, it needs a sixteenth less time here and
    # a sixth more memory.
    target_compile_options(ww_flags INTERFACE --param=ggc-min-heapsize=1048576)
  endif()
endif()

function(ww_compile_together target)
  if(NOT WW_GROUPS)
    return()
  endif()
  # Many files have a table kRows of their own; here each gets another name. The script knows of it.
  string(JOIN "\n" rename
         "#define WW_JOIN(name, file) name##_##file"
         "#define WW_JOIN_VALUES(name, file) WW_JOIN(name, file)"
         "#define kRows WW_JOIN_VALUES(kRows, WW_FILE)")
  set_target_properties(
    ${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP UNITY_BUILD_UNIQUE_ID WW_FILE
                         UNITY_BUILD_CODE_BEFORE_INCLUDE "${rename}")
  set_property(GLOBAL APPEND PROPERTY WW_UNITY_TARGETS ${target})
endfunction()

# Any change of a file may be one after which its group no longer fits together, so it leads to a new
# choice.
function(ww_choose_groups)
  get_property(targets GLOBAL PROPERTY WW_UNITY_TARGETS)
  if(NOT targets)
    return()
  endif()
  set(lines "")
  foreach(target IN LISTS targets)
    get_target_property(sources ${target} SOURCES)
    get_target_property(folder ${target} SOURCE_DIR)
    list(FILTER sources INCLUDE REGEX "\\.cpp$")
    foreach(source IN LISTS sources)
      get_filename_component(source "${source}" ABSOLUTE BASE_DIR "${folder}")
      cmake_path(IS_PREFIX PROJECT_BINARY_DIR "${source}" is_generated)
      if(NOT is_generated)
        string(APPEND lines "${target} ${source}\n")
      endif()
    endforeach()
  endforeach()
  set(list "${PROJECT_BINARY_DIR}/CMakeFiles/unity_sources.txt")
  file(WRITE "${list}" "${lines}")
  execute_process(
    COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/scripts/unity_groups.py"
            "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/tests"
    INPUT_FILE "${list}"
    OUTPUT_VARIABLE lines
    RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(WARNING "scripts/unity_groups.py failed: every file is compiled alone")
  endif()
  string(REPLACE "\n" ";" lines "${lines}")
  foreach(line IN LISTS lines)
    if(line MATCHES "^([^ ]+) ([0-9]+) (.+)$")
      set_source_files_properties("${CMAKE_MATCH_3}" TARGET_DIRECTORY ${CMAKE_MATCH_1}
                                  PROPERTIES UNITY_GROUP ${CMAKE_MATCH_2})
    endif()
  endforeach()
  file(GLOB_RECURSE files "${PROJECT_SOURCE_DIR}/src/*.h" "${PROJECT_SOURCE_DIR}/src/*.cpp"
       "${PROJECT_SOURCE_DIR}/tests/*.h" "${PROJECT_SOURCE_DIR}/tests/*.cpp"
       "${PROJECT_SOURCE_DIR}/bench/*.h" "${PROJECT_SOURCE_DIR}/bench/*.cpp")
  set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files}
               "${PROJECT_SOURCE_DIR}/scripts/unity_groups.py")
endfunction()
