#pragma once
// For tests: a release of three small packages, made, published and sealed into a file store, and a Python environment
// to install it into. Everything is real but the size.
#include "base/text.hpp"
#include "codec/compression.hpp"
#include "content/rope.hpp"
#include "registry/registry.hpp"
#include "store/object_store.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/process.hpp"
#include "tar/tar.hpp"
#include "venv/environment.hpp"
#include "wheel/wheel.hpp"
#include <cstdlib>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

namespace quarry::venv::testing {

template <class T> T must(Result<T> result) {
  if (!result) ADD_FAILURE() << render(result.error());
  return std::move(result).value();
}
inline void must(Result<void> result) {
  if (!result) ADD_FAILURE() << render(result.error());
}

/// The variables of this process that programs need.
inline Variables machine_variables() {
  Variables variables;
  for (const char* name : {"PATH", "HOME", "PYENV_ROOT", "LANG"})
    if (const char* value = std::getenv(name)) variables[name] = value;
  return variables;
}

inline bool have_uv() {
  auto variables = machine_variables();
  return !sys::find_program("uv", variables["PATH"]).empty();
}

class Scratch {
public:
  Scratch() : path(must(sys::make_temporary_directory(::testing::TempDir(), "venv-"))) {}
  ~Scratch() { static_cast<void>(sys::remove_tree(path)); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::string at(const std::string& name) const { return path::join(path, name); }
  const std::string path;
};

/// The sdist's own backend, as small as can be: it zips src/ and adds what the release's facts say.
inline std::string backend_text() {
  return R"PY(import base64, hashlib, os, zipfile
VERSION = open("VERSION").read().strip()
INFO = "rocm-%s.dist-info" % VERSION
def get_requires_for_build_wheel(config_settings=None): return []
def build_wheel(directory, config_settings=None, metadata_directory=None):
    meta = ("Metadata-Version: 2.1\nName: rocm\nVersion: %s\nRequires-Dist: rocm-sdk-core==%s\n"
            "Provides-Extra: libraries\nRequires-Dist: rocm-sdk-libraries-gfx103x-dgpu==%s ; extra == 'libraries'\n") % (VERSION, VERSION, VERSION)
    files = {"rocm_sdk/__init__.py": open("src/rocm_sdk/__init__.py").read(),
             "rocm_sdk/_install_info.py": '"""Written when built."""\n\nTARGET_FAMILY = %r\n' % "gfx103X-dgpu",
             INFO + "/METADATA": meta, INFO + "/WHEEL": "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
             INFO + "/entry_points.txt": "[console_scripts]\nrocm-sdk = rocm_sdk:main\n"}
    record = ""
    for name, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        record += "%s,sha256=%s,%d\n" % (name, digest, len(text.encode()))
    files[INFO + "/RECORD"] = record + INFO + "/RECORD,,\n"
    name = "rocm-%s-py3-none-any.whl" % VERSION
    with zipfile.ZipFile(os.path.join(directory, name), "w") as z:
        for path, text in files.items(): z.writestr(path, text)
    return name
)PY";
}

/// `rocm-sdk test --json FILE`, and with TINY_SDK=printed… a `rocm-sdk test` without that flag: passes when core's file
/// is there, and does what TINY_SDK says.
inline std::string program_text() {
  return R"PY(import json, os, subprocess, sys, time
def printed(mode, site):  # as packages whose rocm-sdk knows no --json
    import unittest
    if "--json" in sys.argv:
        print("usage: rocm-sdk {command} ...\nrocm-sdk: error: unrecognized arguments: --json", sys.argv[-1], file=sys.stderr)
        return 2
    if mode == "printed-nothing": return 0
    class Core(unittest.TestCase):
        def test_file(self): self.assertTrue(os.path.exists(os.path.join(site, "_rocm_sdk_core", "lib", "libx.so")))
        def test_mode(self): self.assertEqual(mode, "printed")
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(Core)
    return 0 if unittest.TextTestRunner(stream=sys.stdout, verbosity=3).run(suite).wasSuccessful() else 1
def main():
    site = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    mode = os.environ.get("TINY_SDK", "")
    print("testing in", site)
    if mode == "hang":
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        time.sleep(600)
    if mode == "alter": open(os.path.join(site, "_rocm_sdk_core", "lib", "libx.so"), "a").write("!")
    if mode == "silent": return 0
    if mode.startswith("printed"): return printed(mode, site)
    core = os.path.exists(os.path.join(site, "_rocm_sdk_core", "lib", "libx.so"))
    rows = [{"name": "core.loads", "outcome": "passed" if core and mode != "fail" else "failed", "message": "" if mode != "fail" else "asked to", "seconds": 0.1},
            {"name": "gpu", "outcome": "skipped", "message": "no gpu", "seconds": 0}]
    counts = {"passed": 0, "failed": 0, "skipped": 0, "errors": 0}
    for row in rows: counts[{"error": "errors"}.get(row["outcome"], row["outcome"])] += 1
    with open(sys.argv[sys.argv.index("--json") + 1], "w") as f:
        json.dump({"schema": "rocm-sdk.test/1", "version": "1", "counts": counts, "rows": rows}, f)
    return 3 if mode == "lie" else 1 if counts["failed"] else 0
)PY";
}

struct Release {
  std::string version = "1.0";
  std::string flavour = "a"; ///< other bytes under the same names
};

