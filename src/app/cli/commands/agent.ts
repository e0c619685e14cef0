import { InputError } from '../../../core/errors.ts';
import { parseGoDuration } from '../../../core/model/go-duration.ts';
import type { CliCommand } from '../cli-command.ts';
import type { CliIo, ExitCode } from '../cli-io.ts';

interface AgentFlags {
  readonly hubKubeconfig?: string;
  readonly printRbac: boolean;
  readonly namespace: string;
  readonly kubeconfig?: string;
  readonly clusterName: string;
  readonly agentId?: string;
  readonly statusSyncInterval: string;
  readonly appliedmanifestworkEvictionGracePeriod: string;
  readonly workers: string;
  readonly maxWatches: string;
  readonly drift: string;
  readonly rawFeedback: boolean;
  readonly maxJsonRawLength: string;
  readonly logLevel: string;
}

const EXAMPLES = `
Examples:
  berth agent --hub-kubeconfig hub.kubeconfig --kubeconfig cluster1.kubeconfig --cluster-name cluster1
  berth agent --hub-kubeconfig /var/run/hub/kubeconfig --cluster-name edge-7 --drift resync   # in a pod of the managed cluster
  berth agent --print-rbac --cluster-name edge-7                  # the permissions it needs, each with its reason
`;

export const agentCommand: CliCommand = {
  register(program, run) {
    program
      .command('agent')
      .description('apply the ManifestWorks of one cluster and report back (runs until stopped)')
      .option('--hub-kubeconfig <file>', 'kubeconfig of the hub')
      .option(
        '--kubeconfig <file>',
        'kubeconfig of the managed cluster (default: KUBECONFIG, else in-cluster)',
      )
      .requiredOption('--cluster-name <name>', 'name of the managed cluster: its namespace on the hub')
      .option('--agent-id <id>', 'owner of the AppliedManifestWorks (default: hash of the hub URL)')
      .option('--status-sync-interval <duration>', 'how often objects that cannot be watched are read', '10s')
      .option(
        '--appliedmanifestwork-eviction-grace-period <duration>',
        'how long objects outlive a vanished work',
        '60m',
      )
      .option('--workers <n>', 'works applied at the same time', '10')
      .option('--max-watches <n>', 'watches on the managed cluster, one per kind and namespace', '200')
      .option('--drift <mode>', 'watch: correct when seen; resync: every 4 to 6 minutes', 'watch')
      .option('--raw-feedback', 'report objects, lists and fractions as JSON text', false)
      .option('--max-json-raw-length <n>', 'longest such text, in bytes', '1024')
      .option('--log-level <level>', 'debug, info, warn, error', 'info')
      .option('--print-rbac', 'print the roles that the agent needs, and exit', false)
      .option(
        '--namespace <name>',
        "with --print-rbac: namespace of the agent's service account",
        'open-cluster-management-agent',
      )
      .addHelpText('after', EXAMPLES)
      .action(run((io, flags: AgentFlags) => runAgent(io, flags)));
  },
};

async function runAgent(io: CliIo, flags: AgentFlags): Promise<ExitCode> {
  if (flags.printRbac) {
    const { renderAgentRbac } = await import('../../agent/agent-rbac.ts');
    io.stdout.write(renderAgentRbac(flags));
    return 0;
  }
  const { hubKubeconfig } = flags;
  if (hubKubeconfig === undefined)
    throw new InputError('is missing, expected the kubeconfig file of the hub', {
      code: 'cli.flag',
      subject: '--hub-kubeconfig',
    });
  const settings = {
    statusSyncIntervalMs: duration('--status-sync-interval', flags.statusSyncInterval),
    evictionGraceMs: duration(
      '--appliedmanifestwork-eviction-grace-period',
      flags.appliedmanifestworkEvictionGracePeriod,
    ),
    workers: count('--workers', flags.workers, 1),
    maxWatches: count('--max-watches', flags.maxWatches, 0),
    drift: oneOf('--drift', flags.drift, ['watch', 'resync'] as const),
    feedback: {
      rawJson: flags.rawFeedback,
      maxRawJsonBytes: count('--max-json-raw-length', flags.maxJsonRawLength, 1),
    },
  };
  const level = oneOf('--log-level', flags.logLevel, ['debug', 'info', 'warn', 'error'] as const);
  const { loadKubeConfig } = await import('../../../adapters/kube/load-kube-config.ts');
  const { HttpKubeApi } = await import('../../../adapters/kube/http-kube-api.ts');
  const { systemClock: clock } = await import('../../../adapters/clock/system-clock.ts');
  const { createLogger } = await import('../../../adapters/log/pino-logger.ts');
  const { ImpersonatingClients } = await import('../../agent/impersonating-clients.ts');
  const { startAgent } = await import('../../agent/start-agent.ts');
  const log = createLogger({ level, stream: io.stderr });
  const clusterConfig = loadKubeConfig(flags.kubeconfig === undefined ? {} : { file: flags.kubeconfig });
  const hub = new HttpKubeApi({ config: loadKubeConfig({ file: hubKubeconfig }), clock });
  const cluster = new HttpKubeApi({ config: clusterConfig, clock });
  const executors = new ImpersonatingClients(clusterConfig, clock);
  const agent = startAgent({
    ...settings,
    hub,
    cluster,
    clusterName: flags.clusterName,
    agentId: flags.agentId,
    clock,
    log,
    impersonate: (user) => executors.as(user),
    onEvent: ({ kind, ...fields }) => log.info(EVENT_TEXT[kind], fields),
  });
  log.info('agent started', { cluster: flags.clusterName, hub: hub.server, managed: cluster.server });
  void agent
    .whenSynced()
    .then(() => log.info('works and applied works are known', { cluster: flags.clusterName }));
  await aborted(io.signal);
  await agent.close();
  for (const client of [hub, cluster, executors]) client.close();
  return 0;
}

const EVENT_TEXT = {
  applied: 'work applied',
  failed: 'work cannot be applied',
  corrected: 'drift corrected',
  feedback: 'feedback changed',
  deleted: 'work deleted',
  evicted: 'work evicted',
} as const;

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

function duration(flag: string, text: string): number {
  const ms = parseGoDuration(text);
  if (ms !== undefined && ms > 0) return ms;
  throw flagError(flag, text, 'a positive duration such as 10s, 5m or 1h30m');
}

function count(flag: string, text: string, least: number): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw flagError(flag, text, `a whole number of at least ${least}`);
}

function oneOf<T extends string>(flag: string, text: string, values: readonly T[]): T {
  const found = values.find((value) => value === text);
  if (found !== undefined) return found;
  throw flagError(flag, text, `one of ${values.join(', ')}`);
}

function flagError(flag: string, got: string, expected: string): InputError {
  return new InputError(`got ${JSON.stringify(got)}, expected ${expected}`, {
    code: 'cli.flag',
    subject: flag,
  });
}
