import type { Command } from 'commander';
import type { RegisteringPair } from '@berth/agent/options/agent-pairs';
import { secretPlace } from '@berth/agent/options/credential-place';
import type { RunAgentsOptions } from '@berth/agent/run-agents';
import { positiveDuration, wholeNumber } from './option-values.ts';
import { wrongOption, wrongValue } from './wrong-option.ts';

/** Flags of an agent that registers its cluster. */
export interface RegistrationFlags {
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
  readonly kubeconfig?: string;
  readonly clusterName?: string;
  readonly agentId?: string;
}

/** The certificates API accepts ten minutes or more; OCM's agent requires at least an hour. */
const SHORTEST_CERTIFICATE_SECONDS = 3_600;

export function addRegistrationFlags(command: Command): Command {
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
    );
}

/**
 * The registration settings of the flags; undefined: none.
 * @throws InputError for conflicting flags
 */
export function registeringPair(flags: RegistrationFlags): RegisteringPair | undefined {
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
export function registrationOptions(flags: RegistrationFlags): RunAgentsOptions['registration'] {
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
    annotations: Object.fromEntries((flags.clusterAnnotations ?? []).map(annotation)),
    claims: {
      maxCustom: wholeNumber('--max-custom-cluster-claims', flags.maxCustomClusterClaims, 0),
      reservedSuffixes: flags.reservedClusterClaimSuffixes ?? [],
    },
    hubTimeoutMs: positiveDuration('--hub-connection-timeout', flags.hubConnectionTimeout),
  };
}

function httpsUrl(text: string): string {
  if (URL.canParse(text) && new URL(text).protocol === 'https:') return text;
  throw wrongValue('--spoke-external-server-urls', text, 'an https URL');
}

function annotation(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw wrongValue('--cluster-annotations', text, 'KEY=VALUE');
  return [text.slice(0, at), text.slice(at + 1)];
}
