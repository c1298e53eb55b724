#include "trial/device_code.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::trial {
namespace {

using ::testing::HasSubstr;

struct Case {
  std::vector<std::string> installed, packages, offered;
  std::string lacks = {}; ///< empty: nothing
};

std::string judged(const Case& about) {
  std::vector<venv::InstalledFile> files;
  for (const auto& project : about.installed) {
    venv::InstalledFile file;
    file.project = project, file.version = "7.2.0";
    files.push_back(std::move(file));
  }
  std::vector<venv::Offered> offered;
  for (const auto& project : about.offered) {
    auto end = project.find('=');
    registry::FileRecord file;
    file.project = project.substr(0, end);
    file.version = end == project.npos ? "7.2.0" : project.substr(end + 1);
    offered.push_back({file, "", {}});
  }
  std::vector<venv::OtherDistribution> others{{"pip", "24"}};
  EXPECT_TRUE(check_device_code({files, others, about.packages, offered, "cpu"})) << "it is about no GPU";
  auto checked = check_device_code({files, others, about.packages, offered, ""});
  return checked ? "" : render(checked.error());
}

TEST(DeviceCode, LibrariesOfEveryGpuNeedTheCodeOfOne) {
  const Case sound[] = {
      {{"rocm", "rocm-sdk-libraries", "rocm-sdk-device-gfx942"}, {"rocm[libraries,device-gfx942]"}, {}},
      {{"rocm", "rocm-sdk-libraries", "rocm-sdk-device-gfx942"}, {}, {"rocm-sdk-device-gfx1030"}},
      {{"rocm", "rocm-sdk-libraries"}, {"rocm[libraries]"}, {}},                         // no source has any
      {{"rocm", "rocm-sdk-libraries"}, {}, {"rocm-sdk-device-gfx942=7.3.0"}},            // of another release
      {{"rocm", "rocm-sdk-libraries-gfx94x-dcgpu"}, {}, {"rocm-sdk-device-gfx942"}},     // they hold their own
      {{"rocm", "rocm-sdk-core"}, {}, {"rocm-sdk-libraries", "rocm-sdk-device-gfx942"}}, // no library is tested
      {{"rocm", "rocm-sdk-libraries"}, {"rocm[libraries,device-all]", "./local.whl"}, {}}};
  for (const auto& about : sound) EXPECT_EQ(judged(about), "");
  const Case lacking[] = {
      {{"rocm", "rocm-sdk-libraries"}, {"rocm[libraries,device-gfx1030]"}, {}, "rocm-sdk-device-gfx1030"},
      {{"rocm", "rocm-sdk-libraries", "rocm-sdk-device-gfx942"},
       {"rocm[Device_GFX1030,device-gfx942]"},
       {},
       "rocm-sdk-device-gfx1030"},
      {{"rocm", "rocm-sdk-libraries"}, {"rocm[libraries]"}, {"rocm-sdk-device-gfx942"}, "rocm-sdk-device-gfx942"}};
  for (const auto& about : lacking) {
    auto said = judged(about);
    EXPECT_THAT(said, HasSubstr("X031"));
    EXPECT_THAT(said, HasSubstr("not tested  " + about.lacks));
    EXPECT_THAT(said, HasSubstr(&about == &lacking[2] ? "no device code is installed, so no GPU can be tested"
                                                      : "the device code that was asked for is not installed"));
  }
}

} // namespace
} // namespace quarry::trial
