#include "inspect/module_names.hpp"
#include <gtest/gtest.h>
#include <string>

namespace quarry::inspect {
namespace {

TEST(ModuleNames, AreMissingOnlyWhereNothingCouldMakeThem) {
  for (const std::string source : {
           "",
           "def mian():\n  pass\n",
           "import logging\nlog = logging.getLogger(__name__)\nclass Main: pass\n",
           "from os import path as main_path\nif __name__ == '__main__':\n  run()\n",
           "x = 2 * 3\ny = [*range(3)]\n",
           "main_ = _main = main2 = 1  # Main\n",
       })
    EXPECT_TRUE(surely_lacks(source, "main")) << source;
}

TEST(ModuleNames, AnyDoubtCounts) {
  for (const std::string source : {
           "def main(): pass\n",
           "from .cli import main\n",
           "# main\n",
           "x = 'main'\n",
           "try:\n  pass\nexcept E as main:\n  pass\n",
           "from .cli import *\n",
           "from .cli import\t*\n",
           "globals()['ma' + 'in'] = 1\n",
           "def __getattr__(name): return 1\n",
           "import sys\nsys.modules[__name__] = object()\n",
           "exec(open('x').read())\n",
           "import lazy\nlazy.attach(__name__, [])\n",
           "import lazy\nlazy.attach(getLogger(__name__))\nlazy.attach(x, __name__)\n",
           "vars().update(x)\n",
           "name = 'm\xc3\xa4in'\n",
       })
    EXPECT_FALSE(surely_lacks(source, "main")) << source;
  EXPECT_FALSE(surely_lacks("", "__doc__"));
  EXPECT_FALSE(surely_lacks("", "m\xc3\xa4in"));
  EXPECT_FALSE(surely_lacks("", ""));
}

} // namespace
} // namespace quarry::inspect
