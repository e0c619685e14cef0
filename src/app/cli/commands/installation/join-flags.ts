import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { errorText, InputError } from '@berth/runtime/errors';
import { AGENT_ANNOTATION_PREFIX, ALL_AGENTS_GROUP, clusterGroup } from '@berth/ocm/registration/names';
import type { CliIo } from '../../../terminal/cli-io.ts';
import { ADDON_DRIVERS, SHORTEST_TOKEN_SECONDS } from '../agent.ts';
import type { HubFlags } from '../../flags/hub-flags.ts';
import { oneOf, wholeNumber, refuseFlags, wrongOption, wrongValue } from '../../flags/option-values.ts';
import type { InstallFlags } from './run-installation.ts';

export interface JoinFlags extends HubFlags, InstallFlags {
  readonly hubToken: string;
  readonly hubApiserver: string;
  readonly clusterName: string;
  readonly caFile?: string;
  readonly discoveryTokenCaCertHash?: readonly string[];
  readonly proxyUrl?: string;
  readonly proxyCaFile?: string;
  readonly forceInternalEndpointLookup: boolean;
  readonly mode: string;
  readonly managedClusterKubeconfig?: string;
  readonly singleton: boolean;
  readonly agentNamespace?: string;
  readonly klusterletAnnotation?: readonly string[];
  readonly clientCertExpirationSeconds?: string;
  readonly addonKubeclientRegistrationAuth?: string;
  readonly addonTokenExpirationSeconds?: string;
}

/** The validated flags. */
export interface JoinRequest {
  readonly clusterName: string;
  readonly server: string;
  readonly token: string;
  readonly caPem: string | undefined;
  readonly caHashes: readonly string[];
  readonly proxyUrl: string | undefined;
  readonly proxyCaPem: string | undefined;
  readonly internal: boolean;
  /** Path of the kubeconfig of the managed cluster, in hosted mode. */
  readonly managedFile: string | undefined;
  /** Namespace of the agent, if it is not the default. */
  readonly namespace: string | undefined;
  /** Options of `berth agent`. */
  readonly options: readonly string[];
}

const CSR_ONLY = 'clusters register with certificates, which is OCM’s driver csr';
const DEPLOYMENT_ONLY = 'change the Deployment that --output-file writes';
const REFUSED = {
  'feature-gates': 'all features of the agent are on, see docs/joining.md',
  'klusterlet-values-file': DEPLOYMENT_ONLY,
  'create-namespace': 'missing namespaces are always created',
  'resource-qos-class': DEPLOYMENT_ONLY,
  'resource-limits': DEPLOYMENT_ONLY,
  'resource-requests': DEPLOYMENT_ONLY,
  'enable-sync-labels': 'there is no Klusterlet whose labels could be copied',
  'registration-auth': CSR_ONLY,
  'force-internal-endpoint-lookup-managed':
    'give a --managed-cluster-kubeconfig with the address that the agent should use',
};

export function addJoinFlags(command: Command): Command {
  command
    .requiredOption('--hub-token <token>', 'the token that berth init or berth get token printed')
    .requiredOption('--hub-apiserver <url>', 'address of the hub')
    .requiredOption('--cluster-name <name>', 'name of the cluster on the hub')
    .option('--ca-file <file>', 'authorities (PEM) of the hub’s certificate (default: read from the hub)')
    .option(
      '--discovery-token-ca-cert-hash <hash...>',
      'sha256:… of the public key of the hub’s authority: the token is sent to no other server',
    )
    .option(
      '--force-internal-endpoint-lookup',
      'use the address in the hub’s kube-public/cluster-info',
      false,
    )
    .option('--proxy-url <url>', 'reach the hub through this proxy')
    .option('--proxy-ca-file <file>', 'authorities (PEM) of the proxy’s own certificate')
    .option(
      '--mode <mode>',
      'default: the agent runs on the managed cluster; hosted: it runs on the cluster of --context',
      'default',
    )
    .option(
      '--managed-cluster-kubeconfig <file>',
      'with --mode hosted: kubeconfig of the managed cluster, for the agent',
    )
    .option(
      '--agent-namespace <name>',
      'namespace of the agent, if the cluster already has an agent of another hub (default: open-cluster-management-agent)',
    )
    .option('--singleton', 'run the agent as one process, which is always the case', false)
    .option(
      '--klusterlet-annotation <key=value...>',
      `annotations for the ManagedCluster (${AGENT_ANNOTATION_PREFIX}…)`,
    )
    .option(
      '--client-cert-expiration-seconds <n>',
      'requested lifetime of the certificate (default: the hub decides)',
    )
    .option(
      '--addon-kubeclient-registration-auth <driver>',
      'how the agents of add-ons authenticate at the hub: csr or token (default: csr)',
    )
    .option('--addon-token-expiration-seconds <n>', 'requested lifetime of these tokens (default: a year)');
  return refuseFlags(command, REFUSED);
}

