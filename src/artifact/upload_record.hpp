#pragma once
// Private to the room.
// `manifests/{group}/upload.json` of a run: what an upload is about to bring, and whether it has brought all of it
// (docs/formats/run-layout.md). Written before the first file and after the last, so that a reader can tell a set that
// is not complete. Pure.
#include "base/result.hpp"
#include "digest/sha256.hpp"
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace quarry::artifact {

constexpr std::string_view k_upload_record = "upload.json";
constexpr std::uint64_t k_upload_record_bytes_max = 4u << 20; ///< 20,000 archives of 200 bytes

struct UploadRecord {
  std::string group;
  bool complete = false;                  ///< every file arrived, and the build that made them had not failed
  bool build_failed = false;              ///< then it never becomes complete
  std::map<std::string, Sha256> archives; ///< by file name
  bool operator==(const UploadRecord&) const = default;
};

std::string upload_record_text(const UploadRecord& record);
/// corrupt A041; B00x.
Result<UploadRecord> parse_upload_record(std::string_view text, std::string_view what);

} // namespace quarry::artifact
