# The preset portable: C++ by a compiler that links against glibc 2.28, C by the system's own (the launcher then has the same
# bytes as everywhere, and plain C asks for no new symbol). Debian's static libraries are taken as they are. The system's
# headers are of glibc 2.36, so only those of the libraries are shown to the compiler: links in a directory of their own.
set(portable_include "${CMAKE_BINARY_DIR}/include")
file(REMOVE_RECURSE "${portable_include}")
file(MAKE_DIRECTORY "${portable_include}/openssl")
foreach(name fmt nlohmann rapidjson toml++ tl isa-l isa-l.h lzma lzma.h libfyaml.h zlib.h zconf.h zstd.h zstd_errors.h
        x86_64-linux-gnu/curl x86_64-linux-gnu/zconf.h)
  get_filename_component(base "${name}" NAME)
  if(EXISTS "/usr/include/${name}")
    file(CREATE_LINK "/usr/include/${name}" "${portable_include}/${base}" SYMBOLIC)
  endif()
endforeach()
file(GLOB headers /usr/include/openssl/*.h /usr/include/x86_64-linux-gnu/openssl/*.h)
foreach(header IN LISTS headers)
  get_filename_component(base "${header}" NAME)
  file(CREATE_LINK "${header}" "${portable_include}/openssl/${base}" SYMBOLIC)
endforeach()
foreach(variable OPENSSL_INCLUDE_DIR ZLIB_INCLUDE_DIR FMT_INCLUDE TL_EXPECTED_INCLUDE TOMLPP_INCLUDE CURL_INCLUDE FYAML_INCLUDE RAPIDJSON_INCLUDE)
  set(${variable} "${portable_include}" CACHE PATH "" FORCE)
endforeach()
set(CMAKE_LIBRARY_ARCHITECTURE x86_64-linux-gnu)
list(APPEND CMAKE_LIBRARY_PATH /usr/lib/x86_64-linux-gnu)
include_directories(SYSTEM "${portable_include}")
