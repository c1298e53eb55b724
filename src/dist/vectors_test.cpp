// The published vectors of pypa/packaging (tests/data/packaging, made by tools/packaging-vectors).
#include "base/text.hpp"
#include "dist/name.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace quarry::dist {
namespace {

using VectorRow = std::vector<std::string>;

std::string unescaped(std::string_view field) {
  std::string out;
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (field[i] != '\\') {
      out += field[i];
      continue;
    }
    switch (field[++i]) {
    case 't': out += '\t'; break;
    case 'n': out += '\n'; break;
    case 'x':
      out += static_cast<char>(text::from_hex(field.substr(i + 1, 2))->at(0));
      i += 2;
      break;
    default: out += field[i];
    }
  }
  return out;
}

std::vector<VectorRow> table(const std::string& name) {
  std::ifstream file(std::string(QUARRY_SOURCE_DIR) + "/tests/data/packaging/" + name);
  std::stringstream content;
  content << file.rdbuf();
  std::vector<VectorRow> rows;
  for (const auto& line : text::lines(content.str())) {
    if (line.starts_with('#')) continue;
    VectorRow row;
    for (const auto& field : text::split(line, '\t')) row.push_back(unescaped(field));
    rows.push_back(std::move(row));
  }
  return rows;
}

Version version(const std::string& text) {
  auto parsed = Version::parse(text);
  if (parsed) return *parsed;
  ADD_FAILURE() << parsed.error().message;
  return {};
}

void check_valid(const VectorRow& row) {
  auto v = version(row.at(1));
  EXPECT_EQ(v.str(), row.at(2));
  EXPECT_EQ(v.public_version().str(), row.at(3));
  EXPECT_EQ(v.base_version().str(), row.at(4));
  EXPECT_EQ(v.local(), row.at(5));
  EXPECT_EQ(v.is_prerelease(), row.at(6) == "1");
  EXPECT_EQ(v.is_postrelease(), row.at(7) == "1");
}

TEST(PackagingVectors, Versions) {
  std::size_t valid = 0, invalid = 0;
  for (const auto& row : table("versions.tsv")) {
    SCOPED_TRACE(row.at(1));
    if (row[0] == "valid") ++valid, check_valid(row);
    if (row[0] == "invalid") {
      ++invalid;
      EXPECT_FALSE(Version::parse(row.at(1)));
    }
  }
  EXPECT_GT(valid, 1700u);
  EXPECT_GT(invalid, 1300u);
}

TEST(PackagingVectors, VersionsThatWereWrittenInOrderAreInOrder) {
  std::vector<Version> chain;
  for (const auto& row : table("versions.tsv"))
    if (row[0] == "chain") chain.push_back(version(row.at(1)));
  ASSERT_GT(chain.size(), 70u);
  for (std::size_t i = 0; i < chain.size(); ++i)
    for (std::size_t k = 0; k < chain.size(); ++k)
      EXPECT_EQ(chain[i] <=> chain[k], i <=> k) << chain[i].str() << " " << chain[k].str();
}

TEST(PackagingVectors, OrderOfAllVersions) {
  std::vector<std::pair<std::size_t, Version>> ordered;
  std::size_t line = 0;
  for (const auto& row : table("version-order.tsv")) {
    for (const auto& text : row) ordered.emplace_back(line, version(text));
    ++line;
  }
  ASSERT_GT(line, 1300u);
  for (std::size_t i = 0; i < ordered.size(); ++i)
    for (std::size_t k = i; k < ordered.size(); k += 1 + (k - i) / 8) // neighbours closely, the far ones sparsely
      EXPECT_EQ(ordered[i].second <=> ordered[k].second, ordered[i].first <=> ordered[k].first)
          << ordered[i].second.str() << " " << ordered[k].second.str();
}

