#include "artifact/base_tree.hpp"

#include "base/text.hpp"
#include <algorithm>

namespace quarry::artifact {

using names::NameTree;

namespace {
enum NodeKind : std::uint8_t { k_leaf = 0, k_parent = 1 };
constexpr std::size_t k_component_max = 255; // no member has a longer one, so such a base is met by none
} // namespace

// Node::text is the number of the base that the node is, plus one; 0: none.
BaseTree::BaseTree(const std::vector<std::string>& bases) {
  for (std::size_t number = 0; number < bases.size(); ++number) {
    auto parts = text::split(bases[number], '/');
    if (std::any_of(parts.begin(), parts.end(), [](const auto& part) { return part.size() > k_component_max; }))
      continue;
    auto at = NameTree::k_root;
    for (const auto& part : parts) {
      if (at != NameTree::k_root) tree_[at].kind = k_parent;
      auto next = tree_.find(at, part);
      at = next == NameTree::k_none ? tree_.add(at, part, k_leaf, false) : next;
    }
    tree_[at].text = static_cast<std::uint32_t>(number + 1);
  }
}

std::size_t BaseTree::find(std::string_view path) const {
  std::size_t first = k_none;
  auto at = NameTree::k_root;
  for (auto rest = path;;) {
    auto slash = rest.find('/');
    at = tree_.find(at, rest.substr(0, slash));
    if (at == NameTree::k_none) return first;
    if (auto number = tree_[at].text) first = std::min<std::size_t>(first, number - 1);
    if (slash == rest.npos) return first;
    rest.remove_prefix(slash + 1);
  }
}

bool BaseTree::leads_to_base(std::string_view path) const {
  auto at = NameTree::k_root;
  for (auto rest = path; at != NameTree::k_none;) {
    auto slash = rest.find('/');
    at = tree_.find(at, rest.substr(0, slash));
    if (slash == rest.npos) break;
    rest.remove_prefix(slash + 1);
  }
  return at != NameTree::k_none && tree_[at].kind == k_parent;
}

} // namespace quarry::artifact
