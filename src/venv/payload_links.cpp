#include "venv/payload_links.hpp"

#include "base/text.hpp"
#include "sys/path.hpp"
#include <deque>

namespace quarry::venv {

namespace {

constexpr int k_links_max = 40; // as Linux

std::string parent_of(const std::string& path) { return path.find('/') == path.npos ? "" : path::dirname(path); }

/// Walks through site-packages as the kernel does: `..` leaves the directory that a link led into.
class Walk {
public:
  explicit Walk(const DevelPayload& payload) : payload_(payload) {}

  /// The text of the link at `place`; nullptr: it is not a link.
  const std::string* link_at(const std::string& place) const {
    auto link = payload_.links.find(place);
    return link == payload_.links.end() ? nullptr : &link->second;
  }

  /// Where `path` is from `directory`. Its last component may be a link, which is not followed.
  std::optional<std::string> place_of(const std::string& path, std::string directory = "") {
    std::deque<std::string> left;
    if (!put_before(left, path)) return std::nullopt;
    auto at = std::move(directory);
    while (!left.empty()) {
      auto component = std::move(left.front());
      left.pop_front();
      if (component == ".") continue;
      if (component == ".." && at.empty()) return std::nullopt;
      if (component == "..") {
        at = parent_of(at);
        continue;
      }
      auto next = at.empty() ? component : at + "/" + component;
      const auto* link = left.empty() ? nullptr : link_at(next);
      if (link && !follow(left, *link)) return std::nullopt;
      if (!link) at = std::move(next);
    }
    return at;
  }

  /// Where the link at `place` leads.
  std::optional<std::string> behind(const std::string& place, const std::string& link) {
    if (--left_ < 0) return std::nullopt;
    return place_of(link, parent_of(place));
  }

private:
  bool follow(std::deque<std::string>& left, const std::string& link) { return --left_ >= 0 && put_before(left, link); }

  static bool put_before(std::deque<std::string>& left, const std::string& path) {
    auto parts = text::split_any(path, "/");
    left.insert(left.begin(), parts.begin(), parts.end());
    return !path.starts_with('/');
  }

  const DevelPayload& payload_;
  int left_ = k_links_max;
};

/// Follows links from `at` on, and adds their texts.
LinkEnd follow_from(Walk& walk, std::optional<std::string> at) {
  LinkEnd end;
  while (at) {
    const auto* link = walk.link_at(*at);
    if (!link) break;
    end.texts.push_back(*link);
    at = walk.behind(*at, *link);
  }
  end.file = std::move(at);
  return end;
}

} // namespace

LinkEnd end_of_link(const DevelPayload& payload, const std::string& path) {
  Walk walk(payload);
  return follow_from(walk, walk.place_of(path));
}

std::optional<std::string> end_of_text(const DevelPayload& payload, const std::string& path, const std::string& text) {
  Walk walk(payload);
  auto place = walk.place_of(path);
  if (!place) return std::nullopt;
  return follow_from(walk, walk.behind(*place, text)).file;
}

} // namespace quarry::venv
