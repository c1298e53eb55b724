#include "wheel/installed.hpp"

#include "wheel/installed_place.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::wheel {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

using Paths = std::set<std::string, std::less<>>;

struct InstalledWheel {
  Paths files = {}, directories = {};
  std::vector<dist::EntryPoint> entry_points = {};
  std::string file_name = "Foo.Bar-1.0-py3-none-any.whl";

  Findings findings() const {
    auto name = dist::WheelName::parse(file_name).value();
    Findings found;
    DistInfoCheck check{file_name, name, name.dist_info(), {}, files, directories};
    check_paths(check, found);
    check_installed(check, entry_points, found);
    return found;
  }
  /// "W018" for an error, "w018" for a warning, each once in order.
  std::vector<std::string> codes() const {
    std::vector<std::string> codes;
    for (const auto& f : findings()) {
      auto code = f.code;
      if (f.severity != Severity::error) code[0] = 'w';
      if (codes.empty() || codes.back() != code) codes.push_back(code);
    }
    return codes;
  }
};

std::string in_data(const std::string& path) { return "Foo.Bar-1.0.data/" + path; }
dist::EntryPoint console(const std::string& name) { return {"console_scripts", name, "foo", "main"}; }
dist::EntryPoint gui(const std::string& name) { return {"gui_scripts", name, "foo", "main"}; }

using Codes = std::vector<std::string>;

TEST(Installed, TwoMembersForOnePlaceAreRefused) {
  for (const auto& [one, other] : std::vector<std::pair<std::string, std::string>>{
           {"foo/a.py", in_data("purelib/foo/a.py")},
           {"foo/a.py", in_data("platlib/foo/a.py")},
           {"foo/a.py", in_data("platlib/Foo/A.py")},
           {"caf\xC3\xA9.py", in_data("platlib/cafe\xCC\x81.py")},
           {"foo", in_data("purelib/foo/a.py")},
           {in_data("purelib/foo"), in_data("platlib/foo/a.py")},
           {in_data("purelib/a.py"), in_data("platlib/a.py")},
           {"foo/a.py", in_data("data/lib/python3.12/site-packages/foo/a.py")},
           {"foo/a.py", in_data("data/lib64/python3.12/site-packages/foo/a.py")},
           {"foo/a.py", in_data("data/Lib/site-packages/foo/a.py")},
           {"foo/a.py", in_data("data/local/lib/python3.12/dist-packages/foo/a.py")},
           {"foo/a.py", in_data("data/Python312/site-packages/foo/a.py")},
           {"foo/a.py", in_data("data/lib/pypy3.10/site-packages/foo/a.py")},
           {in_data("scripts/run"), in_data("data/bin/run")},
           {in_data("scripts/run"), in_data("data/Scripts/RUN")},
           {in_data("scripts/run"), in_data("data/bin/RUN")},
           {in_data("headers/a.h"), in_data("data/include/site/python3.12/foo_bar/a.h")},
           {in_data("headers/a.h"), in_data("data/include/python3.12/Foo.Bar/a.h")},
           {in_data("data/lib/x.so"), in_data("data/lib64/x.so")},
       }) {
    InstalledWheel wheel{{one, other}};
    EXPECT_EQ(wheel.codes(), Codes{"W018"}) << one << " " << other << "\n" << render(wheel.findings());
  }
}

TEST(Installed, TheMessageNamesBothMembers) {
  auto found = InstalledWheel{{"foo/a.py", in_data("purelib/foo/a.py")}}.findings();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].place, "Foo.Bar-1.0-py3-none-any.whl!Foo.Bar-1.0.data/purelib/foo/a.py");
  EXPECT_THAT(found[0].message, HasSubstr("foo/a.py and it are installed as one file in site-packages"));
}

TEST(Installed, PlacesSideBySideAreFine) {
  InstalledWheel wheel{{"foo/__init__.py", "foo/a.py", in_data("purelib/foo/b.py"), in_data("platlib/foo/c.so"),
                        in_data("data/share/foo/a.py"), in_data("data/lib/libx.so"),
                        in_data("data/include/foo_bar/a.h"), in_data("headers/a.h"), in_data("scripts/run"),
                        in_data("data/bin/tool"),
                        in_data("data/share/venv/lib/python3.12/site-packages/six-1.dist-info/METADATA"),
                        "foo/_vendor/six-1.dist-info/METADATA", "Foo.Bar-1.0.dist-info/METADATA"},
                       {"foo/", in_data(""), in_data("purelib/"), in_data("purelib/foo/"), in_data("platlib/foo/"),
                        in_data("data/bin/")},
                       {console("foo"), gui("foo-gui"), {"other", "foo", "foo", ""}}};
  EXPECT_THAT(render(wheel.findings()), IsEmpty());
}

