# The house: one static library per room, and stairs that only go down.
#
#   add_room(name FLOOR n [COLD | HOT file...] [BYTES] [FUZZED] USES room... [LIBRARIES external...])
#
# Release builds use -O2 for the code that the figures of docs/performance.md depend on, and -Og, which takes the
# compiler half the time, for all other code:
# COLD: no file of the room needs -O2: with -Og the figures are the same.
# HOT: only these files of the room need it (names below the room's directory, without `.cpp`).
# BYTES: goes through all bytes of files, so tests wait for it.
# FUZZED: a fuzzer runs most of the room.
#
# Compiles src/<name>/**.cpp into the library `<name>`; files *_test.cpp become the test program `<name>_test`, files
# *_bench.cpp the benchmark `<name>_bench`. A room may use rooms on lower floors, and rooms of its own floor that were added
# before it (to its left). Anything else stops the configuration.
set_property(GLOBAL PROPERTY QUARRY_ROOMS "")

function(add_room name)
  cmake_parse_arguments(ROOM "COLD;BYTES;FUZZED" "FLOOR" "HOT;USES;LIBRARIES" ${ARGN})
  get_property(rooms GLOBAL PROPERTY QUARRY_ROOMS)
  foreach(used IN LISTS ROOM_USES)
    if(NOT used IN_LIST rooms)
      message(FATAL_ERROR "room ${name} uses ${used}, which is not to its left and not below it")
    endif()
    get_property(floor GLOBAL PROPERTY QUARRY_FLOOR_${used})
    if(floor GREATER ROOM_FLOOR)
      message(FATAL_ERROR "room ${name} (floor ${ROOM_FLOOR}) uses ${used} (floor ${floor}): stairs only go down")
    endif()
  endforeach()
  set_property(GLOBAL APPEND PROPERTY QUARRY_ROOMS ${name})
  set_property(GLOBAL PROPERTY QUARRY_FLOOR_${name} ${ROOM_FLOOR})

  set(directory "${CMAKE_CURRENT_SOURCE_DIR}/${name}")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${directory}/*.cpp")
  set(tests ${sources})
  set(benches ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER benches INCLUDE REGEX "_bench\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_(test|bench)\\.cpp$")
  if(NOT sources)
    file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/${name}_empty.cpp" "")
    set(sources "${CMAKE_CURRENT_BINARY_DIR}/${name}_empty.cpp")
  endif()
  list(TRANSFORM ROOM_HOT REPLACE "(.+)" "${directory}/\\1.cpp" OUTPUT_VARIABLE hot)
  foreach(file IN LISTS hot)
    if(ROOM_COLD OR NOT file IN_LIST sources)
      message(FATAL_ERROR "room ${name}: ${file} cannot be HOT: the file is missing, or the room is COLD")
    endif()
  endforeach()
  set(targets ${name})
  set(optimised ${name})
  if(ROOM_COLD)
    set(optimised "")
  elseif(ROOM_HOT AND CMAKE_BUILD_TYPE STREQUAL "Release")
    list(REMOVE_ITEM sources ${hot})
    add_library(${name}_hot OBJECT ${hot})
    list(APPEND sources $<TARGET_OBJECTS:${name}_hot>)
    list(APPEND targets ${name}_hot)
    set(optimised ${name}_hot)
  endif()
  set_property(GLOBAL APPEND PROPERTY QUARRY_OPTIMISED ${optimised})
  add_library(${name} STATIC ${sources})
  foreach(target IN LISTS targets)
    if(QUARRY_UNITY)
      # Compiles up to 40 files as one: each header is read, and each template made, once for all of them (HACKING.md).
      # Files of a room therefore share their anonymous namespace: a name that two of them define is one too many.
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 40)
      # g++ takes a type in the anonymous namespace of an included file for one that a header has.
      target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
      # Up to 1.5 GB g++ does not look for memory that it could use again: 3 to 10 % of its time, for 0.3 GB more.
      target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=1500000>)
    endif()
    if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT target IN_LIST optimised)
      target_compile_options(${target} PRIVATE -Og)
    endif()
    target_include_directories(${target} PUBLIC "${CMAKE_SOURCE_DIR}/src" "${CMAKE_BINARY_DIR}/generated")
    target_link_libraries(${target} PUBLIC ${ROOM_USES} ${ROOM_LIBRARIES} fmt_static Threads::Threads)
  endforeach()
  if(QUARRY_FUZZ AND ROOM_FUZZED)
    # The room reports which edges were taken. That is a fourth of its compile time, so no other room does.
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
  if(QUARRY_SANITIZE AND NOT ROOM_BYTES AND NOT (QUARRY_FAST_FUZZERS AND ROOM_FUZZED))
    # A third of the compile time with sanitizers (6 CPU seconds instead of 20 for `elf`, which is optimised for its tests).
    target_compile_options(${name} PRIVATE -O0)
  endif()
  if(QUARRY_TESTS AND tests)
    add_executable(${name}_test ${tests})
    # Optimising tests costs three quarters of their compile time (nine tenths with sanitizers) and saves none of ours.
    target_compile_options(${name}_test PRIVATE -O0)
    if(QUARRY_UNITY)
      # The headers of GoogleTest alone take two seconds in each file.
      set_target_properties(${name}_test PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
    endif()
    target_link_libraries(${name}_test PRIVATE ${name} GTest::gtest_main GTest::gmock)
    target_compile_definitions(${name}_test PRIVATE QUARRY_SOURCE_DIR="${CMAKE_SOURCE_DIR}" QUARRY_BINARY_DIR="${CMAKE_BINARY_DIR}")
    add_test(NAME ${name} COMMAND ${name}_test)
    set_tests_properties(${name} PROPERTIES TIMEOUT 1200)
  endif()
  if(QUARRY_BENCH AND benches)
    add_executable(${name}_bench ${benches})
    target_link_libraries(${name}_bench PRIVATE ${name} benchmark::benchmark_main)
  endif()
endfunction()
