#pragma once
// The device code of HIP programs as their registration records (.hipFatBinSegment) point at it.
#include "elf/image.hpp"
#include <string>
#include <vector>

namespace quarry::elf {

/// Tells the kernel that the first page of each bundle is read soon, so that pages that lie far apart in the file come
/// side by side. A hint: what cannot be read is left out. `sections` are those of the image, with their `names`. Reads
/// the records and DT_RELA.
void prefetch_fat_binaries(const Image& image, const std::vector<Section>& sections,
                           const std::vector<std::string>& names);

} // namespace quarry::elf