TEST(Installed, ScriptsShareTheirDirectoryWithEntryPoints) {
  const std::string linux_wheel = "Foo.Bar-1.0-py3-none-linux_x86_64.whl";
  EXPECT_EQ((InstalledWheel{{in_data("scripts/foo")}, {}, {console("foo")}}.codes()), Codes{"W018"});
  EXPECT_EQ((InstalledWheel{{in_data("scripts/FOO")}, {}, {gui("foo")}}.codes()), Codes{"W018"});
  EXPECT_EQ((InstalledWheel{{in_data("scripts/foo.exe")}, {}, {gui("foo")}}.codes()), Codes{"W018"});
  EXPECT_EQ((InstalledWheel{{in_data("scripts/foo.exe")}, {}, {gui("foo")}, linux_wheel}.codes()), Codes{"W018"});
  EXPECT_EQ((InstalledWheel{{in_data("scripts/foo-script.py")}, {}, {gui("foo")}}.codes()), Codes{"W018"});
  EXPECT_EQ((InstalledWheel{{in_data("data/bin/foo")}, {}, {console("foo")}}.codes()), Codes{"W018"});
  EXPECT_EQ((InstalledWheel{{}, {}, {console("foo"), gui("foo")}}.codes()), Codes{"W018"});
  EXPECT_EQ((InstalledWheel{{}, {}, {console("foo"), console("Foo")}}.codes()), Codes{"W018"});
  EXPECT_EQ((InstalledWheel{{in_data("scripts/foo.py"), in_data("scripts/bar")}, {}, {console("foo")}}.codes()),
            Codes{});
  EXPECT_EQ((InstalledWheel{{in_data("data/scripts/foo")}, {}, {console("foo")}, linux_wheel}.codes()), Codes{});
}

TEST(Installed, AnotherProjectsMetadataIsRefused) {
  for (const char* path :
       {"purelib/Foo.Bar-1.0.dist-info/METADATA", "platlib/Foo.Bar-1.0.dist-info/RECORD",
        "purelib/bar-2.0.dist-info/METADATA", "platlib/bar-2.DIST-INFO/METADATA", "purelib/bar.egg-info/PKG-INFO",
        "purelib/bar.egg-info", "data/lib/python3.12/site-packages/bar-2.0.dist-info/METADATA",
        "data/Lib/site-packages/Foo.Bar-1.0.dist-info/entry_points.txt", "data/bar-2.0.dist-info/METADATA"}) {
    InstalledWheel wheel{{"foo.py", in_data(path)}};
    EXPECT_EQ(wheel.codes(), Codes{"W019"}) << path << "\n" << render(wheel.findings());
  }
  EXPECT_EQ((InstalledWheel{{"foo.py"}, {in_data("purelib/bar-2.0.dist-info/")}}.codes()), Codes{"W019"});
  EXPECT_EQ((InstalledWheel{{"foo.py", "bar.egg-info/PKG-INFO"}}.codes()), Codes{"w019"});
}

TEST(Installed, DirectoriesOfTheArchiveCount) {
  InstalledWheel wheel;
  for (const char* directory : {"bar-2.0.dist-info/", "bar-2.0.DIST-INFO/", "foo_bar-1.0.dist-info/"}) {
    wheel.directories = {directory};
    EXPECT_EQ(wheel.codes(), Codes{"W006"}) << directory;
  }
  for (const char* directory : {"bar-1.0.data/", "bar-1.0.data/purelib/", "Foo.Bar-1.0.data/etc/",
                                "Foo.Bar-1.0.data/scripts/sub/", "Foo.Bar-1.0.DATA/"}) {
    wheel.directories = {directory};
    EXPECT_EQ(wheel.codes(), Codes{"W011"}) << directory;
  }
  wheel.directories = {"Foo.Bar-1.0.dist-info/", in_data(""), in_data("scripts/"), "foo/"};
  EXPECT_EQ(wheel.codes(), Codes{});
  wheel.files = {"Foo.Bar-1.0.data"}; // a file
  wheel.directories = {};
  EXPECT_EQ(wheel.codes(), Codes{"W011"});
}

TEST(Installed, TheEnvironmentsOwnFilesAreNotReplaced) {
  for (const char* path : {"scripts/python", "scripts/python3", "scripts/Python3.12", "scripts/python.exe",
                           "scripts/pythonw.exe", "scripts/python3.13t", "scripts/pypy3", "data/bin/python3",
                           "data/BIN/python", "data/Scripts/python.exe", "data/pyvenv.cfg", "data/PyVenv.cfg"})
    EXPECT_EQ((InstalledWheel{{in_data(path)}}.codes()), Codes{"W020"}) << path;
  for (const char* path : {"scripts/activate", "data/bin/activate.fish", "data/Scripts/Activate.ps1"})
    EXPECT_EQ((InstalledWheel{{in_data(path)}}.codes()), Codes{"w020"}) << path;
  EXPECT_EQ((InstalledWheel{{}, {}, {console("activate")}}.codes()), Codes{"w020"});
  for (const char* path : {"scripts/python-config", "scripts/python3-tool", "scripts/pythonista", "scripts/activates",
                           "data/share/python", "data/etc/pyvenv.cfg"})
    EXPECT_EQ((InstalledWheel{{in_data(path)}}.codes()), Codes{}) << path;
}

