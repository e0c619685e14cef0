import { resolve } from 'node:path';
import { WEBHOOK_PROVIDERS, type WebhookProvider } from '@berth/forge/event/webhook-event';
import type { GitAuth } from '@berth/git-reader/repository/git-auth';
import { parseGitRef } from '@berth/git-reader/repository/git-ref';
import type { GitRef } from '@berth/git-reader/repository/git-repository';
import { isDnsSubdomain } from '@berth/kube/model/selector/label-syntax';
import type { Command } from 'commander';
import type { ServeSource } from '../../../../controllers/sources/progress/source-options.ts';
import type { WebhookAddress } from '../../../../core/registration/webhooks/webhook-configurations.ts';
import { DEFAULT_NAMESPACE } from '../../../../core/sync/apply-set.ts';
import type {
  ServeAdmissionOptions,
  ServeArgocdOptions,
  ServeHttpOptions,
  ServeOptions,
} from '../../../settings/serve-options.ts';
import {
  checkListedKinds,
  listenAddress,
  oneOf,
  wholeNumber,
  wrongOption,
  wrongValue,
} from '../../flags/option-values.ts';

/** Flags that describe a source, for users with one source, or several with the same options. */
export interface SourceFlags {
  readonly repo?: readonly string[];
  readonly ref?: string;
  readonly path?: readonly string[];
  readonly gitTokenFile?: string;
  readonly gitSshKey?: string;
  readonly gitKnownHosts?: string;
  readonly force: boolean;
  readonly onConflict?: string;
  readonly kind: readonly string[];
}

export function sourcesOfFlags(
  flags: SourceFlags,
  sync: ServeSource['sync'],
  cwd: string,
): readonly ServeSource[] {
  checkListedKinds(flags.kind);
  return (flags.repo ?? []).map((repo) => {
    const named = /^([a-z0-9][-a-z0-9]*)=(.+)$/.exec(repo);
    return {
      name: named?.[1],
      url: absoluteUrl(named?.[2] ?? repo, cwd),
      ref: flags.ref === undefined ? undefined : parseRef(flags.ref),
      paths: flags.path,
      auth: authOf(flags),
      sync,
      ...conflictRules(flags),
      kinds: flags.kind,
    };
  });
}

export interface WorkFlags {
  readonly works: boolean;
  readonly shareWorks: boolean;
}

export function addWorkFlags(command: Command): Command {
  return command
    .option('--no-works', 'do not turn ManifestWorkReplicaSets into ManifestWorks')
    .option(
      '--share-works',
      'processes that stand by write works, too: each those of a share of the namespaces',
      false,
    );
}

/** @throws InputError for `--share-works` where nobody writes works, or one process alone does */
export function checkSharing({ shareWorks, works }: WorkFlags, isElected: boolean): void {
  if (!shareWorks) return;
  if (!works) throw wrongOption('--share-works', 'cannot be used with --no-works: nobody writes works then');
  if (!isElected)
    throw wrongOption(
      '--share-works',
      'needs leader election: several processes share the works (--leader-elect)',
    );
}

/** The flags that `conflictRules` reads. */
export function addConflictFlags(command: Command): Command {
  return command
    .option('--force', 'take over objects of other sources, and fields that other managers own', false)
    .option(
      '--on-conflict <mode>',
      'how to handle fields that other managers own: report them or take them over (default: report; take with --force)',
    );
}

/**
 * How a source handles objects and fields of others.
 * @throws InputError for a value other than `report` or `take`
 */
export function conflictRules({
  force,
  onConflict,
}: Pick<SourceFlags, 'force' | 'onConflict'>): Pick<ServeSource, 'force' | 'onConflict'> {
  if (onConflict === undefined) return { force };
  return { force, onConflict: oneOf('--on-conflict', onConflict, ['report', 'take'] as const) };
}

/** A path is relative to the folder in which the command runs. `host:path` and `scheme://` are not paths. */
function absoluteUrl(url: string, cwd: string): string {
  return /^(\.\.?(\/|$)|[^:/@]+(\/|$))/.test(url) && !url.includes('://') ? resolve(cwd, url) : url;
}

