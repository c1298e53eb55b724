#include "shadow/keys.hpp"

#include "base/text.hpp"
#include "sys/path.hpp"

namespace quarry::shadow {

namespace {
/// Keys by the name under which they are compared.
std::map<std::string, std::string> comparable(const Side& side) {
  std::map<std::string, std::string> found, packages;
  for (const auto& [directory, files] : package_directories(side))
    for (const auto& [file, name] : files) packages[name] = path::join(directory, file);
  for (const auto& [name, object] : side.objects) {
    auto package = packages.find(name);
    found.emplace(package == packages.end() ? name : package->second, name);
  }
  return found;
}

/// The digest of a checksum file: its first word.
std::string digest_in(const std::string& text) {
  auto words = text::split_any(text, " \t\r\n");
  return words.empty() ? "" : text::lower(words.front());
}

struct Values {
  std::string field, ours, theirs;
};

/// What of two objects of one name must be the same.
Result<Values> values_of(const Side& ours, const Side& theirs, const std::string& name) {
  bool checksum = name.ends_with(".sha256sum");
  if (!checksum && !name.starts_with("manifests/")) return Values{};
  TRY(auto left, text_of(ours, name));
  TRY(auto right, text_of(theirs, name));
  auto one = left.value_or(""), other = right.value_or("");
  if (checksum) return Values{"sha256", digest_in(one), digest_in(other)};
  if (name.ends_with(".html") || one == other) return Values{};
  return Values{"content", std::to_string(one.size()) + " bytes", std::to_string(other.size()) + " other bytes"};
}

/// How two keys of one package differ: in the directory, or only in how the file's name is spelt.
std::string moved(const std::string& ours, const std::string& theirs) {
  return path::dirname(ours) == path::dirname(theirs) ? "!name" : "!place";
}

class KeyComparison {
public:
  explicit KeyComparison(const Table& table) : table_(table) {}
  void equal() { ++section_.equal; }
  void differs(Difference difference) {
    difference.reason = table_.reason(Topic::keys, difference.place);
    section_.differences.push_back(std::move(difference));
  }
  Section take() { return std::move(section_); }

private:
  const Table& table_;
  Section section_;
};
} // namespace

Result<Section> compare_keys(const Sides& sides, const Table& table) {
  const auto& [ours, theirs] = sides;
  auto left = comparable(ours), right = comparable(theirs);
  KeyComparison comparison(table);
  for (const auto& [name, key] : left) {
    auto other = right.find(name);
    if (other == right.end()) {
      comparison.differs({Topic::keys, name + "!ours", "there", ""});
      continue;
    }
    TRY(auto values, values_of(ours, theirs, name));
    if (values.ours != values.theirs)
      comparison.differs({Topic::keys, name + "!" + values.field, values.ours, values.theirs});
    else if (key != other->second)
      comparison.differs({Topic::keys, name + moved(key, other->second), key, other->second});
    else
      comparison.equal();
  }
  for (const auto& [name, key] : right)
    if (!left.contains(name)) comparison.differs({Topic::keys, name + "!theirs", "", "there"});
  return comparison.take();
}

} // namespace quarry::shadow
