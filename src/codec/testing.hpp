#pragma once
// For tests only: texts compressed and expanded in one call.
#include "codec/compression.hpp"
#include <span>
#include <string>

namespace quarry::codec::testing {

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

inline std::string compress(std::string_view text, Compression compression, unsigned workers = 1) {
  std::string out;
  auto compressor = Compressor::create(compression, workers, [&](std::span<const std::byte> bytes) -> Result<void> {
    out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return {};
  });
  if (!compressor->write(bytes_of(text)) || !compressor->finish()) return {};
  return out;
}

inline Result<std::string> expand(std::string packed, Compression compression, unsigned workers = 1) {
  std::string out;
  auto rope = content::Rope::literal(std::move(packed));
  TRY_DO(decompress(rope, compression, CodecOptions{workers, nullptr},
                    [&](std::span<const std::byte> bytes) -> Result<void> {
                      out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
                      return {};
                    }));
  return out;
}

} // namespace quarry::codec::testing
