#include <string>

#include "explorer/explore.h"

namespace warpcheck {

namespace {

[[noreturn]] void refuse(size_t step, const std::string& why) {
  throw InputError("step " + std::to_string(step + 1) + " of the schedule: " + why);
}

void take(Machine& machine, const Choice& choice, size_t step) {
  const AgentId agent = machine.agent(choice.agent);
  const Transition& pending = machine.pending(agent);
  switch (pending.status) {
    case Transition::Status::kAbsent: refuse(step, machine.name(agent) + " does not exist there");
    case Transition::Status::kBlocked: refuse(step, machine.name(agent) + " waits there");
    case Transition::Status::kFinished: refuse(step, machine.name(agent) + " has finished there");
    case Transition::Status::kEnabled: break;
  }
  if (choice.choice >= pending.op.choices) {
    refuse(step, "found choice " + std::to_string(choice.choice) + ", expected less than " +
                     std::to_string(pending.op.choices));
  }
  machine.step(agent, choice.choice);
}

bool any_enabled(const Machine& machine) {
  for (AgentId agent : machine.agents()) {
    if (machine.pending(agent).status == Transition::Status::kEnabled) return true;
  }
  return false;
}

}  // namespace

ReplayResult replay(const Program& program, const Schedule& schedule) {
  ReplayResult result;
  result.machine = program.make_machine();
  Machine& machine = *result.machine;
  machine.set_recording(true);
  machine.reset();
  for (size_t i = 0; i < schedule.size(); ++i) take(machine, schedule[i], i);
  result.finished = !any_enabled(machine);
  if (result.finished) machine.finish();
  result.events = machine.recording();
  result.findings.assign(machine.findings().begin(), machine.findings().end());
  return result;
}

}  // namespace warpcheck
