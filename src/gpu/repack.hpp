#pragma once
// Private to the room.
// The stream of a CCOB bundle, compressed again.
#include "base/result.hpp"
#include "content/rope.hpp"
#include "content/spool.hpp"
#include "gpu/unpack.hpp"
#include <cstdint>
#include <memory>
#include <optional>

namespace quarry::gpu {

enum class Effort : std::uint8_t { usual, high }; ///< the level that clang uses, and one of which less is left

struct Packing {
  Method method = Method::zstd;
  Effort effort = Effort::usual;
  std::uint64_t limit = 0; ///< bytes that the stream may have
};

/// Compresses `plain` as one stream, behind what `into` holds already, and returns the stream. Returns nullopt, with
/// `into` as it was, if the stream would be longer than the limit. The bytes depend on content, method and effort
/// alone. Memory: a zstd window of at most 128 MiB, and 1 MiB. One thread.
Result<std::optional<content::Rope>> pack_stream(const content::Rope& plain, const Packing& packing,
                                                 const std::shared_ptr<content::Spool>& into);

/// Whether the stream unpacks to exactly `plain`.
Result<bool> unpacks_to(Method method, const content::Rope& stream, const content::Rope& plain);

} // namespace quarry::gpu
