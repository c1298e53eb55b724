#pragma once
// Wiring: reads the environment, builds the real clock, resources and streams, runs the engine.

namespace quarry::app {

/// The exit code of the process. Nothing thrown leaves it: an exception is a bug and becomes exit code 11.
int run(int argc, char** argv);

} // namespace quarry::app
