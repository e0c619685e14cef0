import { agentCommand } from './commands/agent.ts';
import { argocdDoctorCommand } from './commands/argocd/doctor.ts';
import { argocdInstallCommand } from './commands/argocd/install.ts';
import { argocdRenderCommand } from './commands/argocd/render.ts';
import { createWorkCommand } from './commands/works/create-work.ts';
import { demoCommand } from './commands/demo/demo.ts';
import { describeWorkCommand } from './commands/works/describe-work.ts';
import { getWorksCommand } from './commands/works/get-works.ts';
import { hubCommand } from './commands/hub/hub.ts';
import { planCommand } from './commands/sources/plan.ts';
import { validateCommand } from './commands/sources/validate.ts';
import { explainCommand } from './commands/placements/explain.ts';
import { simulateCommand } from './commands/placements/simulate.ts';
import { testCommand } from './commands/placements/test.ts';
import { historyCommand } from './commands/history/history.ts';
import { reconcileCommand } from './commands/controller/reconcile.ts';
import { releaseCommand } from './commands/controller/release.ts';
import { replayCommand } from './commands/history/replay.ts';
import { serveCommand } from './commands/controller/serve.ts';
import { statusCommand } from './commands/controller/status.ts';
import { versionCommand } from './commands/version.ts';
import type { CliCommand } from './commands/cli-command.ts';

/** Every `berth` command, in the order of `berth --help`. */
export const COMMANDS: readonly CliCommand[] = [
  // One per line, so that branches which each add a command merge.
  demoCommand,
  agentCommand,
  argocdDoctorCommand,
  argocdInstallCommand,
  argocdRenderCommand,
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
