#include "version/dist_versions.hpp"

#include "sys/file.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quarry::version {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using Files = std::vector<std::string>;

const std::string k_tags = "-cp312-cp312-manylinux_2_28_x86_64.whl";

Files torch_wheels() {
  return {"apex-1.10.0+rocm7.12.0" + k_tags,       "torch-2.10.0+rocm7.12.0" + k_tags,
          "torchaudio-2.10.0+rocm7.12.0" + k_tags, "torchvision-0.25.0+rocm7.12.0" + k_tags,
          "triton-3.6.0+rocm7.12.0" + k_tags,      "numpy-2.3.0" + k_tags};
}

std::string code(const Result<DistVersions>& found) { return found ? "" : found.error().code; }

TEST(TorchVersions, HandsEveryProjectOn) {
  auto found = choose_versions({Framework::torch, {}, "", {}}, torch_wheels());
  ASSERT_TRUE(found) << render(found.error());
  EXPECT_THAT(found->outputs,
              ElementsAre(Pair("torch_version", "2.10.0+rocm7.12.0"), Pair("torchaudio_version", "2.10.0+rocm7.12.0"),
                          Pair("torchvision_version", "0.25.0+rocm7.12.0"), Pair("triton_version", "3.6.0+rocm7.12.0"),
                          Pair("apex_version", "1.10.0+rocm7.12.0")));
  EXPECT_EQ(found->wheels.front().file, "torch-2.10.0+rocm7.12.0" + k_tags);
}

TEST(TorchVersions, OnlyWindowsDoesWithoutTritonAndApex) {
  Files files = {"torch-2.10.0-cp312-cp312-win_amd64.whl", "torchaudio-2.10.0-cp312-cp312-win_amd64.whl",
                 "torchvision-0.25.0-cp312-cp312-win_amd64.whl"};
  auto found = choose_versions({Framework::torch, {}, "", {}}, files);
  ASSERT_TRUE(found) << render(found.error());
  EXPECT_THAT(found->absent, ElementsAre("triton", "apex"));
  EXPECT_EQ(found->outputs.size(), 3u);
  EXPECT_EQ(code(choose_versions({Framework::torch, Platform::linux, "", {}}, files)), "N015");
  EXPECT_EQ(code(choose_versions({Framework::torch, Platform::windows, "", {}}, torch_wheels())), "N015");
  EXPECT_EQ(code(choose_versions({Framework::torch, {}, "", {"tritn"}}, files)), "N015");
  files = torch_wheels();
  std::erase_if(files, [](const std::string& file) { return file.starts_with("triton"); });
  EXPECT_EQ(code(choose_versions({Framework::torch, Platform::linux, "", {}}, files)), "N010");
  EXPECT_TRUE(choose_versions({Framework::torch, Platform::linux, "", {"triton"}}, files));
}

TEST(TorchVersions, TwoCandidatesAreNamedBothWithTheOneThatWins) {
  auto files = torch_wheels();
  files.insert(files.begin(), "torch-2.9.1+rocm7.12.0" + k_tags);
  auto found = choose_versions({Framework::torch, {}, "", {}}, files);
  ASSERT_EQ(code(found), "N011");
  EXPECT_THAT(found.error().message, HasSubstr("of different versions"));
  EXPECT_THAT(found.error().details, ElementsAre("would be shipped  torch-2.10.0+rocm7.12.0" + k_tags,
                                                 HasSubstr("torch-2.9.1+rocm7.12.0" + k_tags)));
}

TEST(TorchVersions, ARawWheelBesideTheRepairedOneIsAmbiguous) {
  auto files = torch_wheels();
  files.push_back("torch-2.10.0+rocm7.12.0-cp312-cp312-linux_x86_64.whl");
  auto found = choose_versions({Framework::torch, {}, "", {}}, files);
  ASSERT_EQ(code(found), "N011");
  EXPECT_THAT(found.error().message, HasSubstr("repaired"));
  EXPECT_THAT(found.error().details.front(), HasSubstr("would be shipped  torch-2.10.0+rocm7.12.0" + k_tags));
}