TEST(PackagingVectors, Specifiers) {
  std::vector<Version> versions;
  std::size_t valid = 0, invalid = 0;
  for (const auto& row : table("specifiers.tsv")) {
    if (row[0] == "versions")
      for (std::size_t i = 1; i < row.size(); ++i) versions.push_back(version(row[i]));
    if (row[0] == "invalid") {
      ++invalid;
      EXPECT_EQ(Specifiers::parse(row.at(1)).error().code, "M005") << row.at(1);
    }
    if (row[0] != "valid") continue;
    ++valid;
    auto specifiers = Specifiers::parse(row.at(1));
    ASSERT_TRUE(specifiers) << row.at(1);
    EXPECT_EQ(specifiers->str(), row.at(2));
    EXPECT_EQ(specifiers->name_prereleases(), row.at(3) == "1") << row.at(1);
    ASSERT_EQ(row.at(4).size(), versions.size());
    for (std::size_t i = 0; i < versions.size(); ++i) {
      bool expected = row[4][i] == '1';
      EXPECT_EQ(specifiers->contains(versions[i]), expected) << row.at(1) << " with " << versions[i].str();
      bool held_back = versions[i].is_prerelease() && row[3] == "0";
      EXPECT_EQ(specifiers->contains(versions[i], false), expected && !held_back)
          << row.at(1) << " without pre-releases, " << versions[i].str();
    }
  }
  EXPECT_GT(valid, 450u);
  EXPECT_GT(invalid, 25u);
}

/// That library takes letters of any script in a wheel's name; a project's name is ASCII, and no index accepts another.
bool is_ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

void check_wheel(const VectorRow& row) {
  auto wheel = WheelName::parse(row.at(1));
  if (!is_ascii(row[1])) {
    EXPECT_FALSE(wheel);
    return;
  }
  ASSERT_TRUE(wheel);
  EXPECT_EQ(wheel->project.str(), row.at(2));
  EXPECT_EQ(wheel->version.str(), row.at(3));
  EXPECT_EQ(wheel->build ? std::to_string(wheel->build->number) + wheel->build->rest : "", row.at(4));
  auto tags = wheel->tags.expanded();
  std::sort(tags.begin(), tags.end());
  EXPECT_EQ(text::join(tags, " "), row.at(5));
}

TEST(PackagingVectors, Names) {
  auto rows = table("names.tsv");
  ASSERT_GT(rows.size(), 40u);
  for (const auto& row : rows) {
    SCOPED_TRACE(row[0] + " " + row.at(1));
    if (row[0] == "name")
      EXPECT_EQ(ProjectName::parse(row[1]).value().str(), row.at(2));
    else if (row[0] == "no-name")
      EXPECT_FALSE(ProjectName::parse(row[1]));
    else if (row[0] == "wheel")
      check_wheel(row);
    else if (row[0] == "no-wheel")
      EXPECT_FALSE(WheelName::parse(row[1]));
    else if (row[0] == "sdist")
      EXPECT_EQ(SdistName::parse(row[1]).value().project.str(), row.at(2));
    else if (row[0] == "no-sdist")
      EXPECT_FALSE(SdistName::parse(row[1]));
    else
      ADD_FAILURE() << "unknown row";
  }
}

TEST(Version, FormsThatRocmUses) {
  for (auto [text, normal] : {std::pair{"7.12.0.dev0", "7.12.0.dev0"},
                              {"7.10.0a20251124", "7.10.0a20251124"},
                              {"7.12.0rc1", "7.12.0rc1"},
                              {"7.13.0.dev0+0123456789abcdef0123456789abcdef01234567",
                               "7.13.0.dev0+0123456789abcdef0123456789abcdef01234567"},
                              {"2.10.0+ROCm7.10.0a20251120", "2.10.0+rocm7.10.0a20251120"}})
    EXPECT_EQ(version(text).str(), normal);
  EXPECT_LT(version("1.0+rocm10.1"), version("1.0+rocm7.15")); // local segments that are not numbers compare as text
  EXPECT_LT(version("1." + std::string(30, '9')), version("1.1" + std::string(30, '0')));
}

TEST(Version, EqualVersionsHaveEqualKeys) {
  for (auto [text, key] : {std::pair{"1.4.0.0.00.000.0000", "1.4"},
                           {"1.40.0", "1.40"},
                           {"1.0+abc", "1+abc"},
                           {"1.0.dev0", "1.dev0"},
                           {"1.0a0", "1a0"},
                           {"100!0.0", "100!0"},
                           {"0.0", "0"}})
    EXPECT_EQ(version(text).key(), key);
}

TEST(Version, BoundsItsText) {
  EXPECT_TRUE(Version::parse(std::string(k_version_bytes_max, '1')));
  EXPECT_EQ(Version::parse(std::string(k_version_bytes_max + 1, '1')).error().code, "M004");
  EXPECT_EQ(Specifiers::parse(std::string(k_specifiers_bytes_max + 1, ',')).error().code, "M005");
}

} // namespace
} // namespace quarry::dist
