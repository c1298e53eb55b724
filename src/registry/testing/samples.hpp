#pragma once
// Small sealed sets for the tests of every room that reads a store. Contents are not real wheels: only names and
// digests count.
#include "registry/registry.hpp"
#include "registry/requirements.hpp"
#include <algorithm>
#include <gtest/gtest.h>

namespace quarry::registry::testing {

/// A digest for tests that need one and no record: another name, another digest.
template <class Digest> Digest digest_named(std::string_view name) { return Digest(sha256(name)); }

struct SampleFile {
  std::string filename, project, version;
  std::string bytes = "bytes of " + filename;
  std::vector<std::string> requires_dist = {}, extras = {};
};

/// METADATA of a wheel.
inline std::string metadata_text(const SampleFile& file) {
  auto text = "Metadata-Version: 2.1\nName: " + file.project + "\nVersion: " + file.version + "\n";
  for (const auto& extra : file.extras) text += "Provides-Extra: " + extra + "\n";
  for (const auto& requirement : file.requires_dist) text += "Requires-Dist: " + requirement + "\n";
  return text;
}

inline FileRecord file_record(const SampleFile& file, const std::string& directory) {
  FileRecord record;
  record.filename = file.filename;
  record.project = file.project;
  record.version = file.version;
  record.size = file.bytes.size();
  record.sha256 = sha256(file.bytes);
  record.upload_time = "2026-11-20T10:00:00.000000Z";
  record.key = directory + "/dist/" + file.filename;
  if (file.filename.ends_with(".whl"))
    record.metadata_sha256 = sha256(metadata_text(file));
  else
    record_requirements(record, {file.requires_dist, file.extras});
  return record;
}

/// Writes the files, sidecars and the set record; the set is not sealed yet. Returns its digest. `group` is that of the
/// run.
inline SetDigest put_sample_set(ObjectStore& store, const std::string& directory, const std::vector<SampleFile>& files,
                                const std::string& group = {}) {
  SetRecord set;
  set.origin.group = group;
  set.origin.run_id = directory.substr(0, directory.find('-'));
  set.origin.platform = Platform::linux;
  set.directory = directory;
  for (const auto& file : files) {
    auto record = file_record(file, directory);
    EXPECT_TRUE(store.put(record.key, content::Rope::literal(file.bytes), {}));
    bool wheel = record.metadata_sha256.has_value();
    if (wheel) {
      EXPECT_TRUE(store.put(record.key + ".metadata", content::Rope::literal(metadata_text(file)), {}));
    }
    set.files.push_back(std::move(record));
  }
  std::sort(set.files.begin(), set.files.end(), [](const auto& a, const auto& b) { return a.filename < b.filename; });
  auto digest = put_set(store, set);
  EXPECT_TRUE(digest) << render(digest.error());
  return *digest;
}

inline SealedSet sealed_sample(ObjectStore& store, const std::string& directory, const std::vector<SampleFile>& files,
                               std::string_view time = "2026-11-20T10:00:01.000000Z") {
  auto digest = put_sample_set(store, directory, files);
  auto sealed = seal(store, digest, *Timestamp::parse(time));
  EXPECT_TRUE(sealed) << render(sealed.error());
  auto loaded = load_sealed(store, digest);
  EXPECT_TRUE(loaded) << render(loaded.error());
  return *loaded;
}

} // namespace quarry::registry::testing
