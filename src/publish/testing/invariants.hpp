#pragma once
// What must hold in a store at every moment, whoever was killed where. For tests.
#include "base/text.hpp"
#include "index/read_page.hpp"
#include "registry/registry.hpp"
#include "store/object_store.hpp"
#include "sys/path.hpp"
#include <gtest/gtest.h>
#include <map>
#include <string>

namespace quarry::publish::testing {

using Snapshot = std::map<std::string, std::string>;

inline Snapshot snapshot(store::ObjectReader& store) {
  Snapshot all;
  auto objects = store.list("");
  EXPECT_TRUE(objects) << render(objects.error());
  for (const auto& object : *objects) {
    auto bytes = store.get(object.key, 1u << 26);
    EXPECT_TRUE(bytes && *bytes) << object.key;
    all[object.key] = **bytes;
  }
  return all;
}

inline std::string differences(const Snapshot& expected, const Snapshot& found) {
  std::string text;
  for (const auto& [key, bytes] : expected)
    if (!found.contains(key))
      text += "missing: " + key + "\n";
    else if (found.at(key) != bytes)
      text += "differs: " + key + "\n";
  for (const auto& [key, bytes] : found)
    if (!expected.contains(key)) text += "surplus: " + key + "\n";
  return text;
}

/// Every link on every page leads to an object with the bytes that it promises; every promised sidecar is there.
inline std::string broken_links(const Snapshot& store) {
  std::string text;
  for (const auto& [key, bytes] : store) {
    bool copy = key.ends_with('/');
    if (!key.ends_with("/index.html") && !copy) continue;
    if (copy && !store.contains(key + "index.html")) text += "a copy without its page: " + key + "\n";
    auto page = index::read_page({bytes, key});
    if (!page) {
      text += "unreadable page: " + key + "\n";
      continue;
    }
    auto directory = copy ? key.substr(0, key.size() - 1) : path::dirname(key);
    for (const auto& project : page->projects)
      if (!store.contains(directory + "/" + project + "/index.html"))
        text += key + " names the project " + project + "\n";
    for (const auto& file : page->files) {
      auto target = path::normal(directory + "/" + text::percent_decode(file.url));
      if (store.contains(target + "/index.html")) continue;
      auto found = store.find(target);
      if (found == store.end()) {
        text += key + " -> " + target + " is not there\n";
        continue;
      }
      if (!file.sha256() || *file.sha256() != sha256(found->second))
        text += key + " -> " + target + " has other bytes\n";
      if (file.core_metadata.empty()) continue;
      auto sidecar = store.find(target + ".metadata");
      if (sidecar == store.end() || file.core_metadata != "sha256=" + sha256(sidecar->second).hex())
        text += key + " -> " + target + ".metadata is wrong\n";
    }
  }
  return text;
}

/// Where a store keeps keys that end in a slash, every HTML page has a copy there, when nobody writes.
inline std::string broken_copies(const Snapshot& store) {
  std::string text;
  for (const auto& [key, bytes] : store) {
    if (!key.ends_with("/index.html") || bytes.starts_with('{')) continue;
    auto copy = store.find(key.substr(0, key.size() - std::string_view("index.html").size()));
    if (copy == store.end())
      text += "no copy: " + key + "\n";
    else if (copy->second != bytes)
      text += "another copy: " + key + "\n";
  }
  return text;
}

/// A seal stands only over complete content, a channel only over records that are there.
inline std::string broken_records(store::ObjectReader& store, const Snapshot& all) {
  std::string text;
  for (const auto& [key, bytes] : all) {
    if (key.find("/seals/") == std::string::npos) continue;
    auto sealed = registry::load_sealed(store, key.substr(key.size() - 69, 64));
    if (!sealed) {
      text += key + ": " + sealed.error().message + "\n";
      continue;
    }
    for (const auto& file : sealed->set.files) {
      auto found = all.find(file.key);
      if (found == all.end() || sha256(found->second) != file.sha256)
        text += key + " seals " + file.key + ", which is not there\n";
    }
  }
  auto channels = registry::list_channels(store);
  if (!channels) return text + channels.error().message;
  for (const auto& name : *channels) {
    auto resolved = registry::resolve_channel(store, name);
    if (!resolved) text += name + ": " + resolved.error().message + "\n";
    auto channel = registry::require_channel(store, name);
    if (auto chain = registry::ledger_chain(store, channel->record); !chain)
      text += name + ": " + chain.error().message + "\n";
  }
  return text;
}

inline std::string violations(store::ObjectReader& store) {
  auto all = snapshot(store);
  return broken_links(all) + broken_records(store, all);
}

} // namespace quarry::publish::testing
