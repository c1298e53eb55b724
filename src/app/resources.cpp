#include "app/resources.hpp"

#include "app/embedded.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include <set>
#include <utility>

namespace quarry::app {

namespace {
constexpr std::size_t k_entries_max = 10'000;   // a data directory holds tens of files; bounds a mistaken place
constexpr std::uint64_t k_file_max = 64u << 20; // the largest is the launcher, under 1 MB

/// A directory whose files override embedded ones. Only names below `prefix` are looked for.
struct Layer {
  std::string root, prefix;
};

bool is_plain_name(std::string_view name) {
  return !name.empty() && path::normal(name) == name && name[0] != '/' && !name.starts_with("..");
}

class LayeredResources final : public Resources {
public:
  explicit LayeredResources(ResourcePlaces places) {
    if (!places.repository.empty()) layers_.push_back({std::move(places.repository), "data/"});
    if (!places.share.empty() && sys::is_directory(places.share)) layers_.push_back({std::move(places.share), ""});
  }

  std::vector<std::string> list(std::string_view prefix) const override {
    std::set<std::string> names;
    for (std::size_t i = 0; i < k_embedded_count; ++i)
      if (std::string_view(k_embedded[i].name).starts_with(prefix)) names.insert(k_embedded[i].name);
    for (const auto& layer : layers_) list_layer(layer, prefix, names);
    return {names.begin(), names.end()};
  }

  std::optional<std::string> read(std::string_view name) const override {
    if (auto file = overriding_file(name); !file.empty()) {
      auto content = sys::read_file(file, k_file_max);
      return content ? std::optional(std::move(*content)) : std::nullopt;
    }
    const auto* file = embedded(name);
    return file ? std::optional(std::string(file->begin, file->end)) : std::nullopt;
  }

  std::string origin(std::string_view name) const override {
    auto file = overriding_file(name);
    return !file.empty() ? file : embedded(name) ? "embedded" : "";
  }

private:
  static const EmbeddedFile* embedded(std::string_view name) {
    for (std::size_t i = 0; i < k_embedded_count; ++i)
      if (name == k_embedded[i].name) return &k_embedded[i];
    return nullptr;
  }

  std::string overriding_file(std::string_view name) const {
    if (!is_plain_name(name)) return "";
    for (const auto& layer : layers_) {
      auto file = path::join(layer.root, name);
      if (name.starts_with(layer.prefix) && sys::exists(file) && !sys::is_directory(file)) return file;
    }
    return "";
  }

  /// The directories that hold our data, "data/codes/": elsewhere in a repository, `data` may be anything.
  static std::set<std::string> directories() {
    std::set<std::string> result;
    for (std::size_t i = 0; i < k_embedded_count; ++i) {
      std::string_view name = k_embedded[i].name;
      auto second = name.find('/', name.find('/') + 1);
      if (second != name.npos) result.emplace(name.substr(0, second + 1));
    }
    return result;
  }

  static void list_layer(const Layer& layer, std::string_view prefix, std::set<std::string>& names) {
    for (const auto& directory : directories()) {
      bool asked = directory.starts_with(prefix) || prefix.starts_with(directory);
      if (!asked || !directory.starts_with(layer.prefix)) continue;
      auto tree = sys::list_tree(path::join(layer.root, directory), k_entries_max);
      if (!tree) continue; // absent: nothing is overridden
      for (const auto& entry : *tree)
        if (auto name = directory + entry.path; entry.type == sys::EntryType::file && name.starts_with(prefix))
          names.insert(name);
    }
  }

  std::vector<Layer> layers_;
};
} // namespace

std::unique_ptr<Resources> make_resources(ResourcePlaces places) {
  return std::make_unique<LayeredResources>(std::move(places));
}

} // namespace quarry::app
