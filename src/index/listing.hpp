#pragma once
// A page that lists what a directory holds, for browsers; of packages it is a find-links page, too. Pure, thread-safe.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::index {

struct Listed {
  std::string name; ///< a directory's without the '/'
  bool is_directory = false;
  std::uint64_t size = 0; ///< of a file
};

/// Whether the directory above has a page: a link to it would else end in an error.
enum class Parent : std::uint8_t { none, linked };

/// Directories first, then files, each by name; the checksum file of another one is a link in its row. Links are
/// relative and percent-encoded. The bytes depend on the arguments alone: no time is in them. `data`: JSON for
/// programs, which the page holds as `const files = DATA;`, as pages of tarballs do; it has no `<`.
std::string listing_page(std::string_view title, std::vector<Listed> entries, Parent parent,
                         std::string_view data = {});

} // namespace quarry::index
