#pragma once
// Private to the room.
// The digest of one member as RECORD names it.
#include "base/result.hpp"
#include "zip/reader.hpp"
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace quarry::wheel {

/// sha256, sha384 and sha512: what RECORD may use (PEP 427: sha256 or better).
bool is_strong_digest(std::string_view algorithm);

struct Digesting {
  std::string_view algorithm;
  bool own_thread = false;                                  ///< large members are digested beside the inflating
  std::function<void(std::span<const std::byte>)> see = {}; ///< gets the bytes, too
  zip::Cuts* cuts = nullptr;                                ///< as of zip::Reader::read
};
/// Inflates the member and returns its digest in RECORD's encoding. Errors of zip::Reader::read.
Result<std::string> digest_member(const zip::Reader& zip, const zip::Member& member, const Digesting& how);

} // namespace quarry::wheel
