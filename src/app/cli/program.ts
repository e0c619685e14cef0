import type { CliIo, ExitCode } from '../terminal/cli-io.ts';
import { createAddonCommand } from './commands/addons/create-addon.ts';
import { disableAddonCommand, enableAddonCommand } from './commands/addons/enable-addon.ts';
import { installHubAddonCommand, uninstallHubAddonCommand } from './commands/addons/hub-addon.ts';
import { renderAddonCommand } from './commands/addons/render-addon.ts';
import { agentCommand } from './commands/agent.ts';
import { argocdDoctorCommand } from './commands/argocd/doctor.ts';
import { argocdInstallCommand } from './commands/argocd/install.ts';
import { argocdRenderCommand } from './commands/argocd/render.ts';
import { argocdRunCommand } from './commands/argocd/run.ts';
import { acceptCommand } from './commands/clusters/accept.ts';
import { clusterSetCommand } from './commands/clustersets/clusterset.ts';
import { dashboardCommand } from './commands/controller/dashboard.ts';
import { releaseCommand } from './commands/controller/release.ts';
import { serveCommand } from './commands/controller/serve.ts';
import { reconcileCommand, statusCommand } from './commands/controller/status.ts';
import { completionCommand } from './commands/completion.ts';
import { demoCommand } from './commands/demo/demo.ts';
import { historyCommand } from './commands/history/history.ts';
import { replayCommand } from './commands/history/replay.ts';
import { hubCommand } from './commands/hub/hub.ts';
import { cleanCommand } from './commands/installation/clean.ts';
import { getHubInfoCommand } from './commands/installation/get-hub-info.ts';
import { getTokenCommand } from './commands/installation/get-token.ts';
import { initCommand } from './commands/installation/init.ts';
import { joinCommand } from './commands/installation/join.ts';
import { unjoinCommand } from './commands/installation/unjoin.ts';
import { mcpCommand } from './commands/mcp/mcp.ts';
import { explainCommand } from './commands/placements/explain.ts';
import {
  getAddonsCommand,
  getClustersCommand,
  getClusterSetsCommand,
  getDecisionsCommand,
  getHoldsCommand,
  getPlacementsCommand,
  getRolloutsCommand,
  getSourcesCommand,
  getWorksCommand,
} from './commands/objects/get-more.ts';
import { simulateCommand } from './commands/placements/simulate.ts';
import { testCommand } from './commands/placements/test.ts';
import { previewDoctorCommand } from './commands/preview/doctor.ts';
import { previewInstallCommand } from './commands/preview/install.ts';
import { accountCommands } from './commands/proxy/accounts.ts';
import { credentialsCommand } from './commands/proxy/credentials.ts';
import { gatewayCommand } from './commands/proxy/gateway.ts';
import { proxyCommands } from './commands/proxy/proxy.ts';
import { runCommands } from './commands/run-commands.ts';
import { scoreProviderCommand, scoreProviderPrometheusCommand } from './commands/score-provider.ts';
import { planCommand } from './commands/sources/plan.ts';
import { snapshotCommand } from './commands/sources/snapshot.ts';
import { validateCommand } from './commands/sources/validate.ts';
import { versionCommand } from './commands/version.ts';
import type { CliCommand } from './commands/cli-command.ts';
import { createWorkCommand } from './commands/works/create-work.ts';

/** Runs `berth ARGS`. Never throws: a failure is printed to stderr and becomes exit code 1. */
export function runCli(args: readonly string[], io: CliIo): Promise<ExitCode> {
  return runCommands(COMMANDS, args, io, GROUPS);
}

/** The groups of `berth --help`, each with its commands. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'Begin:': ['demo', 'init', 'join', 'accept'],
  'Look at a fleet:': ['status', 'dashboard', 'get', 'describe', 'explain', 'history'],
  'Check and preview changes in Git:': ['validate', 'test', 'plan', 'preview', 'snapshot'],
  'Act on a hub:': [
    'release',
    'reconcile',
    'create',
    'clusterset',
    'addon',
    'install',
    'uninstall',
    'unjoin',
    'clean',
  ],
  'Run:': ['serve', 'agent', 'hub', 'accounts', 'gateway', 'score-provider', 'argocd', 'mcp'],
  'More:': ['replay', 'simulate', 'completion', 'credentials', 'version'],
};

/** Every `berth` command, in the order of `berth --help`. */
export const COMMANDS: readonly CliCommand[] = [
  // One per line, so that branches that each add a command merge without conflicts.
  demoCommand,
  agentCommand,
  scoreProviderCommand,
  scoreProviderPrometheusCommand,
  argocdDoctorCommand,
  argocdInstallCommand,
  argocdRenderCommand,
  argocdRunCommand,
  createAddonCommand,
  enableAddonCommand,
  disableAddonCommand,
  renderAddonCommand,
  installHubAddonCommand,
  uninstallHubAddonCommand,
  createWorkCommand,
  getAddonsCommand,
  getClustersCommand,
  getClusterSetsCommand,
  getPlacementsCommand,
  getDecisionsCommand,
  getHoldsCommand,
  getRolloutsCommand,
  getSourcesCommand,
  getWorksCommand,
  clusterSetCommand,
  initCommand,
  getTokenCommand,
  getHubInfoCommand,
  joinCommand,
  acceptCommand,
  unjoinCommand,
  cleanCommand,
  hubCommand,
  explainCommand,
  simulateCommand,
  testCommand,
  planCommand,
  snapshotCommand,
  previewInstallCommand,
  previewDoctorCommand,
  serveCommand,
  dashboardCommand,
  statusCommand,
  proxyCommands,
  accountCommands,
  gatewayCommand,
  credentialsCommand,
  historyCommand,
  mcpCommand,
  replayCommand,
  releaseCommand,
  reconcileCommand,
  validateCommand,
  completionCommand,
  versionCommand,
];
