# Flags for every target, ccache when present, sanitizers on request.
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER "${CCACHE}")
endif()
add_compile_options(-Wall -Wextra -Wshadow -Werror=return-type -fno-strict-aliasing -fstack-protector-strong)
# Assertions in the standard library stay on in every build: a wrong index must stop the program, not write elsewhere.
add_compile_definitions(_GLIBCXX_ASSERTIONS _FILE_OFFSET_BITS=64)
if(QUARRY_SANITIZE)
  add_compile_options(-fsanitize=${QUARRY_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${QUARRY_SANITIZE})
endif()
find_program(MOLD mold)
if(MOLD AND NOT QUARRY_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_link_options(-fuse-ld=mold)
endif()

if(QUARRY_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link) # the rooms report which edges were taken
endif()
