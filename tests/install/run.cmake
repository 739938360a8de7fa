# SPDX-License-Identifier: Apache-2.0
#
# expect_unnamed(<regex> <file>...): stops if a file has text that matches, a folder of the build.
function(expect_unnamed regex)
  foreach(path IN LISTS ARGN)
    file(STRINGS "${path}" lines REGEX "${regex}")
    if(lines)
      message(FATAL_ERROR "${path} names a folder of the build: ${lines}")
    endif()
  endforeach()
endfunction()

# run(<what> <command>...): stops with everything the command said if it fails.
function(run what)
  execute_process(
    COMMAND ${ARGN}
    RESULT_VARIABLE status
    OUTPUT_VARIABLE text
    ERROR_VARIABLE text)
  if(NOT status EQUAL 0)
    string(REGEX REPLACE "-- (Installing|Up-to-date):[^\n]*\n" "" text "${text}")
    message(NOTICE "${text}")
    message(FATAL_ERROR "${what} failed (${status})")
  endif()
  set(output "${text}" PARENT_SCOPE)
endfunction()
