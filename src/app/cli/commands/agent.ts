import { type AgentPair, type RegisteringPair, secretPlace } from '@berth/agent/options/agent-pairs';
import type { AgentHealth } from '@berth/agent/agent-health';
import type { RunAgentsOptions } from '@berth/agent/run-agents';
import type { HttpListener } from '@berth/runtime/http/http-listener';
import type { Command } from 'commander';
import type { CliIo, ExitCode } from '../../terminal/cli-io.ts';
import { addLogFlags, type LogFlags, openLog } from '../flags/log-flags.ts';
import {
  keyValue,
  listenAddress,
  oneOf,
  positiveDuration,
  wholeNumber,
  wrongOption,
  wrongValue,
  checkListedKinds,
} from '../flags/option-values.ts';
import type { CliCommand } from './cli-command.ts';

/** The certificates API accepts ten minutes or more; OCM's agent requires at least an hour. */
const SHORTEST_CERTIFICATE_SECONDS = 3_600;

/** As OCM's agent has it: a year. */
const DEFAULT_TOKEN_SECONDS = 31_536_000;
/** The shortest lifetime of a token that an API server accepts. */
export const SHORTEST_TOKEN_SECONDS = 600;
export const ADDON_DRIVERS = ['csr', 'token'] as const;

interface AgentFlags extends RegistrationFlags, LogFlags {
  readonly hubKubeconfig?: string;
  readonly printRbac?: string | true;
  readonly kind?: readonly string[];
  readonly namespace: string;
  readonly clusters?: string;
  readonly statusSyncInterval: string;
  readonly appliedmanifestworkEvictionGracePeriod: string;
  readonly workers: string;
  readonly maxWatches: string;
  readonly drift: string;
  readonly executorCache: boolean;
  readonly rawFeedback: boolean;
  readonly maxJsonRawLength: string;
  readonly healthListen?: string;
}

const EXAMPLES = `
Exit codes: 0 stopped by a signal, 1 error.

Examples:
  berth agent --hub-kubeconfig hub.kubeconfig --kubeconfig cluster1.kubeconfig --cluster-name cluster1
  berth agent --hub-kubeconfig /var/run/hub/kubeconfig --cluster-name edge-7 --drift resync   # in a pod of the managed cluster
  berth agent --bootstrap-kubeconfig boot.kubeconfig --hub-kubeconfig-dir /var/lib/berth/hub --cluster-name edge-7
  berth agent --clusters fleet.yaml                                # many clusters, or many hubs, in one process
  berth agent --print-rbac=hub --cluster-name edge-7              # the agent's account and permissions on the hub
  berth agent --print-rbac=managed --kind apps/Deployment /Service   # permissions on the managed cluster, for works with these kinds
  berth agent --print-rbac=managed --bootstrap-kubeconfig boot.kubeconfig --hub-kubeconfig-secret open-cluster-management-agent/hub
`;

