import { agentCommand } from './commands/agent.ts';
import { createWorkCommand } from './commands/create-work.ts';
import { demoCommand } from './commands/demo.ts';
import { describeWorkCommand } from './commands/describe-work.ts';
import { getWorksCommand } from './commands/get-works.ts';
import { hubCommand } from './commands/hub.ts';
import { planCommand } from './commands/plan.ts';
import { validateCommand } from './commands/validate.ts';
import { explainCommand } from './commands/explain.ts';
import { simulateCommand } from './commands/simulate.ts';
import { testCommand } from './commands/test.ts';
import { historyCommand } from './commands/history.ts';
import { reconcileCommand } from './commands/reconcile.ts';
import { releaseCommand } from './commands/release.ts';
import { replayCommand } from './commands/replay.ts';
import { serveCommand } from './commands/serve.ts';
import { statusCommand } from './commands/status.ts';
import { versionCommand } from './commands/version.ts';
import type { CliCommand } from './cli-command.ts';

/** Every `berth` command, in the order of `berth --help`. */
export const COMMANDS: readonly CliCommand[] = [
  // One per line, so that branches which each add a command merge.
  demoCommand,
  agentCommand,
  createWorkCommand,
  describeWorkCommand,
  getWorksCommand,
  hubCommand,
  explainCommand,
  simulateCommand,
  testCommand,
  planCommand,
  serveCommand,
  statusCommand,
  historyCommand,
  replayCommand,
  releaseCommand,
  reconcileCommand,
  validateCommand,
  versionCommand,
];
