# Says in cli/version which version and commit this is. Looked at on every build, written only when it changed, so that the
# same commit gives the same program and a new commit compiles one small file. A tag such as v1.2.3 on the commit makes it
# version 1.2.3, whatever CMakeLists.txt says; elsewhere the version is that of CMakeLists.txt.
#   add_version(target)         in a CMakeLists
#   cmake -P version.cmake      the step of the build
if(NOT CMAKE_SCRIPT_MODE_FILE)
  function(add_version target)
    set(output "${CMAKE_CURRENT_BINARY_DIR}/${target}_version.cpp")
    add_custom_target(${target}_version_check BYPRODUCTS "${output}"
      COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${CMAKE_SOURCE_DIR}" "-DVERSION=${PROJECT_VERSION}" "-DOUTPUT=${output}" -P "${CMAKE_SOURCE_DIR}/cmake/version.cmake"
      VERBATIM)
    add_dependencies(${target} ${target}_version_check)
    target_sources(${target} PRIVATE "${output}")
    set_source_files_properties("${output}" PROPERTIES GENERATED TRUE)
  endfunction()
  return()
endif()

set(commit "")
set(tag "")
if(EXISTS "${SOURCE}/.git")
  execute_process(COMMAND git -C "${SOURCE}" rev-parse HEAD OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND git -C "${SOURCE}" diff --quiet HEAD -- src data python launcher cmake RESULT_VARIABLE changed ERROR_QUIET)
  if(commit AND changed)
    string(APPEND commit "+changes")
  elseif(commit)
    execute_process(COMMAND git -C "${SOURCE}" describe --exact-match --tags --match "v[0-9]*" HEAD
      OUTPUT_VARIABLE tag OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(tag)
      string(SUBSTRING "${tag}" 1 -1 VERSION)
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" @ONLY CONTENT [[// Made by cmake/version.cmake.
#include "cli/version.hpp"
namespace quarry::cli {
std::string_view program_version() { return "@VERSION@"; }
std::string_view build_commit() { return "@commit@"; }
std::string_view build_tag() { return "@tag@"; }
}  // namespace quarry::cli
]])
