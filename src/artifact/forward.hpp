#pragma once
// Content that comes over a network, for readers that go forward and look a little ahead or back: what was read last is
// kept, so that the network is read in order and each byte once. Inside this room only.
#include "content/rope.hpp"
#include <memory>

namespace quarry::artifact {

/// Keeps the last `k_forward_window` bytes. What lies further back or ahead is read past them. Thread-safe.
std::shared_ptr<const content::Source> make_forward_source(content::Rope rope);

/// A frame of ours holds 8 MiB, and its end is looked for before it is read.
constexpr std::uint64_t k_forward_window = 12u << 20;

} // namespace quarry::artifact
