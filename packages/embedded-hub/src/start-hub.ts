import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '@berth/runtime/clock/clock';
import { InputError } from '@berth/runtime/errors';
import { tightenDirectory } from '@berth/runtime/files/atomic-file';
import { type Logger, SILENT_LOG } from '@berth/runtime/logger';
import pLimit from 'p-limit';
import { type AuditLog, FileAuditLog, NO_AUDIT } from './auth/audit-log.ts';
import { openServingCertificate, type ServingIdentity } from './auth/certificates/serving-certificate.ts';
import { KeyStore } from './auth/certificates/key-store.ts';
import { writePrivateFile } from './auth/files/private-file.ts';
import { renderKubeconfig } from './auth/kubeconfig.ts';
import { MASTERS_GROUP } from './auth/rbac/authorizer.ts';
import { Revocations } from './auth/tokens/revocations.ts';
import { ServiceAccountTokens } from './auth/tokens/service-account-tokens.ts';
import { TokenFile } from './auth/tokens/token-file.ts';
import { ApiCluster, givenCrds, readCredentialFiles } from './cluster/api-cluster.ts';
import { createBootstrapObjects } from './cluster/bootstrap-objects.ts';
import { clusterDirectory, ClusterRegister } from './cluster/cluster-register.ts';
import { type RunningControllers, startControllers } from './controllers/start-controllers.ts';
import { FlowControl } from './flow/flow-control.ts';
import { SecondTicks } from './flow/second-ticks.ts';
import { HubMetrics } from './http/hub-metrics.ts';
import { RequestHandler } from './http/request-handler.ts';
import type { ClusterGauges } from './http/request-metrics.ts';
import { TlsServer } from './http/tls-server.ts';
import type { HubOptions, RunningHub } from './hub-options.ts';
import { lockDirectory } from './log/lock-file.ts';
import { timestamp } from './request/cluster.ts';
import { NO_KINDS } from './scheme/create-scheme.ts';
import { isHubData, REVOCATIONS_FILE, serverFile, TOKEN_FILE } from './maintenance/data-layout.ts';
import { backgroundClock } from '@berth/runtime/clock/system-clock';

interface ResolvedOptions extends HubOptions {
  readonly members: readonly string[];
  readonly legacyTokenSecrets: boolean;
  readonly log: Logger;
  readonly clock: Clock;
  readonly onFatal: (error: unknown) => void;
}

/**
 * Starts the embedded hub: recovers the data directory, then listens. Resolves when it serves.
 * @throws InputError when the directory is in use or damaged, or a member's name is no DNS label
 */
