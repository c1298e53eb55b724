#pragma once
// For tests only: artifacts on disk, made by hand.
#include "artifact/checksum.hpp"
#include "artifact/fetch.hpp"
#include "artifact/manifest.hpp"
#include "artifact/pack.hpp"
#include "artifact/selection.hpp"
#include "artifact/source.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include "tar/testing.hpp"
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace quarry::artifact::testing {

namespace tarball = tar::testing;
using codec::Compression;

constexpr std::string_view k_base = "math/stage";

inline std::string manifest(std::string bases = std::string(k_base) + "\n") {
  return tarball::file(std::string(k_manifest_name), std::move(bases));
}

class Directory : public ::testing::Test {
protected:
  void SetUp() override {
    root_ = *sys::make_temporary_directory(::testing::TempDir(), "artifact-");
    from_ = root_ + "/from";
    out_ = root_ + "/out";
    ASSERT_TRUE(sys::make_directories(from_));
  }
  void TearDown() override { ASSERT_TRUE(sys::remove_tree(root_)); }

  void write(const std::string& path, std::string_view text, unsigned mode = 0644) {
    ASSERT_TRUE(sys::make_directories(path::dirname(path)));
    ASSERT_TRUE(sys::write_file(path, text, mode));
  }
  void link(const std::string& path, const std::string& target) {
    ASSERT_TRUE(sys::make_directories(path::dirname(path)));
    ASSERT_EQ(::symlink(target.c_str(), path.c_str()), 0);
  }
  /// An exploded artifact with one library, a link to it and a program.
  void explode(const std::string& name, const std::string& text = "library", std::string base = std::string(k_base)) {
    auto at = from_ + "/" + name;
    write(at + "/artifact_manifest.txt", base + "\n");
    write(at + "/" + base + "/lib/lib" + name + ".so.1", text);
    link(at + "/" + base + "/lib/lib" + name + ".so", "lib" + name + ".so.1");
    write(at + "/" + base + "/bin/" + name, "#!/bin/sh\n", 0755);
  }
  /// An archive of the given tar stream, with its checksum file.
  void archive(const std::string& file, const std::string& stream, bool checksum = true) {
    auto packed = codec::testing::compress(stream, file.ends_with(".xz") ? Compression::xz : Compression::zstd);
    write(from_ + "/" + file, packed);
    if (checksum) write(from_ + "/" + file + ".sha256sum", checksum_line(sha256(packed), file));
  }
  /// A sound archive with one file of this text.
  void good(const std::string& name, const std::string& text = "text") {
    archive(name + ".tar.zst", manifest() + tarball::file("math/stage/lib/" + name, text) +
                                   tarball::symlink("math/stage/lib/link-" + name, name) + tarball::end());
  }
  Result<FetchReport> run(FetchOptions options = {}, SelectionOptions selection = {}) {
    TRY(auto source, source_of_path(from_));
    TRY(auto items, select(source, selection));
    return fetch(items, out_, options);
  }
  /// Everything that a user sees in the output directory, "path" or "path -> target", files with their size.
  std::vector<std::string> visible(const std::string& below) {
    std::vector<std::string> lines;
    auto entries = sys::list_tree(below);
    if (!entries) return lines;
    for (const auto& e : *entries) {
      if (e.path.starts_with(".quarry-fetch") || e.type == sys::EntryType::directory) continue;
      lines.push_back(e.path + (e.type == sys::EntryType::symlink ? " -> " + e.link : ""));
    }
    return lines;
  }
  std::vector<std::string> visible() { return visible(out_); }
  std::vector<std::string> staging() {
    std::vector<std::string> names;
    auto entries = sys::list_tree(out_ + "/.quarry-fetch");
    if (entries)
      for (const auto& e : *entries)
        if (e.path.starts_with("staging")) names.push_back(e.path);
    return names;
  }
  std::string root_, from_, out_;
};

} // namespace quarry::artifact::testing
