#include "pages/page_order.hpp"

#include "dist/metadata.hpp"
#include <gtest/gtest.h>

namespace quarry::pages {
namespace {

registry::FileRecord wheel(const std::string& project) {
  registry::FileRecord file;
  file.filename = project + "-1-py3-none-any.whl";
  file.project = project;
  file.version = "1";
  file.key = "d/" + file.filename;
  file.metadata_sha256 = sha256(project);
  return file;
}

std::string order_of(store::ObjectReader& store, const std::vector<registry::FileRecord>& files) {
  std::vector<index::Page> pages;
  for (const auto& file : files) pages.push_back({"simple/" + file.project + "/index.html", "", "text/html"});
  auto sorted = dependencies_first(store, files, pages);
  EXPECT_TRUE(sorted) << render(sorted.error());
  std::string order;
  for (const auto& page : pages) order += page.key.substr(7, page.key.size() - 18) + " ";
  return order;
}

void put(store::ObjectStore& store, const registry::FileRecord& file, std::string metadata) {
  ASSERT_TRUE(store.put(file.key + ".metadata", content::Rope::literal(std::move(metadata)), {}));
}

TEST(PageOrder, IsThatOfTheDependencies) {
  auto store = store::make_memory_store();
  auto torch = wheel("torch"), rocm = wheel("zrocm");
  put(*store, torch, "Metadata-Version: 2.1\nName: torch\nVersion: 1\nRequires-Dist: zrocm==1\n");
  put(*store, rocm, "Metadata-Version: 2.1\nName: zrocm\nVersion: 1\n");
  EXPECT_EQ(order_of(*store, {torch, rocm}), "zrocm torch ");
}

// Somebody put a file of 17 MiB where the metadata of a wheel belongs. The order is best effort: pages are written.
TEST(PageOrder, DoesNotFailBecauseOfMetadataThatIsTooLong) {
  auto store = store::make_memory_store();
  auto torch = wheel("torch"), rocm = wheel("zrocm");
  put(*store, torch, std::string(dist::k_metadata_bytes_max + 1, 'x'));
  EXPECT_EQ(order_of(*store, {torch, rocm}), "torch zrocm ");
}

} // namespace
} // namespace quarry::pages
