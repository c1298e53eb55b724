// Reading, verifying and editing: an edit that is handed out must be sound and say what was asked for.
#include "elf/elf.hpp"
#include "fuzzing.hpp"

using namespace quarry;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto file = fuzzing::as_rope(data, size);
  (void)elf::read_facts(file, "x");
  (void)elf::verify(file, "x");
  elf::Edit change;
  change.rpath = "$ORIGIN/../../somewhere/else/that/is/longer";
  change.soname = "libother.so.7";
  change.replace_needed = {{"libc.so.6", "libmvec.so.1"}};
  for (bool new_segment : {false, true}) {
    change.new_segment = new_segment;
    auto edited = elf::edit(file, change, "x");
    if (!edited) change.replace_needed.clear();
    if (!edited) edited = elf::edit(file, change, "x");
    if (!edited) {
      fuzzing::require(edited.error().kind != ErrorKind::internal);
      continue;
    }
    fuzzing::require(!has_errors(elf::verify(edited->file, "x")));
    auto facts = elf::read_facts(edited->file, "x");
    fuzzing::require(facts && facts->rpath == change.rpath && facts->soname == change.soname);
  }
  return 0;
}