TEST(Installed, DirectoriesOfScriptsAreRefusedAsUvDoes) {
  EXPECT_EQ((InstalledWheel{{in_data("scripts/sub/run")}}.codes()), Codes{"W011"});
  EXPECT_EQ((InstalledWheel{{in_data("data/bin/sub/run")}}.codes()), Codes{});
}

TEST(Installed, WindowsMustHaveTheNameWhereTheWheelMayGo) {
  for (const char* path : {"foo/__init__.py:evil", "foo/CON", "foo/aux.py", "foo/a?.py", "foo/x ", "foo./a", "nul/a.py",
                           "Foo.Bar-1.0.data/data/share/COM1.txt"}) {
    EXPECT_EQ((InstalledWheel{{path, "foo/a.py"}}.codes()), Codes{"W021"}) << path;
    for (const char* tag : {"win_amd64", "win32", "linux_x86_64.win_arm64"})
      EXPECT_EQ((InstalledWheel{{path}, {}, {}, std::string("Foo.Bar-1.0-cp312-cp312-") + tag + ".whl"}.codes()),
                Codes{"W021"});
    for (const char* tag : {"linux_x86_64", "manylinux_2_28_x86_64", "macosx_11_0_arm64"})
      EXPECT_EQ((InstalledWheel{{path}, {}, {}, std::string("Foo.Bar-1.0-cp312-cp312-") + tag + ".whl"}.codes()),
                Codes{});
  }
  EXPECT_EQ((InstalledWheel{{}, {"foo/", "foo/con/"}}.codes()), Codes{"W021"});
  EXPECT_EQ((InstalledWheel{{}, {}, {console("con")}}.codes()), Codes{"W021"});
  EXPECT_EQ((InstalledWheel{{}, {}, {console("a.")}}.codes()), Codes{"W021"});
  InstalledWheel many{{"con/a", "con/b", "con/c/d"}};
  EXPECT_EQ(many.findings().size(), 1u); // one for the directory, not one for each file in it
}

TEST(Installed, CopiesThatOnlyATargetDirectoryJoinsAreAWarning) {
  EXPECT_EQ((InstalledWheel{{"foo/a.txt", in_data("data/foo/a.txt")}}.codes()), Codes{"w018"});
  EXPECT_EQ((InstalledWheel{{in_data("purelib/foo/a.txt"), in_data("data/foo/a.txt")}}.codes()), Codes{"w018"});
}

TEST(Installed, FindingsAreBounded) {
  InstalledWheel wheel;
  for (int i = 0; i < 5000; ++i) {
    wheel.files.insert("foo/" + std::to_string(i));
    wheel.files.insert(in_data("purelib/foo/" + std::to_string(i)));
  }
  EXPECT_EQ(wheel.findings().size(), 100u);
}

TEST(Installed, PlacesAreThoseOfAVirtualEnvironment) {
  auto place = [](const std::string& member) {
    auto found = installed_place(member, {"x-1.data", "x", false});
    return found ? std::string(to_string(found->tree)) + ": " + found->path : "nowhere";
  };
  EXPECT_EQ(place("x-1.data"), "nowhere");
  EXPECT_EQ(place("x-1.data/purelib"), "nowhere");
  EXPECT_EQ(place("x-1.data/etc/a"), "nowhere");
  EXPECT_EQ(place("x-1.database/a"), "site-packages: x-1.database/a");
  EXPECT_EQ(place("x-1.data/purelib/a/b"), "site-packages: a/b");
  EXPECT_EQ(place("x-1.data/data/lib/python3.12/site-packages"),
            "the environment's directory: lib/python3.12/site-packages");
  EXPECT_EQ(place("x-1.data/data/lib/python3.12/site-packages/a"), "site-packages: a");
  EXPECT_EQ(place("x-1.data/data/bin"), "the environment's directory: bin");
  EXPECT_EQ(place("x-1.data/data/scripts/a"), "the environment's directory: scripts/a");
  EXPECT_EQ(place("x-1.data/data/include/site/python3.12/x/a/b.h"), "the headers directory: a/b.h");
  EXPECT_EQ(place("x-1.data/data/include/x/a.h"), "the environment's directory: include/x/a.h");
}

} // namespace
} // namespace quarry::wheel