const CLUSTER_NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/**
 * The name pattern that OCM requires; its hub gives service accounts of such namespaces a higher
 * priority.
 */
const AGENTS = /^(?=.{1,63}$)open-cluster-management-[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** @throws InputError for flags without effect, or that contradict each other */
export async function joinRequest(io: CliIo, flags: JoinFlags): Promise<JoinRequest> {
  const { clusterName, hubApiserver: server, hubToken: token, proxyUrl, managedClusterKubeconfig } = flags;
  if (!CLUSTER_NAME.test(clusterName))
    throw wrongValue('--cluster-name', clusterName, 'at most 63 of a-z, 0-9 and -, such as cluster1');
  if (clusterGroup(clusterName) === ALL_AGENTS_GROUP)
    throw wrongValue(
      '--cluster-name',
      clusterName,
      'another name: the group of this cluster is that of all agents',
    );
  if (!URL.canParse(server) || new URL(server).protocol !== 'https:')
    throw wrongValue('--hub-apiserver', server, 'an address such as https://hub.example.com:6443');
  if (!/^\S+$/.test(token)) throw wrongOption('--hub-token', 'is not a token, expected one word');
  const isHosted = oneOf('--mode', flags.mode, ['default', 'hosted'] as const) === 'hosted';
  if (isHosted && managedClusterKubeconfig === undefined)
    throw wrongOption('--managed-cluster-kubeconfig', 'is missing, expected it with --mode hosted');
  if (!isHosted && managedClusterKubeconfig !== undefined)
    throw wrongOption('--managed-cluster-kubeconfig', 'has no effect without --mode hosted');
  const { agentNamespace: namespace } = flags;
  if (namespace !== undefined && !AGENTS.test(namespace))
    throw wrongValue('--agent-namespace', namespace, 'a name that starts with open-cluster-management-');
  if (flags.proxyCaFile !== undefined && proxyUrl === undefined)
    throw wrongOption('--proxy-ca-file', 'has no effect without --proxy-url');
  if (proxyUrl !== undefined && !/^(https?|socks5):\/\/[^/]/.test(proxyUrl))
    throw wrongValue('--proxy-url', proxyUrl, 'an address such as http://proxy.example.com:3128');
  const read = async (option: string, file: string | undefined): Promise<string | undefined> =>
    file === undefined ? undefined : readCertificates(option, resolve(io.cwd, file));
  return {
    clusterName,
    server,
    token,
    caPem: await read('--ca-file', flags.caFile),
    caHashes: (flags.discoveryTokenCaCertHash ?? []).map(hashOf),
    proxyUrl,
    proxyCaPem: await read('--proxy-ca-file', flags.proxyCaFile),
    internal: flags.forceInternalEndpointLookup,
    managedFile:
      managedClusterKubeconfig === undefined ? undefined : resolve(io.cwd, managedClusterKubeconfig),
    namespace,
    options: agentOptions(flags),
  };
}

/** Source: kubernetes/kubernetes `cmd/kubeadm/app/util/pubkeypin/pubkeypin.go` (Allow). */
function hashOf(text: string): string {
  if (/^sha256:[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
  throw wrongValue('--discovery-token-ca-cert-hash', text, 'sha256: and 64 hexadecimal digits');
}

async function readCertificates(option: string, file: string): Promise<string> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (cause) {
    throw new InputError(`cannot be read: ${errorText(cause)}`, {
      code: 'cli.option',
      subject: option,
      cause,
    });
  }
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw wrongValue(option, file, 'a PEM file with certificates');
}

function agentOptions(flags: JoinFlags): readonly string[] {
  const { clientCertExpirationSeconds: life, klusterletAnnotation = [] } = flags;
  const annotations = klusterletAnnotation.map((text) => {
    if (text.indexOf('=') < 1) throw wrongValue('--klusterlet-annotation', text, 'KEY=VALUE');
    return text.startsWith(AGENT_ANNOTATION_PREFIX) ? text : `${AGENT_ANNOTATION_PREFIX}${text}`;
  });
  if (life !== undefined) wholeNumber('--client-cert-expiration-seconds', life, 3_600);
  const { addonKubeclientRegistrationAuth: driver, addonTokenExpirationSeconds: tokenLife } = flags;
  if (driver !== undefined) oneOf('--addon-kubeclient-registration-auth', driver, ADDON_DRIVERS);
  if (tokenLife !== undefined)
    wholeNumber('--addon-token-expiration-seconds', tokenLife, SHORTEST_TOKEN_SECONDS);
  return [
    ...(life === undefined ? [] : [`--client-cert-expiration-seconds=${life}`]),
    ...(driver === undefined ? [] : [`--addon-kubeclient-registration-auth=${driver}`]),
    ...(tokenLife === undefined ? [] : [`--addon-token-expiration-seconds=${tokenLife}`]),
    ...annotations.map((text) => `--cluster-annotations=${text}`),
  ];
}
