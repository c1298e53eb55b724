#include "venv/claims.hpp"

#include "dist/version.hpp"
#include "sys/path.hpp"
#include "venv/file_checks.hpp"
#include "venv/packed.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::venv {

namespace {

// std::map sorts by bytes, as the other side does.
Sha256 digest_of(const std::map<std::string, std::string>& lines) {
  std::string text;
  for (const auto& [path, rest] : lines) text += path + "," + rest + "\n";
  return sha256(text);
}

struct Packed {
  Sha256 content;
  std::optional<Sha256> payload;
};

Packed describe(const WheelContent& wheel) {
  Packed out;
  std::map<std::string, std::string> lines;
  for (const auto& [path, expected] : wheel.files) {
    if (!expected.sha256 || path.starts_with("..")) continue;
    if (wheel.unpacking && wheel.unpacking->is_payload(path))
      out.payload = expected.sha256;
    else
      lines[path] = fmt::format("{},{}", expected.sha256->hex(), expected.size.value_or(0));
  }
  out.content = digest_of(lines);
  return out;
}

// Paths are below the payload's top directory on both sides.
Sha256 digest_of_payload(const DevelPayload& payload) {
  std::map<std::string, std::string> lines;
  for (const auto& [path, file] : payload.files)
    lines[path.substr(path.find('/') + 1)] = fmt::format("{},{}", file.sha256.hex(), file.size);
  return digest_of(lines);
}

class Matcher {
public:
  Matcher(const Source& source, VerifiedPaths& verified) : source_(source), verified_(verified) {}

  Result<InstalledFile> match(const Claim& claim) {
    bool version_seen = false;
    for (const auto& offered : source_.files) {
      if (offered.file.project != claim.project) continue;
      TRY(bool same, same_version(offered.file.version, claim.version));
      if (!same) continue;
      version_seen = true;
      TRY_DO(verify_files(source_, {&offered}, 1, verified_));
      bool is_wheel = offered.file.filename.ends_with(".whl");
      TRY(bool fits, is_wheel ? fits_wheel(claim, offered.path) : fits_sdist(claim, offered.path));
      if (fits)
        return InstalledFile{claim.project,         claim.version,
                             offered.file.filename, offered.file.sha256,
                             offered.file.size,     is_wheel ? FileKind::wheel : FileKind::sdist,
                             claim.content,         ""};
    }
    return fail(ErrorKind::corrupt, "V035",
                fmt::format("{} {} of the report is not in {}: {}", claim.project, claim.version, source_.description,
                            version_seen ? "its files have other digests" : "it does not have this version"),
                "name the source that the machine installed from, or test there what this one holds");
  }

private:
  Result<bool> same_version(const std::string& ours, const std::string& theirs) const {
    TRY(auto a, dist::Version::parse(ours));
    TRY(auto b, dist::Version::parse(theirs), "while reading the report");
    return a == b;
  }

  Result<bool> fits_wheel(const Claim& claim, const std::string& path) const {
    TRY(auto wheel, read_wheel(path, "")); // headers, the only thing that depends on the Python, lie outside
    auto packed = describe(wheel);
    if (packed.content != claim.content) return false;
    if (!packed.payload || claim.payload) return packed.payload == claim.payload;
    TRY(auto payload, read_devel_payload(path));
    return claim.expanded == digest_of_payload(payload);
  }

  // What was built there must hold the sdist's files and nothing else but the note of the build.
  Result<bool> fits_sdist(const Claim& claim, const std::string& path) const {
    TRY(auto members, read_sdist(path));
    std::size_t own = 0;
    for (const auto& [name, digest] : claim.files) {
      if (is_place_of_build_note(name) || name.find(".dist-info/") != name.npos) continue;
      if (!members.contains(digest)) return false;
      ++own;
    }
    return own > 0;
  }

  const Source& source_;
  VerifiedPaths& verified_;
};

} // namespace

Result<std::vector<InstalledFile>> match_claims(const Source& source, const std::vector<Claim>& claims,
                                                VerifiedPaths& verified) {
  Matcher matcher(source, verified);
  std::vector<InstalledFile> files;
  for (const auto& claim : claims) {
    TRY(auto file, matcher.match(claim));
    files.push_back(std::move(file));
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.project < b.project; });
  return files;
}

} // namespace quarry::venv
