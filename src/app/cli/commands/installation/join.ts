import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { CERTIFICATE_REQUEST, MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import type { KubeApi, ServerEndpoints } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { AGENT_NAMESPACE, CLUSTER_NAME_LABEL, HUB_KUBECONFIG_SECRET } from '@berth/ocm/registration/names';
import { InputError } from '@berth/runtime/errors';
import { isLoopbackHost } from '@berth/runtime/loopback-host';
import { AGENT_ACCOUNT } from '../../../../core/rbac/agent-rbac.ts';
import { klusterletObjects } from '../../../../core/registration/install/operator-objects.ts';
import { AGENT_DEPLOYMENT, agentObjects } from '../../../../core/registration/install/deployment.ts';
import {
  BOOTSTRAP_ENTRIES,
  type EntryNames,
  type ServerEntry,
  tokenKubeconfig,
} from '../../../../core/registration/install/bootstrap-objects.ts';
import { runningPid, logOf, startBackground, writePrivate } from '../../../background/background-process.ts';
import { type CliIo, type ExitCode, NOT_READY } from '../../../terminal/cli-io.ts';
import { renderDocument } from '../../../terminal/output-format.ts';
import { addHubFlags, withHub, withServer } from '../../flags/hub-flags.ts';
import type { CliCommand } from '../cli-command.ts';
import { accountKubeconfig, serverEntry } from './get-token.ts';
import {
  AGENT_CLUSTER,
  agentDefinitions,
  agentFolder,
  agentRights,
  checkManagedKubeconfig,
  checkNamespace,
  hostedNamespace,
} from './agent-installation.ts';
import { addJoinFlags, joinRequest, type JoinFlags, type JoinRequest } from './join-flags.ts';
import { addInstallFlags, imageOf, installationOf, refuseImage } from './run-installation.ts';
import { type Pending, showObjects, waitUntil } from './run-installation.ts';

const HELP = `
Installs the agent on the cluster of --context: its namespace, its account and rights, the kubeconfig with which it
finds the hub, and a Deployment. If the cluster runs no pods, as an embedded one, the agent runs in the background on
this machine. With --wait, the command ends when the agent has asked the hub to accept the cluster. Then run berth accept on the hub to accept the cluster. A second run writes only what differs, such as a new token.

Exit codes: 0 installed, or nothing to do, 1 error, 2 installed, but what --wait waits for is missing.

Examples:
  berth join --hub-token TOKEN --hub-apiserver https://hub.example.com:6443 --wait --cluster-name cluster1 --context cluster1
  berth join … --proxy-url https://proxy.example.com:3129 --proxy-ca-file proxy.pem
  berth join … --mode hosted --managed-cluster-kubeconfig cluster1.kubeconfig --context hosting
  berth join … --dry-run                            # print only
`;

/** `berth join`: installs an agent that registers the cluster at a hub. */
export const joinCommand: CliCommand = {
  register(program, run) {
    const command = program
      .command('join')
      .description('register a cluster at a hub: install the agent, or start it');
    addInstallFlags(addJoinFlags(addHubFlags(command, AGENT_CLUSTER)), 'the agent has registered at the hub')
      .addHelpText('after', HELP)
      .action(run((io, flags: JoinFlags) => join(io, flags)));
  },
};

async function join(io: CliIo, flags: JoinFlags): Promise<ExitCode> {
  const request = await joinRequest(io, flags);
  const image = await imageOf(flags);
  const managedText =
    request.managedFile === undefined ? undefined : await readFile(request.managedFile, 'utf8');
  if (managedText !== undefined) checkManagedKubeconfig(managedText);
  const hub = await findHub(io, request);
  if (managedText !== undefined) await prepareManaged(io, flags, managedText);
  await withHub(io, flags, (api) => install(io, api, { flags, request, hub, image, managedText }));
  return 0;
}

/**
 * Finds out how to reach the hub.
 * @throws InputError when the hub rejects the token
 */
async function findHub(io: CliIo, { server, token, ...request }: JoinRequest): Promise<ServerEntry> {
  const { findHubEntry } = await import('../../../../controllers/installation/find-hub-entry.ts');
  const { fetchUnverified } = await import('@berth/kube/transport/fetch-unverified');
  const { chooseProxy } = await import('@berth/kube/proxy/choose-proxy');
  const url = new URL(server);
  const { proxyUrl, proxyCaPem } = request;
  const proxy = chooseProxy(url, proxyUrl, io.env);
  return findHubEntry({
    server,
    ...request,
    withHub: (entry, use) => withBootstrapHub(io, entry, token, use),
    fetchUnverified: (path) => {
      const signal = AbortSignal.any([io.cutOff, AbortSignal.timeout(UNVERIFIED_TIMEOUT_MS)]);
      return fetchUnverified({ server: url, path, proxy, proxyCaPem, signal });
    },
    onUnverifiedAuthorities: (hashes) => io.stderr.write(unverifiedWarning(hashes)),
  });
}

const UNVERIFIED_TIMEOUT_MS = 30_000;

function unverifiedWarning(hashes: readonly string[]): string {
  const flags = hashes.map((hash) => `--discovery-token-ca-cert-hash ${hash}`).join(' ');
  return `warning: the authority of the hub's certificate was read from the hub itself, and is not verified: give --ca-file, or the flag that berth get token prints on the hub; for this authority it is ${flags}\n`;
}

/** Connects to the hub with the bootstrap token, and runs `use`. */
function withBootstrapHub<T>(
  io: CliIo,
  entry: ServerEntry,
  token: string,
  use: (hub: KubeApi) => Promise<T>,
): Promise<T> {
  return withServer(io, { text: JSON.stringify(tokenKubeconfig(BOOTSTRAP_ENTRIES, entry, token)) }, use);
}

/** Hosted mode: writes OCM's kinds to the managed cluster. */
async function prepareManaged(io: CliIo, flags: JoinFlags, text: string): Promise<void> {
  const { applyObjects } = await import('../../../../controllers/installation/apply-objects.ts');
  const { systemClock: clock } = await import('@berth/runtime/clock/system-clock');
  await withServer(io, { text }, async (api) => {
    const definitions = await agentDefinitions(api);
    if (!flags.dryRun) await applyObjects(installationOf(io, api, { installer: 'join', clock }), definitions);
  });
}

interface JoinInput {
  readonly flags: JoinFlags;
  readonly request: JoinRequest;
  readonly hub: ServerEntry;
  readonly image: string;
  readonly managedText: string | undefined;
}

/** @param api of the cluster where the agent runs */
async function install(io: CliIo, api: KubeApi & ServerEndpoints, input: JoinInput): Promise<void> {
  const { flags, request, hub, image, managedText } = input;
  const { isEmbedded, runsPods } = await import('../../../../controllers/installation/installed-state.ts');
  const { applyObjects } = await import('../../../../controllers/installation/apply-objects.ts');
  const { systemClock: clock } = await import('@berth/runtime/clock/system-clock');
  const { clusterName, token } = request;
  const mode = managedText === undefined ? 'default' : 'hosted';
  const defaultNamespace = mode === 'default' ? AGENT_NAMESPACE : hostedNamespace(clusterName, hub.server);
  const namespace = request.namespace ?? defaultNamespace;
  const isForPods = await runsPods(api);
  if (!isForPods) refuseImage(flags, 'the cluster');
  if (isForPods && isLoopbackHost(new URL(hub.server).hostname))
    io.stderr.write(
      `warning: ${hub.server} is an address of this machine that pods cannot reach: use another address of the hub\n`,
    );
  // OCM lets a hub join itself, but mostly --context was forgotten.
  if (mode === 'default' && new URL(api.server).href === new URL(hub.server).href)
    io.stderr.write(
      `warning: the cluster is the hub itself (${hub.server}): the agent is installed on the hub and registers it as ${clusterName}; to join another cluster give its --context\n`,
    );
  const isInstalled = await checkNamespace(api, { namespace, clusterName, hub: hub.server });
  if (!isInstalled) await warnOfSameName(io, input);
  const options = [...request.options, ...(await externalUrls(io, api, managedText))];
  const names = isInstalled ? await namesForRejoin(io, input, clock.now()) : BOOTSTRAP_ENTRIES;
  const bootstrap = `${JSON.stringify(tokenKubeconfig(names, hub, token))}\n`;
  const objects: readonly KubeObject[] = [
    ...(mode === 'default' ? await agentDefinitions(api) : []),
    ...(namespace === AGENT_NAMESPACE && (await isEmbedded(api))
      ? klusterletObjects(clusterName, namespace)
      : []),
    ...(await agentRights(mode, { namespace, clusterName })),
    ...agentObjects({
      clusterName,
      namespace,
      account: AGENT_ACCOUNT,
      bootstrapKubeconfig: base64(bootstrap),
      managedKubeconfig: managedText === undefined ? undefined : base64(managedText),
      options,
      image: isForPods ? image : undefined,
    }),
  ];
  if (!(await showObjects(io, flags, objects, 'join'))) return;
  await applyObjects(installationOf(io, api, { installer: 'join', clock }), objects);
  const folder = isForPods
    ? undefined
    : await startLocalAgent(io, api, { ...input, options, namespace, bootstrap, clusterName });
  if (flags.wait) await waitForAgent(io, api, input, { namespace, isForPods, folder });
  const isAccepted = await withBootstrapHub(
    io,
    hub,
    token,
    async (there) => (await readCluster(there, clusterName))?.spec?.hubAcceptsClient === true,
  );
  io.stdout.write(
    isAccepted
      ? `\nThe hub has accepted ${clusterName}\n`
      : `\n${clusterName} waits for the hub to accept it. Log on to the hub and accept it:\n\n    berth accept --clusters ${clusterName}\n\nA hub that accepts the cluster by a rule needs no command.\n`,
  );
}

/**
 * The names in the bootstrap kubeconfig of an agent that is installed. An agent whose cluster the hub has deleted keeps
 * its certificate, and registers again only with other bootstrap credentials: the token may be the same, the name is not.
 */
async function namesForRejoin(
  io: CliIo,
  { request: { clusterName, token }, hub }: JoinInput,
  nowMs: number,
): Promise<EntryNames> {
  const existing = await withBootstrapHub(io, hub, token, (there) => readCluster(there, clusterName));
  if (existing !== undefined) return BOOTSTRAP_ENTRIES;
  io.stdout.write(`The hub has no cluster ${clusterName} any more: its agent registers it again\n`);
  return { ...BOOTSTRAP_ENTRIES, user: `${BOOTSTRAP_ENTRIES.user}-${nowMs}` };
}

/** Two clusters with one name would both apply the works of the name, and overwrite the status of each other. */
async function warnOfSameName(io: CliIo, { request, hub }: JoinInput): Promise<void> {
  const { isAlive } = await import('../../../../core/registration/health/is-live.ts');
  const { clusterName: name, token } = request;
  const existing = await withBootstrapHub(io, hub, token, (there) => readCluster(there, name));
  if (existing === undefined || !isAlive(existing)) return;
  io.stderr.write(
    `warning: the hub has a cluster ${name} that has joined and whose agent is alive: if it is not this cluster, choose another name\n`,
  );
}

/** The external URL of the managed cluster, from its kubeconfig. */
async function externalUrls(
  io: CliIo,
  api: KubeApi,
  managedText: string | undefined,
): Promise<readonly string[]> {
  const server =
    managedText === undefined
      ? api.server
      : await withServer(io, { text: managedText }, (managed) => Promise.resolve(managed.server));
  return server.startsWith('https://') ? [`--spoke-external-server-urls=${server}`] : [];
}

interface Place {
  readonly namespace: string;
  /** Whether the agent runs in a pod. */
  readonly isForPods: boolean;
  /** Of an agent that was started here. */
  readonly folder: string | undefined;
}

/** Waits until the agent has asked the hub, which alone proves that it runs. Until then its pod may say why it does not. */
async function waitForAgent(io: CliIo, api: KubeApi, input: JoinInput, place: Place): Promise<void> {
  const { flags, request, hub } = input;
  await withBootstrapHub(io, hub, request.token, (there) =>
    waitUntil(io, flags, async () => {
      const pending = await missingRequest(there, request.clusterName, await agentHint(place));
      return pending && ((place.isForPods ? await missingPod(api, place.namespace) : undefined) ?? pending);
    }),
  );
}

async function missingPod(api: KubeApi, namespace: string): Promise<Pending | undefined> {
  const { podProblem } = await import('../../../../controllers/installation/installed-state.ts');
  const problem = await podProblem(api, { namespace, name: AGENT_DEPLOYMENT });
  if (problem === undefined) return undefined;
  return {
    subject: `Deployment ${namespace}/${AGENT_DEPLOYMENT}`,
    problem,
    hint: `kubectl -n ${namespace} describe pod shows the reason`,
    code: NOT_READY,
  };
}

/**
 * How to find out why the agent does not register.
 * @throws InputError when an agent that was started here has ended
 */
async function agentHint({ namespace, isForPods, folder }: Place): Promise<string> {
  if (isForPods) return `kubectl -n ${namespace} logs deployment/${AGENT_DEPLOYMENT} shows the reason`;
  if (folder === undefined) return 'run the command above';
  const { logOf, runningPid } = await import('../../../background/background-process.ts');
  const hint = `its log is ${logOf(folder)}`;
  if (runningPid(folder) === undefined)
    throw new InputError('has ended', { code: 'install.ended', subject: 'the agent', hint });
  return hint;
}

async function missingRequest(hub: KubeApi, clusterName: string, hint: string): Promise<Pending | undefined> {
  const labelSelector = `${CLUSTER_NAME_LABEL}=${clusterName}`;
  const cluster = await readCluster(hub, clusterName);
  const { items } = await hub.list(CERTIFICATE_REQUEST, { labelSelector });
  const { isAlive } = await import('../../../../core/registration/health/is-live.ts');
  if (cluster !== undefined && (isAlive(cluster) || hasRequested(cluster, items))) return undefined;
  const problem = 'its agent has not asked the hub yet';
  return { subject: `cluster ${clusterName}`, problem, hint, code: NOT_READY };
}

async function readCluster(hub: KubeApi, name: string): Promise<ManagedCluster | undefined> {
  return (await hub.get(MANAGED_CLUSTER, { namespace: '', name })) as ManagedCluster | undefined;
}

/** Whether the hub has a certificate request of the agent of this cluster. */
function hasRequested(cluster: ManagedCluster, requests: readonly KubeObject[]): boolean {
  const since = cluster.metadata.creationTimestamp ?? '';
  return requests.some(({ metadata, status }) => {
    const { conditions = [] } = (status ?? {}) as { readonly conditions?: readonly unknown[] };
    return conditions.length === 0 || (metadata.creationTimestamp ?? '') > since;
  });
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

interface AgentHere {
  readonly flags: JoinFlags;
  /** Options of `berth agent`. */
  readonly options: readonly string[];
  readonly clusterName: string;
  readonly namespace: string;
  /** The text of a kubeconfig. */
  readonly bootstrap: string;
  /** The kubeconfig of the managed cluster, if the agent is hosted. */
  readonly managedText: string | undefined;
}

/**
 * Starts the agent on this machine, with the account that was created for it.
 * @param api of the cluster, which runs no pods
 * @returns the folder of the agent; undefined if the command was only printed
 */
async function startLocalAgent(io: CliIo, api: KubeApi, agent: AgentHere): Promise<string | undefined> {
  const { flags, options, clusterName, namespace, bootstrap, managedText } = agent;
  const folder = agentFolder(io, clusterName, { server: api.server, namespace });
  const kubeconfig = await accountKubeconfig(
    api,
    { namespace, name: AGENT_ACCOUNT },
    await serverEntry(io, flags),
  );
  writePrivate(folder, 'bootstrap.kubeconfig', bootstrap);
  writePrivate(folder, 'cluster.kubeconfig', kubeconfig);
  if (managedText !== undefined) writePrivate(folder, 'managed.kubeconfig', managedText);
  const entry = {
    clusterName,
    bootstrapKubeconfig: 'bootstrap.kubeconfig',
    hubKubeconfigSecret: `${namespace}/${HUB_KUBECONFIG_SECRET}`,
    ...(managedText === undefined
      ? { kubeconfig: 'cluster.kubeconfig' }
      : { kubeconfig: 'managed.kubeconfig', hostingKubeconfig: 'cluster.kubeconfig' }),
  };
  writePrivate(folder, 'agent.yaml', await renderDocument([entry], 'yaml'));
  const args = ['agent', `--clusters=${path.join(folder, 'agent.yaml')}`, ...options];
  if (!flags.start) {
    io.stdout.write(
      `The cluster runs no pods: run its agent on this machine.\n\n    berth ${args.join(' ')}\n`,
    );
    return undefined;
  }
  const running = runningPid(folder);
  const pid = startBackground({ folder, args, env: io.env });
  const how = running === undefined ? 'runs' : 'runs already';
  io.stdout.write(
    `The cluster runs no pods: its agent ${how} on this machine as process ${String(pid)}, log ${logOf(folder)}\n`,
  );
  return folder;
}
