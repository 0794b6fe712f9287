#include "frontends/cli/commands.h"

int main(int argc, char** argv) { return warpcheck::cli::run(argc, argv); }
