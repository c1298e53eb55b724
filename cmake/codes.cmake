# base/codes.hpp: a constant for each code in data/codes that has a `name`. Those are the codes on which the program branches:
# code that asks which error it got says `error.is(codes::not_sealed)`, and a name that does not exist does not compile.
# base/code_rooms.hpp: the room of each code, for the few places that ask where an error comes from.
file(GLOB code_files CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/data/codes/*.toml")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${code_files})
set(constants "")
set(rooms "")
foreach(file IN LISTS code_files)
  get_filename_component(room "${file}" NAME_WE)
  file(STRINGS "${file}" lines REGEX "^(\\[[A-Z][0-9][0-9][0-9]\\]|name = \")")
  foreach(line IN LISTS lines)
    if(line MATCHES "^.([A-Z][0-9][0-9][0-9])")
      set(code "${CMAKE_MATCH_1}")
      string(APPEND rooms "    {\"${code}\", \"${room}\"},\n")
    elseif(line MATCHES "^name = \"([a-z0-9_]+)\"")
      string(APPEND constants "inline constexpr std::string_view ${CMAKE_MATCH_1} = \"${code}\";\n")
    endif()
  endforeach()
endforeach()
file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/generated/base/codes.hpp" @ONLY CONTENT [[// Made by cmake/codes.cmake from data/codes.
#pragma once
#include <string_view>

namespace quarry::codes {
@constants@} // namespace quarry::codes
]])
file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/generated/base/code_rooms.hpp" @ONLY CONTENT [[// Made by cmake/codes.cmake from data/codes.
#pragma once
#include <string_view>

namespace quarry::codes {

struct CodeRoom {
  std::string_view code, room;
};
inline constexpr CodeRoom k_code_rooms[] = {
@rooms@};

/// The room that reports the code: the file of data/codes that describes it. Empty if there is no such code.
constexpr std::string_view room_of(std::string_view code) {
  for (const auto& known : k_code_rooms)
    if (known.code == code) return known.room;
  return {};
}

} // namespace quarry::codes
]])
