// Reading, verifying and editing: an edit that is handed out must be sound and say what was asked for. What a file
// imports is among the names that were asked for, and its facts are those that are read alone.
#include "elf/elf.hpp"
#include "elf/linking.hpp"
#include "fuzzing.hpp"
#include <algorithm>

using namespace quarry;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto file = fuzzing::as_rope(data, size);
  auto alone = elf::read_facts(file, "x");
  (void)elf::verify(file, "x");
  const std::set<std::string> asked{"inflate_fast", "plain", "printf"};
  if (auto linking = elf::read_linking(file, "x", {asked, true})) {
    fuzzing::require(alone && alone->needed == linking->facts.needed && alone->machine == linking->facts.machine);
    fuzzing::require(std::ranges::includes(asked, linking->imports) && std::ranges::is_sorted(linking->versions));
    fuzzing::require(linking->isa_level >= 1 && linking->isa_level <= 4);
  }
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