export async function startHub(options: HubOptions): Promise<RunningHub> {
  const resolved: ResolvedOptions = {
    ...options,
    log: options.log ?? SILENT_LOG,
    clock: options.clock ?? backgroundClock,
    members: options.members ?? [],
    legacyTokenSecrets: options.legacyTokenSecrets ?? false,
    onFatal: options.onFatal ?? exitOnFatal(options.log ?? SILENT_LOG),
  };
  for (const name of resolved.members) requireMemberName(name);
  await tightenDirectory(resolved.dataDir, isHubData, resolved.log);
  const lock = lockDirectory(resolved.dataDir);
  try {
    return await serve(resolved, () => lock.release());
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function serve(options: ResolvedOptions, releaseLock: () => void): Promise<RunningHub> {
  const { dataDir, clock, log } = options;
  // Checked before anything is written, so that a damaged directory stays unchanged.
  const register = ClusterRegister.read(dataDir).begin(['', ...options.members]);
  const keys = await KeyStore.open(dataDir, options.members, clock.now());
  const hosts = { host: options.listen?.host ?? '127.0.0.1', port: options.listen?.port ?? 0 };
  const serving = options.providedFiles?.serving;
  const certificate = openServingCertificate(
    serving,
    keys.authority,
    [hosts.host, ...(options.tlsNames ?? [])],
    clock,
  );
  const identity = await certificate.issue();
  const caPem = `${keys.authority.certPem}${serving === undefined ? '' : identity.certPem}`;
  const tokens = new TokenFile(join(dataDir, TOKEN_FILE), log);
  const revocations = new Revocations(join(dataDir, REVOCATIONS_FILE), log);
  const clusters = await openClusters(options, register, { keys, shared: { tokens, revocations } });
  const audit = openAudit(options);
  const { server, handler, address, ticks } = assembleServer(options, {
    clusters,
    audit,
    identity,
  });
  const controllers: RunningControllers[] = [];
  await forEachCluster([...clusters.values()], (cluster) => createBootstrapObjects(cluster));
  for (const cluster of clusters.values())
    controllers.push(startControllers(cluster, caPem, options.controllers === false));
  const port = await server.listen(hosts.host, hosts.port);
  address.text = `${urlHost(hosts.host)}:${String(port)}`;
  certificate.startRenewal(
    (renewed) => server.renew(renewed),
    (error) => log.error('could not renew the serving certificate', { error: String(error) }),
  );
  const stopWatchingCredentials = watchCredentialFiles({ tokens, revocations }, clock, () => {
    handler.endRevokedStreams().catch((error: unknown) => {
      log.error('could not end streams of revoked credentials', { error: String(error) });
    });
  });
  const kubeconfigs = writeKubeconfigs(options, { url: `https://${address.text}`, caPem, clusters, tokens });
  writePrivateFile(serverFile(dataDir), `${JSON.stringify({ url: `https://${address.text}` })}\n`);
  log.info('hub is serving', { url: `https://${address.text}`, dataDir });
  return {
    url: `https://${address.text}`,
    port,
    caPem,
    adminKubeconfigPath: kubeconfigs(''),
    memberUrl: (name) => `https://${address.text}/clusters/${name}`,
    memberKubeconfigPath: kubeconfigs,
    compact: async () => {
      for (const cluster of clusters.values()) await cluster.store.compact();
    },
    close: once(async () => {
      stopWatchingCredentials();
      certificate.stop();
      for (const running of controllers) await running.stop();
      await server.close();
      ticks.stop();
      await forEachCluster([...clusters.values()], (cluster) => cluster.close());
      await audit.close();
      releaseLock();
    }),
  };
}

/** Enough for 1,000 agents with ten connections each behind one address; each takes about 50 KB. */
const CONNECTIONS = { total: 16_000, perAddress: 12_000 };

/** The server and the handler of its requests, which share timers and metrics. */
function assembleServer(
  { clock, log, connections }: ResolvedOptions,
  deps: {
    readonly clusters: ReadonlyMap<string, ApiCluster>;
    readonly audit: AuditLog;
    readonly identity: ServingIdentity;
  },
): {
  readonly server: TlsServer;
  readonly handler: RequestHandler;
  /** `host:port`, once the server listens. */
  readonly address: { text: string };
  readonly ticks: SecondTicks;
} {
  const { clusters, audit, identity } = deps;
  const address = { text: '' };
  const flow = new FlowControl(clock);
  const ticks = new SecondTicks(clock);
  const metrics = new HubMetrics({
    clusters: () => [...clusters.values()].map(gaugesOf),
    levels: () => flow.gauges(),
    connections: () => server.connections,
  });
  const serverAddress = (): string => address.text;
  const handler = new RequestHandler({ clusters, serverAddress, audit, metrics, flow, ticks, clock, log });
  const server = new TlsServer({
    identity,
    connections: { ...CONNECTIONS, ...connections },
    ticks,
    onRequest: (incoming, connection) => handler.handle(incoming, connection),
  });
  return { server, handler, address, ticks };
}

async function openClusters(
  options: ResolvedOptions,
  register: ClusterRegister,
  {
    keys,
    shared,
  }: {
    readonly keys: KeyStore;
    readonly shared: { readonly tokens: TokenFile; readonly revocations: Revocations };
  },
): Promise<ReadonlyMap<string, ApiCluster>> {
  const { dataDir, clock, onFatal, members, legacyTokenSecrets, kinds, admission = [] } = options;
  const hubCredentials = readCredentialFiles(options.providedFiles ?? {}, options.log);
  const definitions = givenCrds(kinds ?? NO_KINDS, timestamp({ now: () => keys.createdMs }));
  const names = ['', ...members];
  const opened: ApiCluster[] = [];
  try {
    await forEachCluster(names, async (name) => {
      // Its own issuer and authorities: a token or certificate of one member is invalid for another.
      const issuer = `https://kubernetes.default.svc${name === '' ? '' : `/clusters/${name}`}`;
      const external = name === '' ? hubCredentials : undefined;
      const serviceAccounts = new ServiceAccountTokens(issuer, keys.tokenKeyPem, {
        longLived: legacyTokenSecrets,
        ...external?.signers,
      });
      const directory = clusterDirectory(dataDir, name);
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      const identity = register.identityOf(name);
      const authorities = keys.authoritiesOf(name);
      const credentials = { ...shared, serviceAccounts, authorities, legacyTokenSecrets, external };
      const deps = { ...credentials, identity, kinds, definitions, admission, clock, onFatal };
      const log = options.log.child({ cluster: name || 'hub' });
      opened.push(await ApiCluster.open({ name, directory, log, ...deps }));
    });
  } catch (error) {
    await forEachCluster(opened, (cluster) => cluster.close());
    throw error;
  }
  register.complete(names);
  const byName = new Map(opened.map((cluster) => [cluster.name, cluster]));
  return new Map(names.map((name) => [name, byName.get(name) as ApiCluster]));
}

const CLUSTERS_AT_A_TIME = 16;

/**
 * Runs a step for a few clusters at a time: each waits for the disk many times, and a thousand files
 * need not be open at once. Throws the first failure, after all steps have ended.
 */
async function forEachCluster<Item, Result>(
  items: readonly Item[],
  step: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const limit = pLimit(CLUSTERS_AT_A_TIME);
  const done = await Promise.allSettled(items.map((item) => limit(step, item)));
  return done.map((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
}

const ADMIN = { name: 'admin', groups: [MASTERS_GROUP] };

/**
 * Writes the kubeconfigs of the administrator, with the existing token if it is valid.
 * @returns the path of the kubeconfig of a member; of the hub for ''
 */
function writeKubeconfigs(
  options: ResolvedOptions,
  hub: {
    readonly url: string;
    readonly caPem: string;
    readonly clusters: ReadonlyMap<string, ApiCluster>;
    readonly tokens: TokenFile;
  },
): (member: string) => string {
  const all = [...hub.clusters.keys()].map((name) => ({
    name: name === '' ? 'hub' : name,
    server: name === '' ? hub.url : `${hub.url}/clusters/${name}`,
  }));
  const pathOf = (name: string): string =>
    join(options.dataDir, name === '' ? 'admin.kubeconfig' : `admin-${name}.kubeconfig`);
  const token = adminToken(hub.tokens, pathOf(''));
  const user = { name: ADMIN.name, credentials: { kind: 'token', token } as const };
  for (const name of hub.clusters.keys()) {
    const own = all.filter((cluster) => cluster.name === (name === '' ? 'hub' : name));
    const rest = name === '' ? all.filter((cluster) => cluster.name !== 'hub') : [];
    writePrivateFile(pathOf(name), renderKubeconfig([...own, ...rest], hub.caPem, user));
  }
  return pathOf;
}

/** The token of the existing kubeconfig if it is valid, so that copies of that file stay valid; otherwise a new one. */
function adminToken(tokens: TokenFile, kubeconfigPath: string): string {
  const present = existsSync(kubeconfigPath)
    ? /^ {4}token: (\S+)$/m.exec(readFileSync(kubeconfigPath, 'utf8'))?.[1]
    : undefined;
  if (present !== undefined && tokens.find(present)?.name === ADMIN.name) return present;
  tokens.revoke(ADMIN.name);
  return tokens.issue(ADMIN);
}

function openAudit(options: ResolvedOptions): AuditLog {
  const level = options.audit ?? 'off';
  if (level === 'off') return NO_AUDIT;
  const paths = {
    changes: join(options.dataDir, 'audit.log'),
    refusals: join(options.dataDir, 'audit-refused.log'),
  };
  return new FileAuditLog(paths, { reads: level === 'all' });
}

function gaugesOf(cluster: ApiCluster): ClusterGauges {
  const { objectCount: objects, rv: resourceVersion, logBytes } = cluster.store;
  return { name: cluster.name, objects, resourceVersion, logBytes };
}

const MEMBER_NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

function requireMemberName(name: string): void {
  if (MEMBER_NAME.test(name)) return;
  throw new InputError(
    `got ${JSON.stringify(name)}, expected a DNS label (lower-case letters, digits, '-')`,
    {
      code: 'hub.member-name',
      subject: 'name of a member cluster',
    },
  );
}

function exitOnFatal(log: HubOptions['log']): (error: unknown) => void {
  return (error) => {
    log?.error('the log could not be written; stopping before anything is lost', { error: String(error) });
    process.stderr.write(`berth hub: the log could not be written: ${String(error)}\n`);
    process.exit(1);
  };
}

function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

function once(action: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => (running ??= action());
}

/** Well below the 5 s in which a revoked credential must stop working. */
const CREDENTIALS_CHECK_EVERY_MS = 2_000;

/**
 * Polls the files of tokens and revocations, and calls back when they changed. The returned
 * function stops it.
 */
function watchCredentialFiles(
  { tokens, revocations }: { readonly tokens: TokenFile; readonly revocations: Revocations },
  clock: Clock,
  onChange: () => void,
): () => void {
  const revisions = (): string => `${tokens.revision} ${revocations.revision}`;
  let lastRevisions = revisions();
  let cancel: () => void;
  const check = (): void => {
    tokens.check();
    revocations.check();
    const found = revisions();
    if (found !== lastRevisions) onChange();
    lastRevisions = found;
    cancel = clock.schedule(CREDENTIALS_CHECK_EVERY_MS, check);
  };
  cancel = clock.schedule(CREDENTIALS_CHECK_EVERY_MS, check);
  return () => cancel();
}
