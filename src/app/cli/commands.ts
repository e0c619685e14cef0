import { agentCommand } from './commands/agent.ts';
import { createWorkCommand } from './commands/create-work.ts';
import { describeWorkCommand } from './commands/describe-work.ts';
import { getWorksCommand } from './commands/get-works.ts';
import { hubCommand } from './commands/hub.ts';
import { planCommand } from './commands/plan.ts';
import { validateCommand } from './commands/validate.ts';
import { explainCommand } from './commands/explain.ts';
import { testCommand } from './commands/test.ts';
import { versionCommand } from './commands/version.ts';
import type { CliCommand } from './cli-command.ts';

/** Every `berth` command, in the order of `berth --help`. */
export const COMMANDS: readonly CliCommand[] = [
  // One per line, so that branches which each add a command merge.
  agentCommand,
  createWorkCommand,
  describeWorkCommand,
  getWorksCommand,
  hubCommand,
  explainCommand,
  testCommand,
  planCommand,
  validateCommand,
  versionCommand,
];
