#include "content/file_digest.hpp"

#include "content/rope.hpp"
#include "sys/clock.hpp"
#include "sys/identity.hpp"
#include <array>
#include <span>

namespace quarry::content {

namespace {
constexpr std::size_t k_small = 1u << 16; // on the stack of a thread of a pool

/// nullopt if it changes while it is read.
Result<std::optional<Sha256>> digest_at_once(const sys::RegularFile& opened, const std::string& path) {
  std::array<std::byte, k_small> buffer; // not cleared: only what was read is looked at
  auto bytes = std::span(buffer).first(static_cast<std::size_t>(opened.identity.size));
  TRY_DO(sys::check_interrupted());
  TRY(auto n, opened.file.read_at(0, bytes), "while reading " + path);
  TRY(auto now, sys::identity_of(opened.file), "while reading " + path);
  if (n != bytes.size() || now != opened.identity) return std::optional<Sha256>();
  return std::optional(sha256(bytes));
}
} // namespace

Result<std::optional<FileDigest>> digest_of_file(const std::string& path) {
  TRY(auto opened, sys::open_regular(path));
  if (!opened) return std::optional<FileDigest>();
  auto size = opened->identity.size;
  if (size <= k_small) {
    TRY(auto digest, digest_at_once(*opened, path));
    if (digest) return std::optional(FileDigest{*digest, size});
  }
  // Also a file that something else writes to: the rope says so.
  TRY(auto digest, sha256_of(Rope::file(path, size)));
  return std::optional(FileDigest{digest, size});
}

} // namespace quarry::content