export const agentCommand: CliCommand = {
  register(program, run) {
    addLogFlags(addRegistrationFlags(program.command('agent')))
      .description('register a cluster, apply its ManifestWorks and report their status (runs until stopped)')
      .option('--hub-kubeconfig <file>', 'kubeconfig of the hub')
      .option(
        '--kubeconfig <file>',
        'kubeconfig of the managed cluster (default: KUBECONFIG, ~/.kube/config, in-cluster)',
      )
      .option('--cluster-name <name>', 'name of the managed cluster: its namespace on the hub')
      .option(
        '--clusters <file>',
        'a YAML list of several clusters: clusterName, hubKubeconfig, kubeconfig, agentId',
      )
      .option('--agent-id <id>', 'owner of the AppliedManifestWorks (default: hash of the hub URL)')
      .option('--status-sync-interval <duration>', 'how often objects that cannot be watched are read', '10s')
      .option(
        '--appliedmanifestwork-eviction-grace-period <duration>',
        'how long objects are kept after their work disappeared from the hub',
        '60m',
      )
      .option('--workers <n>', 'works applied at the same time', '10')
      .option(
        '--max-watches <n>',
        'the most watches on the managed cluster, one per kind and namespace',
        '200',
      )
      .option(
        '--drift <mode>',
        'when drift is corrected: watch: when it is seen; resync: every 4 to 6 minutes',
        'watch',
      )
      .option('--executor-cache', 'cache what executors may do; this watches RBAC objects', false)
      .option('--raw-feedback', 'report objects, lists and fractions as JSON text', false)
      .option('--max-json-raw-length <n>', 'longest such JSON text, in bytes', '1024')
      .option('--health-listen <host:port>', 'serve /healthz and /readyz, for the probes of a pod')
      .option(
        '--print-rbac [hub|managed]',
        'print the accounts and roles that the agent needs with these flags on the hub, on the managed cluster, or on both, and exit',
      )
      .option(
        '--kind <group/kind...>',
        'with --print-rbac: the kinds that works contain; /KIND for the core group',
      )
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
  if (flags.printRbac !== undefined) return printRbac(io, flags, flags.printRbac);
  if (flags.kind !== undefined) throw wrongOption('--kind', 'has no effect without --print-rbac');
  const pairs = await pairsOf(flags);
  const registration = registrationOptions(flags);
  const settings = {
    statusSyncIntervalMs: positiveDuration('--status-sync-interval', flags.statusSyncInterval),
    evictionGraceMs: positiveDuration(
      '--appliedmanifestwork-eviction-grace-period',
      flags.appliedmanifestworkEvictionGracePeriod,
    ),
    workers: wholeNumber('--workers', flags.workers, 1),
    maxWatches: wholeNumber('--max-watches', flags.maxWatches, 0),
    drift: oneOf('--drift', flags.drift, ['watch', 'resync'] as const),
    executorCache: flags.executorCache,
    feedback: {
      rawJson: flags.rawFeedback,
      maxRawJsonBytes: wholeNumber('--max-json-raw-length', flags.maxJsonRawLength, 1),
    },
  };
  const { systemClock: clock } = await import('@berth/runtime/clock/system-clock');
  const { runAgents } = await import('@berth/agent/run-agents');
  const { AgentHealth } = await import('@berth/agent/agent-health');
  const log = await openLog(io, flags);
  const health = new AgentHealth();
  const listener = await serveHealth(flags, health);
  if (listener !== undefined) log.info('health is served', { listen: listener.url });
  try {
    await runAgents({ pairs, settings, registration, env: io.env, clock, log, health }, io);
  } finally {
    await listener?.close();
  }
  return 0;
}

/** `/healthz`: the process answers. `/readyz`: at least one of its agents works; the text names those that do not. */
async function serveHealth(
  { healthListen }: AgentFlags,
  health: AgentHealth,
): Promise<HttpListener | undefined> {
  if (healthListen === undefined) return undefined;
  const { listenHttp } = await import('@berth/runtime/http/http-listener');
  return listenHttp(listenAddress('--health-listen', healthListen), (request, response) => {
    const [status, text] = healthAnswer(request.url, health);
    response.writeHead(status, { 'content-type': 'text/plain' }).end(`${text}\n`);
    return Promise.resolve();
  });
}

function healthAnswer(path: string | undefined, { isReady, problems }: AgentHealth): [number, string] {
  if (path === '/healthz') return [200, 'ok'];
  if (path !== '/readyz') return [404, 'expected /healthz or /readyz'];
  return [isReady ? 200 : 503, [isReady ? 'ok' : 'not ready', ...problems].join('\n')];
}

async function printRbac(io: CliIo, flags: AgentFlags, part: string | true): Promise<ExitCode> {
  const { renderAgentRbac, CARRIED_KIND_PERMISSION } = await import('../../../core/rbac/agent-rbac.ts');
  const { listedPermissions } = await import('../../../core/rbac/listed-kinds.ts');
  const { knownResources } = await import('../flags/hub-flags.ts');
  const { clusterName, namespace, executorCache, kind } = flags;
  const side = part === true ? undefined : oneOf('--print-rbac', part, ['hub', 'managed'] as const);
  if (clusterName === undefined && side !== 'managed')
    throw wrongOption('--cluster-name', 'is missing, expected the name of the managed cluster');
  checkListedKinds(kind ?? []);
  const kinds = kind && listedPermissions(kind, knownResources(), CARRIED_KIND_PERMISSION);
  const pair = registeringPair(flags);
  const registers = pair && { secret: pair.credentials.kind === 'secret' ? pair.credentials : undefined };
  const rbacOptions = { clusterName: clusterName ?? '', namespace, executorCache, kinds, side, registers };
  io.stdout.write(renderAgentRbac(rbacOptions));
  return 0;
}

async function pairsOf(flags: AgentFlags): Promise<readonly AgentPair[]> {
  const { clusters, clusterName, hubKubeconfig, kubeconfig, agentId } = flags;
  const registering = registeringPair(flags);
  if (clusters !== undefined) {
    if (clusterName !== undefined || hubKubeconfig !== undefined || registering !== undefined)
      throw wrongOption(
        '--clusters',
        'already names clusters and hubs, so --cluster-name, --hub-kubeconfig and --bootstrap-kubeconfig are not allowed with it',
      );
    const { readAgentPairs } = await import('@berth/agent/options/agent-pairs');
    return readAgentPairs(clusters);
  }
  if (registering !== undefined) {
    if (hubKubeconfig !== undefined)
      throw wrongOption(
        '--hub-kubeconfig',
        'and --bootstrap-kubeconfig were both given, expected one of them',
      );
    return [registering];
  }
  if (!hubKubeconfig)
    throw wrongOption(
      '--hub-kubeconfig',
      'is missing, expected the kubeconfig file of the hub (or --bootstrap-kubeconfig, to register the cluster)',
    );
  if (clusterName === undefined)
    throw wrongOption('--cluster-name', 'is missing, expected the name of the managed cluster');
  return [{ clusterName, hubKubeconfig, kubeconfig, agentId }];
}

/** Flags of an agent that registers its cluster. */
interface RegistrationFlags {
  readonly bootstrapKubeconfig?: readonly string[];
  readonly hubKubeconfigDir?: string;
  readonly hubKubeconfigSecret?: string;
  readonly hostingKubeconfig?: string;
  readonly clientCertExpirationSeconds: string;
  readonly spokeExternalServerUrls?: readonly string[];
  readonly clusterAnnotations?: readonly string[];
  readonly maxCustomClusterClaims: string;
  readonly reservedClusterClaimSuffixes?: readonly string[];
  readonly hubConnectionTimeout: string;
  readonly addonKubeclientRegistrationAuth: string;
  readonly addonTokenExpirationSeconds: string;
  readonly kubeconfig?: string;
  readonly clusterName?: string;
  readonly agentId?: string;
}

function addRegistrationFlags(command: Command): Command {
  return command
    .option(
      '--bootstrap-kubeconfig <file...>',
      'kubeconfig to register the cluster with; with several, the agent uses one hub, and switches to another when it fails',
    )
    .option(
      '--hub-kubeconfig-dir <dir>',
      'with --bootstrap-kubeconfig: folder for the certificate and its key',
    )
    .option('--hub-kubeconfig-secret <namespace/name>', 'Secret to use instead of the folder')
    .option(
      '--hosting-kubeconfig <file>',
      'kubeconfig of the cluster with that Secret (default: the managed cluster; empty: the cluster that the agent runs in)',
    )
    .option(
      '--client-cert-expiration-seconds <n>',
      'requested lifetime of the certificate; 0: the hub decides',
      '0',
    )
    .option('--spoke-external-server-urls <url...>', 'URLs of the cluster’s API server for other clients')
    .option(
      '--cluster-annotations <key=value...>',
      'annotations for the ManagedCluster (agent.open-cluster-management.io/…)',
    )
    .option(
      '--max-custom-cluster-claims <n>',
      'limit of reported claims, not counting those with reserved names',
      '20',
    )
    .option('--reserved-cluster-claim-suffixes <suffix...>', 'claim names with these suffixes are reserved')
    .option(
      '--hub-connection-timeout <duration>',
      'with several hubs: leave one that does not respond for this long',
      '10m',
    )
    .option(
      '--addon-kubeclient-registration-auth <driver>',
      'how the agents of add-ons authenticate at the hub: csr: certificates; token: tokens of service accounts',
      'csr',
    )
    .option(
      '--addon-token-expiration-seconds <n>',
      'requested lifetime of these tokens',
      String(DEFAULT_TOKEN_SECONDS),
    );
}

/**
 * The registration settings of the flags; undefined: none.
 * @throws InputError for conflicting flags
 */
function registeringPair(flags: RegistrationFlags): RegisteringPair | undefined {
  const { bootstrapKubeconfig, hubKubeconfigDir, hubKubeconfigSecret, hostingKubeconfig } = flags;
  if (bootstrapKubeconfig === undefined) {
    const useless = Object.entries({
      '--hub-kubeconfig-dir': hubKubeconfigDir,
      '--hub-kubeconfig-secret': hubKubeconfigSecret,
      '--hosting-kubeconfig': hostingKubeconfig,
    }).find(([, value]) => value !== undefined);
    if (useless !== undefined) throw wrongOption(useless[0], 'has no effect without --bootstrap-kubeconfig');
    return undefined;
  }
  if ((hubKubeconfigDir === undefined) === (hubKubeconfigSecret === undefined))
    throw wrongOption(
      '--bootstrap-kubeconfig',
      'needs a place for the certificate, expected one of --hub-kubeconfig-dir and --hub-kubeconfig-secret',
    );
  if (hostingKubeconfig !== undefined && hubKubeconfigSecret === undefined)
    throw wrongOption('--hosting-kubeconfig', 'has no effect without --hub-kubeconfig-secret');
  const credentials =
    hubKubeconfigDir === undefined
      ? secretPlace(hubKubeconfigSecret ?? '', hostingKubeconfig)
      : ({ kind: 'folder', path: hubKubeconfigDir } as const);
  if (credentials === undefined)
    throw wrongValue('--hub-kubeconfig-secret', hubKubeconfigSecret ?? '', 'NAMESPACE/NAME');
  const { clusterName, kubeconfig, agentId } = flags;
  return { bootstrapKubeconfigs: bootstrapKubeconfig, credentials, clusterName, kubeconfig, agentId };
}

/** @throws InputError for invalid values */
function registrationOptions(flags: RegistrationFlags): RunAgentsOptions['registration'] {
  const seconds = wholeNumber('--client-cert-expiration-seconds', flags.clientCertExpirationSeconds, 0);
  if (seconds !== 0 && seconds < SHORTEST_CERTIFICATE_SECONDS)
    throw wrongValue(
      '--client-cert-expiration-seconds',
      flags.clientCertExpirationSeconds,
      `0, or at least ${SHORTEST_CERTIFICATE_SECONDS}`,
    );
  return {
    expirationSeconds: seconds === 0 ? undefined : seconds,
    clientConfigs: (flags.spokeExternalServerUrls ?? []).map((url) => ({ url: httpsUrl(url) })),
    annotations: Object.fromEntries(
      (flags.clusterAnnotations ?? []).map((text) => keyValue('--cluster-annotations', text)),
    ),
    claims: {
      maxCustom: wholeNumber('--max-custom-cluster-claims', flags.maxCustomClusterClaims, 0),
      reservedSuffixes: flags.reservedClusterClaimSuffixes ?? [],
    },
    hubTimeoutMs: positiveDuration('--hub-connection-timeout', flags.hubConnectionTimeout),
    addons: {
      driver: oneOf(
        '--addon-kubeclient-registration-auth',
        flags.addonKubeclientRegistrationAuth,
        ADDON_DRIVERS,
      ),
      tokenSeconds: wholeNumber(
        '--addon-token-expiration-seconds',
        flags.addonTokenExpirationSeconds,
        SHORTEST_TOKEN_SECONDS,
      ),
    },
  };
}

function httpsUrl(text: string): string {
  if (URL.canParse(text) && new URL(text).protocol === 'https:') return text;
  throw wrongValue('--spoke-external-server-urls', text, 'an https URL');
}
