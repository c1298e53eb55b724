#pragma once
// Private to the room.
// Containers that other compilers write: LLVM's offload binaries and NVIDIA's fatbins. They are listed as an extra.
// What is not understood ends the reading of its section with a note, because nobody here makes these files.
//
// Sources: clang's page "Clang Offload Packager" and llvm/Object/OffloadBinary.h (offload binaries, version 1);
// fatbinary_section.h of the CUDA toolkit (name of the section), and for the inside of fatbins, which NVIDIA does not
// describe, the descriptions by the open projects cuda-fatbin-decompression (N. Eiling) and nvopen-tools.
#include "gpu/reading.hpp"
#include <cstdint>

namespace quarry::gpu {

struct SectionPlace {
  std::uint64_t begin = 0, end = 0; ///< in the file
};

/// `.llvm.offloading`: offload binaries one behind the other. The target is the string `arch` of each.
Result<void> read_offload_binaries(Reading& reading, const SectionPlace& place);

/// `.nv_fatbin`: fatbins one behind the other, each with code for several targets: "sm_90" for machine code,
/// "compute_90" for PTX. Reads two headers for each piece of code.
Result<void> read_fatbins(Reading& reading, const SectionPlace& place);

} // namespace quarry::gpu