/// Builds the packages of a release into `directory`.
inline std::vector<std::string> build_packages(const std::string& directory, const Release& release) {
  must(sys::make_directories(directory));
  std::vector<std::string> paths;
  auto wheel = [&](const std::string& project, const std::string& tree, const std::string& file) {
    wheel::WheelSpec spec;
    spec.metadata.name = project;
    spec.metadata.version = release.version;
    spec.tags.platform = "linux_x86_64";
    spec.members.push_back(
        {tree + "/__init__.py", content::Rope::literal("VALUE = '" + release.flavour + "'\n"), false});
    spec.members.push_back(
        {"_" + tree + "/lib/" + file, content::Rope::literal(std::string(100'000, 'x') + release.flavour), false});
    paths.push_back(must(wheel::pack(spec, directory, {})).path);
  };
  wheel("rocm-sdk-core", "rocm_sdk_core", "libx.so");
  wheel("rocm-sdk-libraries-gfx103x-dgpu", "rocm_sdk_libraries_gfx103x_dgpu", "liby.so");
  std::string packed;
  auto compressor =
      codec::Compressor::create(codec::Compression::gzip, 1, [&](std::span<const std::byte> bytes) -> Result<void> {
        packed.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return {};
      });
  tar::Writer tar([&](std::span<const std::byte> bytes) { return compressor->write(bytes); });
  auto top = "rocm-" + release.version;
  auto add = [&](const std::string& path, const std::string& text) {
    must(tar.file(top + "/" + path, content::Rope::literal(text), false));
  };
  must(tar.directory(top));
  add("PKG-INFO", "Metadata-Version: 2.2\nName: rocm\nVersion: " + release.version + "\nDynamic: Requires-Dist\n");
  add("VERSION", release.version + "\n");
  add("backend.py", backend_text());
  add("pyproject.toml", "[build-system]\nrequires = []\nbuild-backend = 'backend'\nbackend-path = ['.']\n");
  add("src/rocm_sdk/__init__.py", program_text() + "# " + release.flavour + "\n");
  must(tar.finish());
  must(compressor->finish());
  paths.push_back(path::join(directory, top + ".tar.gz"));
  must(sys::write_file(paths.back(), packed));
  return paths;
}

/// A file store, and releases in it.
class TinyStore {
public:
  explicit TinyStore(const std::string& root_directory)
      : root(root_directory), store(must(store::open_file_store(root))) {}

  /// Publishes as `{run}-linux/python/g`; the digest of the set.
  std::string publish(const std::string& run, const Release& release, bool seal = true) {
    Scratch scratch;
    registry::SetRecord set;
    set.directory = run + "-linux/python/g";
    set.origin.platform = Platform::linux;
    set.origin.run_id = run;
    set.origin.group = "gfx103X-dgpu";
    for (const auto& path : build_packages(scratch.path, release)) {
      registry::FileRecord file;
      file.filename = path::basename(path);
      auto name = must(dist::DistributionName::parse(file.filename));
      file.project = name.project.str();
      file.version = name.version.str();
      auto rope = must(content::Rope::file(path));
      file.size = rope.size();
      file.sha256 = must(content::sha256_of(rope));
      file.upload_time = "2026-11-21T10:00:00.000000Z";
      file.key = set.directory + "/dist/" + file.filename;
      must(store->put(file.key, rope, {}));
      set.files.push_back(std::move(file));
    }
    std::sort(set.files.begin(), set.files.end(), [](const auto& a, const auto& b) { return a.filename < b.filename; });
    auto digest = must(registry::put_set(*store, set));
    if (seal)
      must(registry::seal(*store, digest,
                          *sys::Timestamp::parse(fmt::format("2026-11-21T10:00:0{}.000000Z", seals_++))));
    return digest.hex();
  }

  /// A channel with these sets, in its first generation.
  void channel(const std::string& name, const std::vector<std::string>& digests) {
    std::vector<registry::SealedSet> sets;
    for (const auto& digest : digests) sets.push_back(must(registry::load_sealed(*store, digest)));
    auto view = must(registry::make_view(sets));
    must(registry::put_view(*store, view));
    registry::LedgerRecord move;
    move.channel = name;
    move.action = registry::Action::publish;
    move.to_view = view.digest;
    move.who = "test";
    move.when = *sys::Timestamp::parse("2026-11-21T10:00:00.000000Z");
    move.generation = 1;
    registry::ChannelRecord record{.name = name,
                                   .generation = 1,
                                   .view = view.digest,
                                   .previous = {},
                                   .ledger = must(registry::put_ledger(*store, move))};
    must(registry::swap_channel(*store, std::nullopt, record));
  }

  std::string file(const std::string& run, const std::string& name) const {
    return path::join(root, run + "-linux/python/g/dist/" + name);
  }

  const std::string root;
  std::unique_ptr<store::ObjectStore> store;

private:
  int seals_ = 0;
};

inline void copy_tree(const std::string& from, const std::string& to) {
  sys::ProcessSpec copy;
  copy.argv = {"cp", "-a", from, to};
  copy.environment = machine_variables();
  EXPECT_EQ(must(sys::run_process(copy)).exit_code, 0);
}

/// An environment with pip, made once and copied: `python -m venv` takes seconds.
inline std::string fresh_environment(const std::string& directory) {
  static Scratch scratch;
  static auto original = must(create_environment({scratch.at("env"), "", false, false}, machine_variables()));
  copy_tree(original.environment.directory, directory);
  return directory;
}

inline void append(const std::string& path, const std::string& text) {
  auto file = must(sys::File::open_append(path));
  must(file.write(text));
}

} // namespace quarry::venv::testing