function parseRef(text: string): GitRef {
  const ref = parseGitRef(text);
  if ('problem' in ref) throw wrongOption('--ref', ref.problem);
  return ref;
}

function authOf(flags: SourceFlags): GitAuth | undefined {
  if (flags.gitTokenFile !== undefined) return { type: 'token', file: flags.gitTokenFile };
  if (flags.gitSshKey === undefined) return undefined;
  if (flags.gitKnownHosts === undefined)
    throw wrongValue('--git-known-hosts', '', 'a file of host keys next to --git-ssh-key');
  return { type: 'ssh', keyFile: flags.gitSshKey, knownHostsFile: flags.gitKnownHosts };
}

/** The flags about what `berth serve` serves, and tells of itself. */
export interface ListenFlags extends OtlpFlags {
  readonly listen?: string;
  readonly tokenFile?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly protectMetrics: boolean;
  readonly webhook?: readonly string[];
  readonly publicUrl?: string;
  readonly peer?: readonly string[];
  readonly shutdownDelay: string;
}

export function addListenFlags(command: Command): Command {
  return addOtlpFlags(command)
    .option(
      '--listen <host:port>',
      'serve the dashboard, /healthz, /readyz, /metrics, the plugin endpoint and /api',
    )
    .option(
      '--token-file <file>',
      'bearer tokens of the plugin endpoint and /api: one per line, or YAML that declares what each may read (docs/argocd.md)',
    )
    .option('--tls-cert <file>', 'serve TLS: PEM certificate with its chain; reloaded when it changes')
    .option('--tls-key <file>', 'private key of --tls-cert')
    .option('--protect-metrics', 'require a token with the scope metrics for /metrics', false)
    .option(
      '--webhook <provider=file...>',
      'fetch when a forge reports a push to /webhooks/PROVIDER; the file contains the secrets, one per line',
    )
    .option(
      '--public-url <url>',
      'address at which users reach --listen, for links from pull requests to their full report',
    )
    .option(
      '--peer <url...>',
      'address of another replica: a standby forwards webhook deliveries about pull requests to it',
    )
    .option(
      '--shutdown-delay <duration>',
      'after SIGTERM, go on for this long, not ready any more, so that clients move to another replica; the time that ends the process by force starts afterwards',
      '0',
    );
}

/** The flags about traces. */
interface OtlpFlags {
  readonly otlpAddress?: string;
  readonly otlpHeadersFile?: string;
}

function addOtlpFlags(command: Command): Command {
  return command
    .option(
      '--otlp-address <url>',
      'send a trace of each commit and each preview to this collector, by OTLP over HTTP: http://collector:4318 (docs/traces.md)',
    )
    .option(
      '--otlp-headers-file <file>',
      'headers for the collector: NAME=VALUE, one per line; OTEL_EXPORTER_OTLP_HEADERS has the same',
    );
}

/** @throws InputError for a file of headers without an address */
export function otlpOptions(
  { otlpAddress: address, otlpHeadersFile: headersFile }: OtlpFlags,
  env: Readonly<Record<string, string | undefined>>,
): ServeOptions['otlp'] {
  if (address !== undefined) return { address, headers: env['OTEL_EXPORTER_OTLP_HEADERS'], headersFile };
  if (headersFile !== undefined)
    throw wrongOption('--otlp-headers-file', 'has no effect without --otlp-address');
  return undefined;
}

/** @throws InputError for flags without effect, or without another flag that they need */
export function checkListening(flags: ListenFlags): void {
  const { webhook, tokenFile, tlsCert, tlsKey, protectMetrics, publicUrl, peer } = flags;
  const given = {
    '--webhook': webhook,
    '--public-url': publicUrl,
    '--peer': peer,
    '--token-file': tokenFile,
    '--tls-cert': tlsCert,
    '--tls-key': tlsKey,
    '--protect-metrics': protectMetrics ? true : undefined,
  };
  const [unusedFlag] = Object.entries(given).find(([, value]) => value !== undefined) ?? [];
  if (flags.listen === undefined && unusedFlag !== undefined)
    throw wrongOption(unusedFlag, 'has no effect without --listen HOST:PORT');
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    throw wrongOption('--tls-cert', 'needs --tls-key, and the other way round');
  if (protectMetrics && tokenFile === undefined)
    throw wrongOption('--protect-metrics', 'needs --token-file, otherwise no client could read /metrics');
}

