#include "shadow/page_offers.hpp"

#include "base/text.hpp"
#include "index/read_page.hpp"
#include "index/site.hpp"
#include "sys/path.hpp"
#include <set>
#include <utility>

namespace quarry::shadow {

namespace {
using Fields = std::map<std::string, std::string>; ///< what a page says of a file
using Offers = std::map<std::string, Fields>;      ///< by file name

std::string leads_to(const Side& side, const std::string& directory, const std::string& url) {
  if (index::leads_elsewhere(url)) {
    auto inside = url.find("/" + side.directory + "/");
    if (side.directory.empty() || inside == url.npos) return "elsewhere";
    auto name = text::percent_decode(url.substr(inside + side.directory.size() + 2));
    return side.objects.contains(name) ? "here" : "nowhere";
  }
  auto relative = text::percent_decode(url.substr(0, url.find_first_of("?#")));
  auto name = path::normal(path::join(directory, relative));
  return side.objects.contains(name) ? "here" : "nowhere";
}

Result<Offers> offers_of(const Side& side, const std::string& directory) {
  auto name = path::join(directory, "index.html");
  TRY(auto text, text_of(side, name));
  Offers offers;
  if (!text) return offers;
  TRY(auto page, index::read_html_page({*text, side.key(name)}));
  for (const auto& file : page.files) {
    auto called = file.url_name();
    if (!called.ends_with(".whl") && !called.ends_with(".tar.gz") && !called.ends_with(".zip")) continue;
    auto sha256 = file.sha256();
    offers[text::lower(called)] = {{"name", called},
                                   {"leads", leads_to(side, directory, file.url)},
                                   {"sha256", sha256 ? sha256->hex() : ""},
                                   {"requires-python", file.requires_python},
                                   {"yanked", file.yanked ? "yes" : ""}};
  }
  return offers;
}

/// Which side alone says something.
std::string only_side(const std::string& ours, const std::string& theirs) {
  if (ours.empty() == theirs.empty()) return "";
  return theirs.empty() ? "!ours" : "!theirs";
}

class PageComparison {
public:
  PageComparison(const Table& table, Section& section) : table_(table), section_(section) {}
  void differs(std::string place, std::string ours, std::string theirs) {
    Difference difference{Topic::pages, std::move(place), std::move(ours), std::move(theirs)};
    difference.reason = table_.reason(Topic::pages, difference.place);
    section_.differences.push_back(std::move(difference));
  }
  void compare(const std::string& page, const Offers& ours, const Offers& theirs) {
    for (const auto& [file, fields] : ours) {
      auto other = theirs.find(file);
      if (other == theirs.end())
        differs(page + "!" + file + "!ours", "offered", "");
      else
        compare_fields(page + "!" + file, fields, other->second);
    }
    for (const auto& [file, fields] : theirs)
      if (!ours.contains(file)) differs(page + "!" + file + "!theirs", "", "offered");
  }

private:
  void compare_fields(const std::string& place, const Fields& ours, const Fields& theirs) {
    for (const auto& [field, value] : ours) {
      const auto& other = theirs.at(field);
      if (value == other)
        section_.equal += value.empty() ? 0 : 1;
      else
        differs(place + "!" + field + only_side(value, other), value, other);
    }
  }
  const Table& table_;
  Section& section_;
};
} // namespace

Result<Section> compare_pages(const Sides& sides, const Table& table) {
  const auto& [ours, theirs] = sides;
  std::set<std::string> directories;
  for (const auto* side : {&ours, &theirs})
    for (const auto& [directory, files] : package_directories(*side)) directories.insert(directory);
  Section section;
  PageComparison comparison(table, section);
  for (const auto& directory : directories) {
    auto page = path::join(directory, "index.html");
    if (!ours.objects.contains(page) || !theirs.objects.contains(page)) continue;
    TRY(auto one, offers_of(ours, directory));
    TRY(auto other, offers_of(theirs, directory));
    comparison.compare(page, one, other);
  }
  return section;
}

} // namespace quarry::shadow
