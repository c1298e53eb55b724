#include "app/app.hpp"

int main(int argc, char** argv) { return quarry::app::run(argc, argv); }
