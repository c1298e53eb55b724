#pragma once
// Private to the room.
// What an edit means for one file: the dynamic entries it will have and the strings they name. No place is chosen yet.
#include "elf/elf.hpp"
#include "elf/image.hpp"
#include "elf/tables.hpp"

namespace quarry::elf {

struct Intent {
  struct NewString {
    std::string text;
    std::vector<std::size_t> entries;          ///< indices into `entries` whose value becomes its offset
    std::vector<std::uint64_t> version_fields; ///< places of vn_file that must name it too
  };
  std::vector<Dynamic> entries;     ///< without DT_NULL; value 0 where a new string is to be named
  std::vector<NewString> strings;   ///< distinct texts
  bool new_segment = false;         ///< as asked for
  std::vector<std::uint64_t> freed; ///< old strings that a changed entry named
};

/// invalid_argument E015 for values no file can hold, not_found E016 when a library to replace is neither needed nor
/// already replaced. An intent whose entries equal the image's and that has no strings changes nothing.
Result<Intent> make_intent(const Image& image, const Edit& edit);

/// Where each new string goes, as far as the present table can hold it.
struct StringPlaces {
  std::vector<std::uint64_t> offsets; ///< of Intent::strings, valid in the (grown) table
  std::string appended;               ///< what the table grows by; empty when nothing must move
  struct Overwrite {
    std::uint64_t offset = 0; ///< in the table
    std::string bytes;
  };
  std::vector<Overwrite> overwrites;
};
/// Reuses equal strings of the table, then the room of freed strings that nothing else names (never if the number of
/// dynamic symbols is not known), else appends.
Result<StringPlaces> place_strings(const Image& image, const Intent& intent, const std::vector<Section>& sections);

} // namespace quarry::elf
