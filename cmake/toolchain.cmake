# Flags for every target, ccache when present, sanitizers on request.
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER "${CCACHE}")
endif()
# __FILE__, which also OpenSSL's macros write into their callers, must not depend on the folder (tools/reproduce).
add_compile_options($<$<CONFIG:Release>:-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=>)
add_compile_options(-Wall -Wextra -Wshadow -Werror=return-type -fno-strict-aliasing -fstack-protector-strong)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_compile_options(-Wno-deprecated-declarations) # libstdc++ 12's own stable_sort calls what it calls deprecated
endif()
# Assertions in the standard library stay on in every build: a wrong index must stop the program, not write elsewhere.
add_compile_definitions(_GLIBCXX_ASSERTIONS _FILE_OFFSET_BITS=64)
if(QUARRY_PORTABLE) # the compiler sets it to none, and is told of another value only behind -U
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-U_LIBCPP_HARDENING_MODE> $<$<COMPILE_LANGUAGE:CXX>:-D_LIBCPP_HARDENING_MODE=_LIBCPP_HARDENING_MODE_FAST>)
endif()
if(QUARRY_SANITIZE)
  add_compile_options(-fsanitize=${QUARRY_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${QUARRY_SANITIZE})
endif()
find_program(MOLD mold)
if(MOLD AND NOT QUARRY_PORTABLE) # zig brings a linker of its own
  add_link_options(-fuse-ld=mold)
endif()