TEST(TorchVersions, SeveralPythonsNeedAWord) {
  auto files = torch_wheels();
  files.push_back("torch-2.10.0+rocm7.12.0-cp311-cp311-manylinux_2_28_x86_64.whl");
  EXPECT_EQ(code(choose_versions({Framework::torch, {}, "", {}}, files)), "N011");
  EXPECT_EQ(code(choose_versions({Framework::torch, {}, "3.12", {}}, files)), "");
  EXPECT_EQ(code(choose_versions({Framework::torch, {}, "3.11", {}}, files)), "N010"); // torchaudio is for 3.12 only
}

TEST(TorchVersions, NamesThatAreNoWheelsAreRefused) {
  for (std::string bad : {"torch-2.10.0%2Brocm7.12.0" + k_tags, "torch-2.10.0_x!" + k_tags, std::string("torch.whl"),
                          std::string("torch-nightly-cp312-cp312-linux_x86_64.whl")}) {
    auto files = torch_wheels();
    files.push_back(bad);
    EXPECT_EQ(code(choose_versions({Framework::torch, {}, "", {}}, files)), "N012") << bad;
  }
  EXPECT_EQ(code(choose_versions({Framework::torch, {}, "", {}}, {})), "N010");
}

TEST(JaxVersions, TheVersionUpToThePlus) {
  Files files = {"jax_rocm7_pjrt-0.8.2+rocm7.12.0-py3-none-manylinux_2_28_x86_64.whl",
                 "jax_rocm7_plugin-0.8.2+rocm7.12.0" + k_tags, "jaxlib-0.8.2" + k_tags};
  auto found = choose_versions({Framework::jax, {}, "", {}}, files);
  ASSERT_TRUE(found) << render(found.error());
  EXPECT_THAT(found->outputs, ElementsAre(Pair("jax_version", "0.8.2")));
  EXPECT_EQ(found->wheels.size(), 3u);
  files.pop_back();
  EXPECT_THAT(choose_versions({Framework::jax, {}, "", {}}, files)->absent, ElementsAre("jaxlib"));
}

TEST(JaxVersions, WheelsThatDoNotBelongTogetherAreRefused) {
  auto pjrt = [](const char* version) { return std::string("jax_rocm7_pjrt-") + version + "-py3-none-any.whl"; };
  struct Row {
    Files files;
    const char* code;
  };
  for (const auto& row :
       {Row{{pjrt("0.8.2"), "jax_rocm7_plugin-0.8.3" + k_tags}, "N013"},
        Row{{pjrt("0.8.2"), "jax_rocm7_plugin-0.8.2" + k_tags, "jaxlib-0.8.1" + k_tags}, "N013"},
        Row{{pjrt("0.8.2"), "jax_rocm10_plugin-0.8.2" + k_tags}, "N013"},
        Row{{pjrt("0.8.2"), "jax_rocm7_plugin-0.8.2" + k_tags, "jax_rocm10_plugin-0.9.0" + k_tags}, "N011"},
        Row{{pjrt("0.8.2")}, "N010"}, Row{{"jax_rocm7_plugin-0.8.2" + k_tags}, "N010"},
        Row{{"jax_rocm_plugin-0.8.2" + k_tags, pjrt("0.8.2")}, "N010"}})
    EXPECT_EQ(code(choose_versions({Framework::jax, {}, "", {}}, row.files)), row.code) << row.files.back();
}

TEST(ListWheels, OnlyFilesCount) {
  auto place = *sys::make_temporary_directory(::testing::TempDir(), "dist-versions-");
  ASSERT_TRUE(sys::write_file(place + "/a-1-py3-none-any.whl", ""));
  ASSERT_TRUE(sys::write_file(place + "/notes.txt", ""));
  EXPECT_THAT(*list_wheels(place), ElementsAre("a-1-py3-none-any.whl"));
  ASSERT_TRUE(sys::make_directories(place + "/b-1-py3-none-any.whl"));
  EXPECT_EQ(list_wheels(place).error().code, "N012");
  ASSERT_TRUE(sys::make_directories(place + "/dist"));
  ASSERT_TRUE(sys::write_file(place + "/dist/c-1-py3-none-any.whl", ""));
  EXPECT_THAT(*list_wheels(place), ElementsAre("c-1-py3-none-any.whl"));
  EXPECT_FALSE(list_wheels(place + "/nowhere"));
  EXPECT_TRUE(sys::remove_tree(place));
}

} // namespace
} // namespace quarry::version