/** @throws InputError for an invalid value */
export function httpOptions(listen: string, flags: ListenFlags): ServeHttpOptions {
  const webhookSecretFiles = Object.fromEntries((flags.webhook ?? []).map(webhookSecretFile));
  const { tlsCert, tlsKey, tokenFile, protectMetrics, publicUrl } = flags;
  if (publicUrl !== undefined && !/^https?:\/\/[^\s()<>?#]+$/.test(publicUrl))
    throw wrongValue('--public-url', publicUrl, 'a URL such as https://berth.example.com');
  const { peer: peers = [] } = flags;
  const wrongPeer = peers.find((url) => !/^https?:\/\/[^\s()<>?#]+$/.test(url));
  if (wrongPeer !== undefined)
    throw wrongValue('--peer', wrongPeer, 'a URL such as https://berth-1.berth:8443');
  return {
    ...listenAddress('--listen', listen),
    tokenFile,
    protectMetrics,
    publicUrl,
    peers,
    ...(tlsCert !== undefined && tlsKey !== undefined && { tls: { certFile: tlsCert, keyFile: tlsKey } }),
    webhookSecretFiles,
  };
}

function webhookSecretFile(text: string): [WebhookProvider, string] {
  const [, name, file = ''] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  const provider = WEBHOOK_PROVIDERS.find((known) => known === name);
  if (provider === undefined)
    throw wrongValue('--webhook', text, `PROVIDER=FILE with one of ${WEBHOOK_PROVIDERS.join(', ')}`);
  return [provider, file];
}

/** Flags that make `berth serve` check clusters, sets and bindings for a hub without OCM's webhooks. */
export interface AdmissionFlags {
  readonly admissionListen?: string;
  readonly admissionService?: string;
  readonly admissionUrl?: string;
}

const DEFAULT_SERVICE = `${DEFAULT_NAMESPACE}/berth-admission`;

export function addAdmissionFlags(command: Command): Command {
  return command
    .option(
      '--admission-listen <host:port>',
      'serve webhooks that check clusters, sets and bindings, and convert add-ons, for a hub without OCM’s webhooks (docs/registration.md)',
    )
    .option(
      '--admission-service <namespace/name[:port]>',
      `Service by which the hub reaches --admission-listen (default: ${DEFAULT_SERVICE}:443)`,
    )
    .option(
      '--admission-url <url>',
      'address of these webhooks if Berth runs outside of the hub: https://HOST[:PORT]',
    );
}

/**
 * Undefined: Berth serves no admission webhooks.
 *
 * @throws InputError for flags that cannot be used
 */
export function admissionOptions(flags: AdmissionFlags): ServeAdmissionOptions | undefined {
  const { admissionListen: listen, admissionService: service, admissionUrl: url } = flags;
  if (listen === undefined) {
    const unusedFlag = service === undefined ? '--admission-url' : '--admission-service';
    if (service !== undefined || url !== undefined)
      throw wrongOption(unusedFlag, 'has no effect without --admission-listen HOST:PORT');
    return undefined;
  }
  if (service !== undefined && url !== undefined)
    throw wrongOption('--admission-url', 'cannot be used with --admission-service, expected one of them');
  const address = url === undefined ? serviceAddress(service ?? DEFAULT_SERVICE) : urlAddress(url);
  return { ...listenAddress('--admission-listen', listen), address };
}

function serviceAddress(text: string): WebhookAddress {
  const [, namespace, name, port = '443'] = /^([a-z0-9-]+)\/([a-z0-9-]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
  if (namespace === undefined || name === undefined || Number(port) < 1 || Number(port) > 65_535)
    throw wrongValue('--admission-service', text, 'NAMESPACE/NAME or NAMESPACE/NAME:PORT');
  return { kind: 'service', namespace, name, port: Number(port) };
}

/** API servers refuse a user, query or fragment in the address of a webhook. */
function urlAddress(text: string): WebhookAddress {
  if (!/^https:\/\/[^\s/?#@]+\/?$/.test(text) || !URL.canParse(text))
    throw wrongValue('--admission-url', text, 'https://HOST or https://HOST:PORT');
  return { kind: 'url', url: text };
}

/** Flags for what `berth serve` does for Argo CD. */
export interface ServeArgocdFlags {
  readonly argocdNamespace: string;
  readonly argocdRefresh: boolean;
  readonly argocdRefreshRate?: string;
  readonly argocdPluginConfigMap: readonly string[];
  readonly argocdWaves: boolean;
  readonly argocdClusterSecrets: boolean;
  readonly argocdClusterLabel?: readonly string[];
  readonly argocdPull: boolean;
  readonly argocdExtension: boolean;
}

export function addServeArgocdFlags(command: Command): Command {
  return command
    .option('--argocd-namespace <namespace>', 'namespace of Argo CD on the hub', 'argocd')
    .option(
      '--argocd-refresh',
      'when a decision is published, refresh the ApplicationSets that use it',
      false,
    )
    .option(
      '--argocd-refresh-rate <n>',
      'refreshes a second while Argo CD answers none; twice as many may be unanswered at a time (default: "10")',
    )
    .option(
      '--argocd-plugin-config-map <name...>',
      'ConfigMaps of the plugin generator whose baseUrl is this Berth; ConfigMaps with the same host are found without it',
      ['berth'],
    )
    .option(
      '--argocd-waves',
      'serve clusters in waves to ApplicationSets that ask for it, each wave when the previous one is healthy (docs/argocd.md); includes --argocd-refresh',
      false,
    )
    .option('--argocd-cluster-secrets', 'register in Argo CD the clusters that GitOpsClusters select', false)
    .option(
      '--argocd-cluster-label <key...>',
      'labels of ManagedClusters to copy to their Secrets in Argo CD: keys, or PREFIX*',
    )
    .option(
      '--argocd-pull',
      'run the pull model: deliver Applications of Argo CD to their clusters, and report their status (docs/argocd.md)',
      false,
    )
    .option(
      '--argocd-extension',
      'say in the pages of Argo CD why each Application is where it is (docs/argocd-extension.md)',
      false,
    );
}

/**
 * Undefined: Berth does nothing for Argo CD, which is the default.
 *
 * @throws InputError for flags that cannot be used
 */
export function argocdOptions(flags: ServeArgocdFlags): ServeArgocdOptions | undefined {
  const { argocdNamespace: namespace, argocdWaves: waves } = flags;
  const { argocdClusterSecrets: clusterSecrets, argocdPull: pull, argocdExtension: extension } = flags;
  // Waves need the refresh, so that Argo CD requests the new wave.
  const refresh = flags.argocdRefresh || waves;
  if (!isDnsSubdomain(namespace)) throw wrongValue('--argocd-namespace', namespace, 'a namespace');
  if (flags.argocdClusterLabel !== undefined && !clusterSecrets)
    throw wrongOption('--argocd-cluster-label', 'has no effect without --argocd-cluster-secrets');
  const { argocdRefreshRate: rate } = flags;
  if (rate !== undefined && !refresh)
    throw wrongOption('--argocd-refresh-rate', 'has no effect without --argocd-refresh');
  const refreshesPerSecond = rate === undefined ? undefined : wholeNumber('--argocd-refresh-rate', rate, 1);
  if (!refresh && !clusterSecrets && !pull && !extension) return undefined;
  return {
    namespace,
    refresh,
    waves,
    refreshesPerSecond,
    clusterSecrets,
    pull,
    extension,
    pluginConfigMaps: flags.argocdPluginConfigMap,
    clusterLabels: flags.argocdClusterLabel ?? [],
  };
}
