// Reading a Windows program: it is described within the bounds, or refused as corrupt.
#include "fuzzing.hpp"
#include "pe/pe.hpp"

using namespace quarry;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto file = fuzzing::as_rope(data, size);
  auto magic = pe::has_magic(file);
  auto facts = pe::read_facts(file, "x");
  if (!facts) {
    fuzzing::require(facts.error().kind == ErrorKind::corrupt && facts.error().code == "J001");
    return 0;
  }
  fuzzing::require(magic && *magic && facts->imports.size() <= pe::k_imports_max);
  for (const auto& dll : facts->imports) fuzzing::require(!dll.empty() && dll.size() <= pe::k_dll_name_max);
  return 0;
}
